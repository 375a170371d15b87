import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudProviderKind, validateSpec } from '../../../crds';
import { defaultProviderOf } from '../../../operator/cli/default-provider';
import { type CloudConfig, isCloudConfig, parseCloudConfig } from '../../../providers/aws/config/cloud-config';
import { parseIni } from '../../../providers/aws/config/ini';

const EC2 = '[ServiceOverride "1"]\nService = EC2\nRegion = r\nURL = https://ec2.example\nSigningRegion = s\nSigningMethod = v4\n';

describe('every variable of [Global]', () => {
  const cases: [string, CloudConfig['spec']][] = [
    ['Zone = eu-west-1a', { region: 'eu-west-1', aws: {} }],
    ['Zone = us-west-2-lax-1a', { region: 'us-west-2', aws: {} }],
    ['Zone = us-gov-west-1b', { region: 'us-gov-west-1', aws: {} }],
    ['Region = eu-west-1\nZone = us-east-1a', { region: 'eu-west-1', aws: {} }],
    ['VPC = vpc-1', { aws: { vpcID: 'vpc-1' } }],
    ['SubnetID = subnet-1', { aws: { fallbackSubnetID: 'subnet-1' } }],
    ['RouteTableID = rtb-1', { aws: { routeTableIDs: ['rtb-1'] } }],
    ['RoleARN = arn:aws:iam::1:role/a', { aws: { assumeRole: { roleARN: 'arn:aws:iam::1:role/a' } } }],
    [
      'RoleARN = arn:aws:iam::1:role/a\nSourceARN = arn:aws:eks:r:1:cluster/c',
      { aws: { assumeRole: { roleARN: 'arn:aws:iam::1:role/a', sourceARN: 'arn:aws:eks:r:1:cluster/c' } } },
    ],
    ['KubernetesClusterTag = demo', { aws: { clusterName: 'demo', legacyClusterTag: true } }],
    ['KubernetesClusterID = demo', { aws: { clusterName: 'demo' } }],
    ['KubernetesClusterID = demo\nKubernetesClusterTag = demo', { aws: { clusterName: 'demo', legacyClusterTag: true } }],
    ['DisableSecurityGroupIngress = true', { aws: { nodeRules: 'None' } }],
    ['DisableSecurityGroupIngress', { aws: { nodeRules: 'None' } }],
    ['DisableSecurityGroupIngress = off', { aws: {} }],
    ['ElbSecurityGroup = sg-1', { aws: { classicSecurityGroupID: 'sg-1' } }],
    ['NodeIPFamilies = ipv6\nNodeIPFamilies = ipv4', { aws: { nodeIPFamilies: ['IPv6', 'IPv4'] } }],
    ['ClusterServiceLoadBalancerHealthProbeMode = Shared', { aws: { healthProbe: { mode: 'Shared' } } }],
    ['ClusterServiceSharedLoadBalancerHealthProbePort = 10257', { aws: { healthProbe: { port: 10257 } } }],
    ['ClusterServiceSharedLoadBalancerHealthProbePath = /livez', { aws: { healthProbe: { path: '/livez' } } }],
    ['SupportedTopologyInstanceTypePattern = ^p4d', { aws: { topologyInstanceTypes: '^p4d' } }],
    ['NLBSecurityGroupMode = Managed', { aws: { networkSecurityGroups: 'Managed' } }],
  ];

  test.each(cases)('%s', (text, spec) => {
    const read = parseCloudConfig(`[Global]\n${text}\n`);
    expect(read).toEqual({ spec, warnings: [] });
    expect(validateSpec(CloudProviderKind, read.spec)).toMatchObject({ ok: true });
  });

  it('is read in capitals or not, and an empty one is absent', () => {
    expect(parseCloudConfig('[GLOBAL]\nvpc=vpc-1\nROLEARN =\n').spec).toEqual({ aws: { vpcID: 'vpc-1' } });
  });

  it('is absent in an empty file, which upstream takes', () => {
    expect(parseCloudConfig('')).toEqual({ spec: { aws: {} }, warnings: [] });
  });

  it('without effect is told', () => {
    expect(parseCloudConfig('[Global]\nSourceARN = arn:aws:eks:r:1:cluster/c').warnings).toEqual([
      'SourceARN has no effect without RoleARN',
    ]);
  });

  test.each([
    ['KubernetesClusterID = a\nKubernetesClusterTag = b', 'clusterID tags did not match: "a" vs "b"'],
    ['NLBSecurityGroupMode = managed', 'invalid NLB security group mode: "managed". Expected: "Managed"'],
    ['NodeIPFamilies = IPv5', 'NodeIPFamilies: "IPv5" is not known; write ipv4 or ipv6'],
    ['Zone = nowhere', 'Zone: "nowhere" is no availability zone'],
    ['DisableSecurityGroupIngress = perhaps', '"perhaps" is neither true nor false'],
    ['ClusterServiceLoadBalancerHealthProbeMode = shared', 'write Shared or ServiceNodePort'],
    ['ClusterServiceSharedLoadBalancerHealthProbePort = http', '"http" is no port'],
    ['SupportedTopologyInstanceTypePattern = (', 'SupportedTopologyInstanceTypePattern: Invalid regular expression'],
    ['VPCID = vpc-1', 'line 2: there is no variable VPCID in [Global]; known are Zone, Region, VPC'],
    ['[Elsewhere]', 'line 2: there is no section [elsewhere]'],
    ['VPC vpc-1', 'line 2: "VPC vpc-1" is neither a section nor key = value'],
    ['VPC = "vpc-1', 'line 2: a quote is opened and not closed'],
  ])('%s is refused', (text, message) => {
    expect(() => parseCloudConfig(`[Global]\n${text}\n`)).toThrow(
      expect.objectContaining({ code: 'Invalid', message: expect.stringContaining(message) as string }) as Error,
    );
  });
});

describe('service overrides', () => {
  it('are endpoints', () => {
    const endpoint = { service: 'EC2', url: 'https://ec2.example', signingRegion: 's' };
    expect(parseCloudConfig(EC2)).toEqual({ spec: { aws: { endpoints: [endpoint] } }, warnings: [] });
    expect(parseCloudConfig(`${EC2}SigningName = n\n`).spec.aws.endpoints).toEqual([{ ...endpoint, signingName: 'n' }]);
  });

  test.each([
    ['Elastic Load Balancing', ['ElasticLoadBalancing']],
    ['Elastic Load Balancing v2', ['ElasticLoadBalancingV2']],
    ['elasticloadbalancing', ['ElasticLoadBalancing', 'ElasticLoadBalancingV2']],
    ['sts', ['STS']],
  ])('of "%s" are for %j', (name, services) => {
    const { spec } = parseCloudConfig(EC2.replace('Service = EC2', `Service = ${name}`));
    expect(spec.aws.endpoints?.map(({ service }) => service)).toEqual(services);
  });

  test.each([
    ['of another region', `[Global]\nRegion = other\n${EC2}`, 'it is for r, and the region is other'],
    ['of an API that is not called', EC2.replace('= EC2', '= KMS'), 'KMS is not called'],
  ])('%s are told to have no effect', (_title, text, message) => {
    expect(parseCloudConfig(text)).toMatchObject({ spec: { aws: {} }, warnings: [expect.stringContaining(message)] });
    expect(parseCloudConfig(text).spec.aws).toEqual({});
  });

  const again = EC2.replace('"1"', '"2"');
  test.each([
    [EC2.replace('Service = EC2', ''), 'service name is missing [Service is ""] in override 1'],
    [EC2.replace('Region = r\n', '\n'), 'service region is missing [Region is ""] in override 1'],
    [EC2.replace('URL = https://ec2.example', ''), 'url is missing [URL is ""] in override 1'],
    [EC2.replace('SigningRegion = s', ''), 'signingRegion is missing [SigningRegion is ""] in override 1'],
    [EC2 + again, 'duplicate entry found for service override [2] (EC2 in r)'],
    [EC2 + again.replace('Region = r\n', 'Region = q\n'), 'two overrides of EC2 for several regions; set Region in [Global]'],
    [EC2.replace(' "1"', ''), 'line 1: an override needs a name'],
    [`${EC2}Port = 3`, 'line 7: there is no variable Port in [ServiceOverride]'],
  ])('%j is refused in upstream’s words', (text, message) => {
    expect(() => parseCloudConfig(text)).toThrow(message);
  });
});

describe('the form of the file', () => {
  test.each([
    ['a = b', 'b'],
    ['a=  b c  ', 'b c'],
    ['a = b # comment', 'b'],
    ['a = b;comment', 'b'],
    ['a = "b # c" ; comment', 'b # c'],
    ['a = " b "c', ' b c'],
    ['a = "b\\"c\\\\d\\te"', 'b"c\\d\te'],
    ['a = b\\\n  c', 'b  c'],
    ['a =', ''],
    ['a', undefined],
    ['a ; comment', undefined],
  ])('%j is %j', (text, value) => {
    expect(parseIni(`# first\n\n[S "x \\"y"] ; comment\n\t${text}\r\n; last`)).toEqual([
      { name: 's', subsection: 'x "y', line: 3, entries: [{ key: 'a', ...(value === undefined ? {} : { value }), line: 4 }] },
    ]);
  });

  test.each([
    ['a = b', 'line 1: "a = b" stands before the first section'],
    ['[S', 'line 1: "[S" is no section'],
    ['[S]\n1a = b', 'line 2: "1a = b" is neither a section nor key = value'],
    ['[S]\na = \\q', 'line 2: "\\q" is no escape'],
  ])('%j is refused', (text, message) => {
    expect(() => parseIni(text)).toThrow(message);
  });

  test.each([
    ['[Global]\n', true],
    ['; comment\n\n  [ global ]', true],
    ['[ServiceOverride "1"]', true],
    ['aws: {}\n', false],
    ['{"aws": {}}', false],
    ['[1, 2]', false],
    ['', false],
  ])('%j: upstream’s form is %j', (text, verdict) => {
    expect(isCloudConfig(text)).toBe(verdict);
  });
});

describe('--cloud-provider=aws', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function provider(text: string): ReturnType<typeof defaultProviderOf> {
    const file = join(folder, 'cloud.conf');
    writeFileSync(file, text);
    return defaultProviderOf('aws', file);
  }

  it('takes upstream’s file, and ours in YAML, to the same end', () => {
    const ini = provider(`[Global]\nRegion = r\nVPC = vpc-1\n${EC2.replace('"1"', '"0"')}`);
    const yaml = provider('region: r\naws: {vpcID: vpc-1, endpoints: [{service: EC2, url: "https://ec2.example", signingRegion: s}]}');
    expect(ini).toEqual(yaml);
    expect(ini).toMatchObject({ name: 'aws', spec: { default: true, region: 'r', aws: { vpcID: 'vpc-1', nodeRules: 'Shared' } } });
  });

  it('needs no file, as upstream', () => {
    expect(defaultProviderOf('aws', '')).toMatchObject({
      name: 'aws',
      spec: { aws: { nodeIPFamilies: ['IPv4'] } },
      warnings: [],
    });
    expect(() => defaultProviderOf('local', '')).toThrow('--cloud-provider=local needs --cloud-config');
  });

  it('names the file and the fault', () => {
    expect(() => provider('[Global]\nNLBSecurityGroupMode = x')).toThrow(
      /^--cloud-config .*cloud\.conf: invalid NLB security group mode: "x"/,
    );
    expect(() => provider('[Global]\nVPC = main')).toThrow(/cloud\.conf: spec\.aws\.vpcID/);
    expect(provider('[Global]\nSourceARN = x')?.warnings).toEqual(['SourceARN has no effect without RoleARN']);
  });
});
