import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT_ROOT } from '../../../operator/entry';
import { DESCRIPTIONS } from '../../../providers/aws/resources';
import { AWS_VERSION } from '../../../providers/aws/worker';
import { expectGenerated } from '../../golden/golden';
import { officialResource, officialVersion, type OfficialObject } from '../../harness/official-types';
import { driftOf, type JsonSchema } from '../../harness/type-drift';

/** Properties whose change the official provider answers with a replacement, among those that are served; by its documentation and its upstream's schema. */
const REPLACED: Readonly<Record<string, readonly string[]>> = {
  'aws:lb/loadBalancer:LoadBalancer': ['name', 'loadBalancerType', 'internal', 'subnetMappings'],
  'aws:lb/targetGroup:TargetGroup': ['name', 'port', 'protocol', 'targetType', 'ipAddressType', 'vpcId'],
  'aws:lb/listener:Listener': ['loadBalancerArn'],
  'aws:lb/listenerCertificate:ListenerCertificate': ['listenerArn', 'certificateArn'],
  'aws:ec2/securityGroup:SecurityGroup': ['name', 'description', 'vpcId'],
  'aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule': ['securityGroupId'],
  'aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule': ['securityGroupId'],
  'aws:ec2/route:Route': ['routeTableId', 'destinationCidrBlock', 'destinationIpv6CidrBlock'],
  'aws:elb/loadBalancer:LoadBalancer': ['name', 'internal'],
  'aws:elb/loadBalancerPolicy:LoadBalancerPolicy': ['loadBalancerName', 'policyName', 'policyTypeName', 'policyAttributes'],
  'aws:elb/loadBalancerBackendServerPolicy:LoadBalancerBackendServerPolicy': ['loadBalancerName', 'instancePort'],
  'aws:elb/listenerPolicy:ListenerPolicy': ['loadBalancerName', 'loadBalancerPort'],
};

const served = DESCRIPTIONS.map(({ token, replaceOn, schema }) => ({
  token,
  replaceOn,
  schema: z.toJSONSchema(schema) as JsonSchema,
  official: officialResource(token),
}));

describe('the built-in types of AWS beside the typings of @pulumi/aws', () => {
  it('are of the version that is installed, and that the package asks for', () => {
    expect(AWS_VERSION).toBe(officialVersion());
    const { dependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { dependencies: object };
    expect(dependencies).toMatchObject({ '@pulumi/aws': AWS_VERSION });
  });

  test.each(served)('$token: the token is the official one', ({ token, official }) => {
    expect(official.token).toBe(token);
  });

  test.each(served)(
    '$token: every property is official, of the official type, and none that is needed is missing',
    ({ schema, official }) => {
      expect(driftOf(schema, official.inputs, 'inputs')).toEqual([]);
    },
  );

  test.each(served)('$token: what is replaced is what the official one replaces', ({ token, replaceOn, schema }) => {
    expect([...replaceOn].sort()).toEqual([...(REPLACED[token] ?? [])].sort());
    expect(replaceOn.filter((name) => schema.properties?.[name] === undefined)).toEqual([]);
  });

  it('a drift is seen: another name, another type, one that is missing, one within another', () => {
    const official: OfficialObject = {
      properties: {
        port: { required: true, type: 'number' },
        name: { required: true, type: 'string' },
        logs: { required: false, type: { properties: { bucket: { required: true, type: 'string' } } } },
        groups: { required: false, type: { list: 'string' } },
      },
    };
    const schemaOf = (shape: z.core.$ZodLooseShape): JsonSchema => z.toJSONSchema(z.strictObject(shape)) as JsonSchema;
    const good = { port: z.number(), name: z.string(), logs: z.strictObject({ bucket: z.string() }), groups: z.array(z.string()) };
    expect(driftOf(schemaOf(good), official, 'inputs')).toEqual([]);
    const drifts: [z.core.$ZodLooseShape, string][] = [
      [{ ...good, nmae: z.string() }, 'inputs.nmae is no official property'],
      [{ ...good, port: z.string() }, 'inputs.port is string, officially number'],
      [{ port: good.port }, 'inputs.name is needed officially, and not served'],
      [{ ...good, name: z.string().optional() }, 'inputs.name is needed officially, and may be absent here'],
      [{ ...good, logs: z.strictObject({}) }, 'inputs.logs.bucket is needed officially, and not served'],
      [{ ...good, groups: z.array(z.number()) }, 'inputs.groups[] is number, officially string'],
    ];
    for (const [shape, drift] of drifts) expect(driftOf(schemaOf(shape), official, 'inputs')).toEqual([drift]);
  });

  it('what is not served is written down, so that nothing new comes unseen', () => {
    const rows = served.map(({ token, schema, official }) => {
      const names = Object.keys(official.inputs.properties);
      const list = (kept: string[]): string => kept.map((name) => `\`${name}\``).join(', ');
      const isServed = (name: string): boolean => schema.properties?.[name] !== undefined;
      return `| \`${token}\` | ${list(names.filter(isServed))} | ${list(names.filter((name) => !isServed(name)))} |`;
    });
    expectGenerated(
      'docs/clouds/aws.md',
      'types',
      ['| type | served | only by the official plugin |', '| --- | --- | --- |', ...rows].join('\n'),
    );
  });
});
