import { CloudLoadBalancerKind, cloudLoadBalancerSpec, cloudProviderSpec, validateSpec, type CloudProviderSpec } from '../../../crds';
import { ANNOTATION_PREFIX } from '../../../providers/aws/annotations/annotation';
import { ANNOTATIONS, UNSUPPORTED } from '../../../providers/aws/annotations/annotation-table';
import { compile } from '../../../providers/aws/annotations/annotations';
import type { Compiled, ServiceFacts } from '../../../providers/provider';

const certificate = 'arn:aws:acm:eu-west-1:111122223333:certificate/0a1b';
const ports = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'https', port: 443, protocol: 'TCP' },
];

/** Compiles annotations whose names are given without the prefix. */
function compiled(annotations: Record<string, string>, service: ServiceFacts = { ports }): Compiled {
  return compile(withPrefix(annotations), service);
}

function withPrefix(annotations: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).map(([name, text]) => [ANNOTATION_PREFIX + name, text]));
}

const nlb = { type: 'nlb' };
const classic = {};
const NETWORK = { type: 'Network' };
const CLASSIC = { type: 'Classic' };

interface Row {
  name: string;
  /** What else must be there for it to mean something. */
  beside: Record<string, string>;
  good: string;
  /** What the block then is. */
  block: object;
  scheme?: string;
  /** Absent where every text can be read, as upstream has it. */
  bad?: string;
}

const ROWS: Row[] = [
  { name: 'type', beside: classic, good: 'nlb', block: NETWORK, bad: 'alb' },
  { name: 'nlb-target-type', beside: nlb, good: 'instance', block: NETWORK, bad: 'ip' },
  { name: 'name', beside: nlb, good: 'web-1', block: { ...NETWORK, name: 'web-1' }, bad: 'internal-web' },
  { name: 'internal', beside: nlb, good: '0.0.0.0/0', block: NETWORK, scheme: 'Internal' },
  { name: 'scheme', beside: nlb, good: 'internet-facing', block: NETWORK, scheme: 'Public', bad: 'public' },
  { name: 'ip-address-type', beside: nlb, good: 'dualstack', block: { ...NETWORK, ipAddressType: 'DualStack' }, bad: 'ipv6' },
  { name: 'subnets', beside: classic, good: 'subnet-1, public-b', block: { ...CLASSIC, subnets: ['subnet-1', 'public-b'] }, bad: 'a,a' },
  {
    name: 'eip-allocations',
    beside: nlb,
    good: 'eipalloc-1,eipalloc-2',
    block: { ...NETWORK, eipAllocationIDs: ['eipalloc-1', 'eipalloc-2'] },
    bad: '203.0.113.1',
  },
  {
    name: 'private-ipv4-addresses',
    beside: { ...nlb, scheme: 'internal' },
    good: '10.0.0.7',
    block: { ...NETWORK, privateIPv4Addresses: ['10.0.0.7'] },
    scheme: 'Internal',
    bad: '10.0.0.256',
  },
  { name: 'ipv6-addresses', beside: nlb, good: '2001:db8::7', block: { ...NETWORK, ipv6Addresses: ['2001:db8::7'] }, bad: '10.0.0.7' },
  {
    name: 'enable-prefix-for-ipv6-source-nat',
    beside: nlb,
    good: 'on',
    block: { ...NETWORK, ipv6SourceNAT: { enabled: true } },
    bad: 'true',
  },
  {
    name: 'source-nat-ipv6-prefixes',
    beside: { ...nlb, 'enable-prefix-for-ipv6-source-nat': 'on' },
    good: 'auto_assigned,2001:db8::/80',
    block: { ...NETWORK, ipv6SourceNAT: { enabled: true, prefixes: ['auto_assigned', '2001:db8::/80'] } },
    bad: '2001:db8::/64',
  },
  {
    name: 'attributes',
    beside: nlb,
    good: 'deletion_protection.enabled=true, access_logs.s3.enabled=true,access_logs.s3.bucket=logs,dns_record.client_routing_policy=availability_zone_affinity,zonal_shift.config.enabled=true,load_balancing.cross_zone.enabled=true,secondary_ips.auto_assigned.per_subnet=2,access_logs.s3.prefix=a/b',
    block: {
      ...NETWORK,
      deletionProtection: true,
      accessLogs: { enabled: true, bucket: 'logs', prefix: 'a/b' },
      dnsClientRoutingPolicy: 'AvailabilityZoneAffinity',
      zonalShift: true,
      crossZone: true,
      secondaryIPsPerSubnet: 2,
    },
    bad: 'idle_timeout.timeout_seconds=3',
  },
  { name: 'cross-zone-load-balancing-enabled', beside: nlb, good: 'true', block: { ...NETWORK, crossZone: true }, bad: 'yes' },
  {
    name: 'access-log-enabled',
    beside: { 'access-log-s3-bucket-name': 'logs' },
    good: 'true',
    block: { ...CLASSIC, accessLogs: { enabled: true, bucket: 'logs' } },
    bad: 'ja',
  },
  {
    name: 'access-log-emit-interval',
    beside: classic,
    good: '5',
    block: { ...CLASSIC, accessLogs: { enabled: false, emitIntervalMinutes: 5 } },
    bad: '7',
  },
  {
    name: 'access-log-s3-bucket-name',
    beside: classic,
    good: 'logs',
    block: { ...CLASSIC, accessLogs: { enabled: false, bucket: 'logs' } },
    bad: 'Lo',
  },
  {
    name: 'access-log-s3-bucket-prefix',
    beside: nlb,
    good: 'web',
    block: { ...NETWORK, accessLogs: { enabled: false, prefix: 'web' } },
    bad: 'a'.repeat(513),
  },
  {
    name: 'connection-draining-enabled',
    beside: classic,
    good: 'true',
    block: { ...CLASSIC, classic: { connectionDraining: true } },
    bad: '-',
  },
  {
    name: 'connection-draining-timeout',
    beside: { 'connection-draining-enabled': 'true' },
    good: '20',
    block: { ...CLASSIC, classic: { connectionDraining: true, connectionDrainingTimeoutSeconds: 20 } },
    bad: '20s',
  },
  {
    name: 'connection-idle-timeout',
    beside: classic,
    good: '90',
    block: { ...CLASSIC, classic: { connectionIdleTimeoutSeconds: 90 } },
    bad: '4001',
  },
  {
    name: 'minimum-load-balancer-capacity',
    beside: nlb,
    good: 'CapacityUnits=3000',
    block: { ...NETWORK, minimumCapacityUnits: 3000 },
    bad: 'CapacityUnits=lots',
  },
  {
    name: 'additional-resource-tags',
    beside: classic,
    good: 'team=edge, cost-centre = 7 ,empty,url=a=b',
    block: { ...CLASSIC, tags: { team: 'edge', 'cost-centre': '7', empty: '', url: 'a=b' } },
    bad: 'kubernetes.io/cluster/other=owned',
  },
  {
    name: 'target-group-attributes',
    beside: nlb,
    good: 'preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true,deregistration_delay.timeout_seconds=120,deregistration_delay.connection_termination.enabled=true,stickiness.enabled=true,stickiness.type=source_ip,load_balancing.cross_zone.enabled=use_load_balancer_configuration,target_group_health.dns_failover.minimum_healthy_targets.count=2,target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage=50,target_group_health.dns_failover.minimum_healthy_targets.percentage=off,target_health_state.unhealthy.connection_termination.enabled=false,target_health_state.unhealthy.draining_interval_seconds=60',
    block: {
      ...NETWORK,
      targetGroup: {
        preserveClientIP: false,
        proxyProtocolV2: true,
        deregistrationDelaySeconds: 120,
        connectionTermination: true,
        stickiness: 'SourceIP',
        crossZone: 'LoadBalancer',
        dnsFailover: { count: 2 },
        unhealthyStateRouting: { percentage: 50 },
        unhealthyConnectionTermination: false,
        unhealthyDrainingIntervalSeconds: 60,
      },
    },
    bad: 'stickiness.type=lb_cookie',
  },
  { name: 'proxy-protocol', beside: classic, good: '*', block: { ...CLASSIC, classic: { proxyProtocol: true } }, bad: '80' },
  {
    name: 'proxy-protocol-per-target-group',
    beside: nlb,
    good: '80,443',
    block: {
      ...NETWORK,
      listeners: [
        { port: 80, proxyProtocolV2: true },
        { port: 443, proxyProtocolV2: true },
      ],
    },
    bad: 'http',
  },
  {
    name: 'ssl-cert',
    beside: classic,
    good: certificate,
    block: { ...CLASSIC, tls: { certificateARNs: [certificate] } },
    bad: 'my-certificate',
  },
  {
    name: 'ssl-ports',
    beside: { ...nlb, 'ssl-cert': certificate },
    good: 'https, 80',
    block: { ...NETWORK, tls: { certificateARNs: [certificate], ports: ['https', '80'] } },
    bad: 'HTTPS!',
  },
  {
    name: 'ssl-negotiation-policy',
    beside: { 'ssl-cert': certificate },
    good: 'ELBSecurityPolicy-2016-08',
    block: { ...CLASSIC, tls: { certificateARNs: [certificate], policy: 'ELBSecurityPolicy-2016-08' } },
    bad: 'no policy',
  },
  {
    name: 'alpn-policy',
    beside: { ...nlb, 'ssl-cert': certificate },
    good: 'HTTP2Preferred',
    block: { ...NETWORK, tls: { certificateARNs: [certificate], alpnPolicy: 'HTTP2Preferred' } },
    bad: 'h2',
  },
  { name: 'backend-protocol', beside: classic, good: 'HTTP', block: { ...CLASSIC, backendProtocol: 'HTTP' }, bad: 'grpc' },
  { name: 'enable-tcp-udp-listener', beside: nlb, good: 'true', block: { ...NETWORK, tcpUDPListeners: true }, bad: 'both' },
  {
    name: 'target-node-labels',
    beside: classic,
    good: 'example.com/pool=edge,gpu',
    block: { ...CLASSIC, targetNodeLabels: { 'example.com/pool': 'edge', gpu: '' } },
    bad: 'pool=not a label',
  },
  { name: 'healthcheck-protocol', beside: nlb, good: 'HTTP', block: { ...NETWORK, healthCheck: { protocol: 'HTTP' } }, bad: 'udp' },
  {
    name: 'healthcheck-port',
    beside: nlb,
    good: 'traffic-port',
    block: { ...NETWORK, healthCheck: { port: 'traffic-port' } },
    bad: '65536',
  },
  { name: 'healthcheck-path', beside: nlb, good: '/up?x=1', block: { ...NETWORK, healthCheck: { path: '/up?x=1' } }, bad: 'up' },
  {
    name: 'healthcheck-success-codes',
    beside: nlb,
    good: '200,404',
    block: { ...NETWORK, healthCheck: { successCodes: '200,404' } },
    bad: 'ok',
  },
  { name: 'healthcheck-interval', beside: classic, good: '15', block: { ...CLASSIC, healthCheck: { intervalSeconds: 15 } }, bad: '4' },
  { name: 'healthcheck-timeout', beside: nlb, good: '6', block: { ...NETWORK, healthCheck: { timeoutSeconds: 6 } }, bad: '1e1' },
  { name: 'healthcheck-healthy-threshold', beside: nlb, good: '2', block: { ...NETWORK, healthCheck: { healthyThreshold: 2 } }, bad: '11' },
  {
    name: 'healthcheck-unhealthy-threshold',
    beside: classic,
    good: '10',
    block: { ...CLASSIC, healthCheck: { unhealthyThreshold: 10 } },
    bad: '1',
  },
  {
    name: 'security-groups',
    beside: nlb,
    good: 'sg-1,web',
    block: { ...NETWORK, securityGroups: { groups: ['sg-1', 'web'] } },
    bad: 'a,b,c,d,e,f',
  },
  {
    name: 'extra-security-groups',
    beside: classic,
    good: 'sg-1',
    block: { ...CLASSIC, securityGroups: { additionalGroupIDs: ['sg-1'] } },
    bad: 'web',
  },
  {
    name: 'manage-backend-security-group-rules',
    beside: nlb,
    good: 'false',
    block: { ...NETWORK, securityGroups: { backendRules: 'None' } },
    bad: 'off',
  },
  {
    name: 'security-group-prefix-lists',
    beside: nlb,
    good: 'pl-1,pl-2',
    block: { ...NETWORK, securityGroups: { prefixListIDs: ['pl-1', 'pl-2'] } },
    bad: 'cloudfront',
  },
  {
    name: 'inbound-sg-rules-on-private-link-traffic',
    beside: nlb,
    good: 'off',
    block: { ...NETWORK, securityGroups: { privateLinkRules: 'Ignored' } },
    bad: 'false',
  },
  {
    name: 'enable-icmp-for-path-mtu-discovery',
    beside: nlb,
    good: 'off',
    block: { ...NETWORK, securityGroups: { pathMTUDiscovery: false } },
    bad: 'never',
  },
  { name: 'disable-nlb-sg', beside: nlb, good: 'true', block: { ...NETWORK, securityGroups: { mode: 'None' } }, bad: 'on' },
];

describe('every annotation of AWS', () => {
  it('has a row here', () => {
    expect(ROWS.map(({ name }) => name)).toEqual(ANNOTATIONS.map(({ name }) => name));
  });

  test.each(ROWS)('$name: "$good" is read', ({ name, beside, good, block, scheme }) => {
    const result = compiled({ ...beside, [name]: ` ${good} ` });
    expect(result).toEqual({ block, problems: [], ...(scheme === undefined ? {} : { core: { scheme } }) });
    const spec = { provider: 'aws', listeners: [{ name: 'http', port: 80 }], ...result.core, aws: result.block };
    expect(validateSpec(CloudLoadBalancerKind, spec)).toMatchObject({ ok: true });
  });

  test.each(ROWS)('$name: absent or empty, it sets nothing', ({ name, beside }) => {
    expect(compiled({ ...beside, [name]: ' ' })).toEqual(compiled(beside));
  });

  test.each(ROWS.filter(({ bad }) => bad !== undefined))('$name: "$bad" is an error with annotation, value and remedy', (row) => {
    const { name, beside, bad = '' } = row;
    const { block, problems } = compiled({ ...beside, [name]: bad });
    const { expects } = ANNOTATIONS.find((annotation) => annotation.name === name) ?? { expects: '' };
    const message = expect.stringContaining(`Write ${expects}`) as string;
    expect(problems).toEqual([{ severity: 'Error', field: ANNOTATION_PREFIX + name, value: bad, message }]);
    // and nothing of it is in the block
    expect(block).toEqual(compiled(beside).block);
  });

  test.each(ANNOTATIONS.filter(({ only }) => only !== undefined))('$name: only for $only', ({ name, only }) => {
    const row = ROWS.find((at) => at.name === name);
    const result = compiled({ ...(only === 'Network' ? classic : nlb), [name]: row?.good ?? '' });
    expect(result.block).toEqual(only === 'Network' ? CLASSIC : NETWORK);
    expect(result.problems).toMatchObject([{ severity: 'Warning', field: ANNOTATION_PREFIX + name }]);
  });
});

describe('the kind of load balancer', () => {
  const ofClass = (loadBalancerClass: string): ServiceFacts => ({ loadBalancerClass, ports });

  it('is Classic where nothing is said', () => {
    expect(compile({})).toEqual({ block: CLASSIC, problems: [] });
  });

  it('is Classic where that is asked for, also for a class of ours', () => {
    expect(compiled({ type: 'classic' })).toEqual({ block: CLASSIC, problems: [] });
    expect(compiled({ type: 'classic' }, ofClass('cloud-operator.dev/aws'))).toEqual({ block: CLASSIC, problems: [] });
  });

  it('is Network for a class of ours', () => {
    expect(compiled({}, ofClass('cloud-operator.dev/aws'))).toEqual({ block: NETWORK, problems: [] });
  });

  it('is Network and internal for the class of the AWS Load Balancer Controller, which a CloudProvider can claim', () => {
    const lbc = ofClass('service.k8s.aws/nlb');
    expect(compiled({ type: 'external' }, lbc)).toEqual({ block: NETWORK, problems: [], core: { scheme: 'Internal' } });
    expect(compiled({ scheme: 'internet-facing' }, lbc).core).toEqual({ scheme: 'Public' });
    expect(compiled({ 'proxy-protocol': '*' }, lbc).block).toEqual({ ...NETWORK, targetGroup: { proxyProtocolV2: true } });
    expect(compiled({ type: 'nlb-ip' }, lbc).problems).toMatchObject([{ severity: 'Error', value: 'nlb-ip' }]);
  });

  test.each(['external', 'nlb-ip'])('"%s" leaves the Service to its owner, whatever else is there', (type) => {
    const result = compiled({ type, 'healthcheck-port': 'nonsense', unknown: 'x' });
    expect(result).toEqual({ block: {}, problems: [], leftTo: expect.stringContaining(`"${type}"`) as string });
  });

  test.each([
    ['traffic-port', {}, { healthCheck: { port: 'traffic-port' } }, []],
    ['31080', {}, { healthCheck: {} }, ['Warning']],
    ['31080', { 'healthcheck-interval': '15' }, { healthCheck: { intervalSeconds: 15 } }, ['Warning']],
  ])('the health check of a Classic one goes where upstream’s does: to %s beside %j', (port, beside, block, severities) => {
    const result = compiled({ 'healthcheck-port': port, ...beside });
    expect(result.block).toEqual({ ...CLASSIC, ...block });
    expect(result.problems.map(({ severity }) => severity)).toEqual(severities);
    expect(() =>
      cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [{ name: 'http', port: 80 }], aws: result.block }),
    ).not.toThrow();
  });

  it('is read under the second prefix of the AWS Load Balancer Controller too, after the first', () => {
    const second = { 'service.kubernetes.io/aws-load-balancer-type': 'nlb' };
    expect(compile(second).block).toEqual(NETWORK);
    expect(compile({ ...second, ...withPrefix({ type: 'alb' }) }).problems).toMatchObject([{ value: 'alb' }]);
  });
});

describe('annotations that contradict each other', () => {
  const cases: {
    title: string;
    given: Record<string, string>;
    ports?: ServiceFacts['ports'];
    field: string;
    message: string;
    warning?: true;
  }[] = [
    {
      title: 'internal with Elastic IPs',
      given: { ...nlb, internal: 'true', 'eip-allocations': 'eipalloc-1' },
      field: 'eip-allocations',
      message: 'use private-ipv4-addresses',
    },
    {
      title: 'public with private addresses',
      given: { ...nlb, 'private-ipv4-addresses': '10.0.0.1' },
      field: 'private-ipv4-addresses',
      message: 'make the load balancer internal',
    },
    {
      title: 'fewer Elastic IPs than subnets',
      given: { ...nlb, subnets: 'a,b', 'eip-allocations': 'eipalloc-1' },
      field: 'eip-allocations',
      message: '1 for 2 subnets (a, b)',
    },
    {
      title: 'more private addresses than subnets',
      given: { ...nlb, internal: 'true', subnets: 'a', 'private-ipv4-addresses': '10.0.0.1,10.0.1.1' },
      field: 'private-ipv4-addresses',
      message: '2 for 1 subnets (a)',
    },
    {
      title: 'more IPv6 addresses than subnets',
      given: { ...nlb, subnets: 'a', 'ipv6-addresses': 'fd00::1,fd00::2' },
      field: 'ipv6-addresses',
      message: 'exactly one for each',
    },
    {
      title: 'IPv6 addresses without IPv6',
      given: { ...nlb, 'ip-address-type': 'ipv4', 'ipv6-addresses': 'fd00::1' },
      field: 'ipv6-addresses',
      message: 'Write dualstack',
    },
    {
      title: 'IPv6 prefixes without IPv6',
      given: { ...nlb, 'ip-address-type': 'ipv4', 'enable-prefix-for-ipv6-source-nat': 'on' },
      field: 'enable-prefix-for-ipv6-source-nat',
      message: 'Write dualstack',
    },
    {
      title: 'prefixes nobody uses',
      given: { ...nlb, 'source-nat-ipv6-prefixes': 'auto_assigned' },
      field: 'source-nat-ipv6-prefixes',
      message: 'enable-prefix-for-ipv6-source-nat',
      warning: true,
    },
    {
      title: 'fewer prefixes than subnets',
      given: { ...nlb, 'enable-prefix-for-ipv6-source-nat': 'on', 'source-nat-ipv6-prefixes': 'auto_assigned', subnets: 'a,b' },
      field: 'source-nat-ipv6-prefixes',
      message: '1 for 2 subnets',
    },
    { title: 'logs without a bucket', given: { 'access-log-enabled': 'true' }, field: 'access-log-enabled', message: 'need a bucket' },
    {
      title: 'logs without a bucket, as an attribute',
      given: { ...nlb, attributes: 'access_logs.s3.enabled=true' },
      field: 'attributes',
      message: 'need a bucket',
    },
    {
      title: 'TLS on a port that is not there',
      given: { ...nlb, 'ssl-cert': certificate, 'ssl-ports': 'https,8443' },
      field: 'ssl-ports',
      message: 'the Service has no port 8443; its ports are http (80), https (443)',
    },
    {
      title: 'draining of connections that are cut',
      given: { ...nlb, 'target-group-attributes': 'target_health_state.unhealthy.draining_interval_seconds=60' },
      field: 'target-group-attributes',
      message: 'connection_termination.enabled=false',
    },
    {
      title: 'a certificate without a port of TCP',
      given: { ...nlb, 'ssl-cert': certificate },
      ports: [{ port: 53, protocol: 'UDP' }],
      field: 'ssl-cert',
      message: 'no port of TCP',
    },
    {
      title: 'TLS on a port of UDP',
      given: { ...nlb, 'ssl-cert': certificate, 'ssl-ports': '53' },
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 443, protocol: 'TCP' },
      ],
      field: 'ssl-ports',
      message: 'port 53 is UDP',
    },
    ...['ssl', 'https'].map((text) => ({
      title: `backend-protocol ${text} without a certificate`,
      given: { 'backend-protocol': text },
      field: 'backend-protocol',
      message: 'Name one by the annotation ssl-cert',
      warning: true as const,
    })),
    {
      title: 'a time of draining without draining',
      given: { 'connection-draining-timeout': '20' },
      field: 'connection-draining-timeout',
      message: 'connection-draining-enabled',
      warning: true,
    },
    ...['ssl-ports', 'ssl-negotiation-policy', 'alpn-policy'].map((name) => ({
      title: `${name} without a certificate`,
      given: { ...nlb, [name]: name === 'alpn-policy' ? 'None' : 'https' },
      field: name,
      message: 'Name one by the annotation ssl-cert',
      warning: true as const,
    })),
    {
      title: 'UDP that hides the client',
      given: { ...nlb, 'target-group-attributes': 'preserve_client_ip.enabled=false' },
      ports: [{ port: 53, protocol: 'UDP' }],
      field: 'target-group-attributes',
      message: 'port 53 is UDP',
    },
    {
      title: 'a path for a check by TCP',
      given: { ...nlb, 'healthcheck-protocol': 'tcp', 'healthcheck-path': '/up' },
      field: 'healthcheck-path',
      message: 'healthcheck-protocol to http',
      warning: true,
    },
    {
      title: 'checks that overlap',
      given: { ...nlb, 'healthcheck-interval': '10', 'healthcheck-timeout': '11' },
      field: 'healthcheck-timeout',
      message: 'Write at most 10',
    },
    {
      title: 'groups and none',
      given: { ...nlb, 'disable-nlb-sg': 'true', 'security-groups': 'sg-1' },
      field: 'disable-nlb-sg',
      message: 'annotation security-groups',
    },
    {
      title: 'prefix lists beside own groups',
      given: { ...nlb, 'security-groups': 'sg-1', 'security-group-prefix-lists': 'pl-1' },
      field: 'security-group-prefix-lists',
      message: 'Write the lists into those groups',
    },
    {
      title: 'two schemes',
      given: { ...nlb, internal: 'true', scheme: 'internet-facing' },
      field: 'internal',
      message: 'which is followed',
      warning: true,
    },
    {
      title: 'settings of a port that is not there',
      given: { ...nlb, 'listener-attributes.TCP-81': 'tcp.idle_timeout.seconds=60' },
      field: 'listener-attributes.TCP-81',
      message: 'no port 81',
      warning: true,
    },
    {
      title: 'a PROXY header that upstream would not send',
      given: { ...nlb, 'proxy-protocol': '*' },
      field: 'proxy-protocol',
      message: 'proxy_protocol_v2.enabled=true',
      warning: true,
    },
  ];

  test.each(cases)('$title', ({ given, field, message, warning, ...service }) => {
    const result = compiled(given, { ports: service.ports ?? ports });
    expect(result.problems).toEqual([
      {
        severity: warning === true ? 'Warning' : 'Error',
        field: ANNOTATION_PREFIX + field,
        value: given[field],
        message: expect.stringContaining(message) as string,
      },
    ]);
    // what remains is something that the API server accepts
    const listeners = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    const spec = { provider: 'aws', listeners, ...result.core, aws: result.block };
    expect(validateSpec(CloudLoadBalancerKind, spec)).toMatchObject({ ok: true });
  });

  it('are no contradiction where the figures agree', () => {
    const given = { ...nlb, subnets: 'a,b', 'eip-allocations': 'eipalloc-1,eipalloc-2', 'ssl-cert': certificate, 'ssl-ports': '*' };
    expect(compiled(given).problems).toEqual([]);
    expect(compiled(given).block.tls).toEqual({ certificateARNs: [certificate] });
  });

  it('of healthy targets may leave the number out in DNS, and AWS has nothing like it for routing', () => {
    const counts = (of: string): string => `target_group_health.${of}.minimum_healthy_targets.count=off`;
    const [dns, routing] = ['dns_failover', 'unhealthy_state_routing'].map((of) =>
      compiled({ ...nlb, 'target-group-attributes': counts(of) }),
    );
    expect(dns).toMatchObject({ problems: [], block: { targetGroup: { dnsFailover: { count: 0 } } } });
    expect(routing?.problems).toMatchObject([{ severity: 'Error' }]);
  });

  it('of several certificates keep their order: the first is the default one', () => {
    const [first, second] = [`${certificate}-b`, certificate];
    expect(compiled({ ...nlb, 'ssl-cert': `${first}, ${second}` }).block.tls).toEqual({ certificateARNs: [first, second] });
  });

  it('by name stand before the attributes', () => {
    const { block } = compiled({
      ...nlb,
      attributes: 'load_balancing.cross_zone.enabled=true',
      'cross-zone-load-balancing-enabled': 'false',
    });
    expect(block).toEqual({ ...NETWORK, crossZone: false });
  });
});

describe('annotations beside the table', () => {
  it('of single listeners are put together by port', () => {
    const given = { ...nlb, 'listener-attributes.TCP-80': 'tcp.idle_timeout.seconds=400', 'proxy-protocol-per-target-group': '80' };
    expect(compiled(given)).toEqual({
      block: { ...NETWORK, listeners: [{ port: 80, proxyProtocolV2: true, tcpIdleTimeoutSeconds: 400 }] },
      problems: [],
    });
    expect(compiled({ ...nlb, 'listener-attributes.TCP-80': 'tcp.idle_timeout.seconds=1' }).problems).toMatchObject([
      { severity: 'Error' },
    ]);
    expect(compiled({ 'listener-attributes.TCP-80': 'tcp.idle_timeout.seconds=60' }).problems).toMatchObject([{ severity: 'Warning' }]);
  });

  test.each([...Object.keys(UNSUPPORTED), 'actions.TCP-80'])(
    '%s, whose work is not done here, is an error that says what to do',
    (name) => {
      expect(compiled({ ...nlb, [name]: 'true' }).problems).toEqual([
        {
          severity: 'Error',
          field: ANNOTATION_PREFIX + name,
          value: 'true',
          message: expect.stringMatching(/Remove it|Name them/) as string,
        },
      ]);
      expect(compiled({ ...nlb, [name]: 'false' }).problems).toEqual([]);
    },
  );

  it('with the prefix and not known are warnings that name those that are like them', () => {
    const { block, problems } = compiled({ ...nlb, 'healthcheck-pth': '/' });
    expect(block).toEqual(NETWORK);
    expect(problems).toEqual([
      {
        severity: 'Warning',
        field: `${ANNOTATION_PREFIX}healthcheck-pth`,
        value: '/',
        message: expect.stringContaining('healthcheck-path') as string,
      },
    ]);
  });

  it('without the prefix are nothing to us', () => {
    expect(compile({ 'example.com/type': 'nlb', 'service.beta.kubernetes.io/load-balancer-source-ranges': 'x' })).toEqual(compile({}));
  });

  test.each(['__proto__', 'constructor', 'toString'])('called %s do no harm', (name) => {
    expect(compiled({ [name]: 'x', 'additional-resource-tags': `${name}=x` }).problems).toMatchObject([{ severity: 'Warning' }]);
    expect(compiled({ ...nlb, attributes: `${name}=x` }).problems).toMatchObject([{ severity: 'Error' }]);
  });
});

describe('a Network load balancer whose CloudProvider gives it no group', () => {
  const settings = (aws: object): CloudProviderSpec =>
    cloudProviderSpec.parse({ region: 'eu-west-1', aws: { clusterName: 'prod', ...aws } });

  test.each([
    ['rules for each Service', { type: 'nlb' }, { nodeRules: 'PerService' }, { type: 'Network', securityGroups: { mode: 'None' } }],
    ['groups all the same', { type: 'nlb' }, { nodeRules: 'PerService', networkSecurityGroups: 'Managed' }, { type: 'Network' }],
    ['the shared rules', { type: 'nlb' }, {}, { type: 'Network' }],
    ['a Classic one', {}, { nodeRules: 'PerService' }, { type: 'Classic' }],
    [
      'groups that it names',
      { type: 'nlb', 'security-groups': 'sg-0a' },
      { nodeRules: 'PerService' },
      { type: 'Network', securityGroups: { groups: ['sg-0a'] } },
    ],
  ] as [string, Record<string, string>, object, object][])('keeps that in its spec: %s', (_what, annotations, aws, block) => {
    expect(compile(withPrefix(annotations), { ports }, settings(aws)).block).toEqual(block);
  });
});
