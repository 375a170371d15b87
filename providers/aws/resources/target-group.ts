import type { TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { z } from 'zod';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { toAwsTags } from '../tags';
import { attributeChanges, attributesOf, defaultsOf, propertiesOf, type Attribute } from './attributes';
import type { Api, Listed, ResourceDescription } from './description';
import { changeElbTags, elbTagsOf, emptyWhenGone, withTags } from './elb-tags';
import { present } from './present';
import { healthAttributes, healthProperties, targetGroupHealth, USUAL_HEALTH } from './target-group-health';

const healthCheck = z.strictObject({
  enabled: z.literal(true),
  protocol: z.enum(['TCP', 'HTTP', 'HTTPS']),
  port: z.string(),
  path: z.string().optional(),
  matcher: z.string().optional(),
  interval: z.number().int(),
  timeout: z.number().int(),
  healthyThreshold: z.number().int(),
  unhealthyThreshold: z.number().int(),
});

const protocol = z.enum(['TCP', 'TLS', 'UDP', 'TCP_UDP']);

const schema = z.strictObject({
  name: z.string().min(1).max(32),
  port: z.number().int(),
  protocol,
  targetType: z.literal('instance'),
  ipAddressType: z.enum(['ipv4', 'ipv6']),
  vpcId: z.string().min(1),
  healthCheck,
  deregistrationDelay: z.number().int(),
  connectionTermination: z.boolean(),
  proxyProtocolV2: z.boolean(),
  /** A text in the official type. */
  preserveClientIp: z.enum(['true', 'false']),
  loadBalancingCrossZoneEnabled: z.enum(['true', 'false', 'use_load_balancer_configuration']),
  stickiness: z.strictObject({ type: z.literal('source_ip'), enabled: z.boolean() }),
  ...targetGroupHealth,
  tags: z.record(z.string(), z.string()),
});
export type TargetGroupInputs = z.infer<typeof schema>;

const ATTRIBUTES: readonly Attribute[] = [
  { property: 'deregistrationDelay', attribute: 'deregistration_delay.timeout_seconds', kind: 'Number', default: '300' },
  { property: 'proxyProtocolV2', attribute: 'proxy_protocol_v2.enabled', kind: 'Boolean', default: 'false' },
  { property: 'preserveClientIp', attribute: 'preserve_client_ip.enabled', kind: 'Text', default: 'true' },
  {
    property: 'loadBalancingCrossZoneEnabled',
    attribute: 'load_balancing.cross_zone.enabled',
    kind: 'Text',
    default: 'use_load_balancer_configuration',
  },
];
const STICKINESS = 'stickiness.enabled';

/** Whether AWS cuts connections when the deregistration delay is over, while nothing sets it: only those of UDP flows. Pure. */
export function cutsByDefault(of: TargetGroupInputs['protocol']): boolean {
  return of === 'UDP' || of === 'TCP_UDP';
}

/**
 * Whether targets of all zones get traffic from each. Pure.
 * @param loadBalancer what the load balancer says, which holds where the group says nothing else
 */
export function sendsAcrossZones(group: TargetGroupInputs['loadBalancingCrossZoneEnabled'], loadBalancer: boolean): boolean {
  return group === 'use_load_balancer_configuration' ? loadBalancer : group === 'true';
}

/** AWS's attributes for instance targets of a Network Load Balancer, by the group's protocol. */
function tableOf(of: TargetGroupInputs['protocol']): readonly Attribute[] {
  const attribute = 'deregistration_delay.connection_termination.enabled';
  return [...ATTRIBUTES, { property: 'connectionTermination', attribute, kind: 'Boolean', default: String(cutsByDefault(of)) }];
}

/** Where one listener's connections go. Its targets are no property of it: they are kept by the members path. */
export const targetGroup: ResourceDescription<TargetGroupInputs, TargetGroup> = {
  token: 'aws:lb/targetGroup:TargetGroup',
  replaceOn: ['name', 'port', 'protocol', 'targetType', 'ipAddressType', 'vpcId'],
  schema,

  async create(inputs, { elb, options }) {
    const { name, port, targetType, vpcId, ipAddressType } = inputs;
    const made = await elb.createTargetGroup(
      {
        Name: name,
        Port: port,
        Protocol: inputs.protocol,
        TargetType: targetType,
        VpcId: vpcId,
        IpAddressType: ipAddressType,
        ...healthCheckOf(inputs),
        Tags: toAwsTags(inputs.tags),
      },
      options,
    );
    const id = made.TargetGroupArn ?? '';
    // The same name and settings again give what is there; one that traffic comes from is not new.
    if ((made.LoadBalancerArns ?? []).length > 0) return { id, observed: observed(id), existed: true };
    const usual = { ...defaultsOf(tableOf(inputs.protocol)), ...USUAL_HEALTH, [STICKINESS]: 'false' };
    const changes = attributeChanges(usual, allAttributes(inputs));
    if (changes.length > 0) await elb.modifyTargetGroupAttributes({ TargetGroupArn: id, Attributes: changes }, options);
    return { id, observed: observed(id) };
  },

  async find({ name }, api) {
    return only(await emptyWhenGone(api.elb.targetGroups({ Names: [name] }, api.options)), api);
  },

  async byID(id, api) {
    return only(await emptyWhenGone(api.elb.targetGroups({ TargetGroupArns: [id] }, api.options)), api);
  },

  tagsOf: elbTagsOf,

  async describe({ id, raw, tags }, { elb, options }) {
    const attributes = await elb.targetGroupAttributes(id, options);
    return { inputs: { ...properties(raw, attributes), tags: { ...tags } }, observed: observed(id) };
  },

  async change(id, has, wanted, api) {
    const { elb, options } = api;
    await changeElbTags(id, has.tags, wanted.tags, api);
    if (canonicalJson(has.healthCheck) !== canonicalJson(wanted.healthCheck)) {
      await elb.modifyTargetGroup({ TargetGroupArn: id, ...healthCheckOf(wanted) }, options);
    }
    const changes = attributeChanges(allAttributes(has), allAttributes(wanted));
    if (changes.length > 0) await elb.modifyTargetGroupAttributes({ TargetGroupArn: id, Attributes: changes }, options);
  },

  remove: (id, { elb, options }) => elb.deleteTargetGroup({ TargetGroupArn: id }, options),
};

async function only(found: TargetGroup[], api: Api): Promise<Listed<TargetGroup> | undefined> {
  const [first] = await withTags(found.slice(0, 1), ({ TargetGroupArn }) => TargetGroupArn, api);
  return first;
}

function allAttributes(inputs: TargetGroupInputs): Record<string, string> {
  const { enabled, type } = inputs.stickiness;
  // The type says nothing while it is off.
  return {
    ...attributesOf(tableOf(inputs.protocol), inputs),
    ...healthAttributes(inputs),
    [STICKINESS]: String(enabled),
    ...(enabled && { 'stickiness.type': type }),
  };
}

function healthCheckOf({ healthCheck: check }: TargetGroupInputs): {
  HealthCheckEnabled: boolean;
  HealthCheckProtocol: 'TCP' | 'HTTP' | 'HTTPS';
  HealthCheckPort: string;
  HealthCheckPath?: string;
  HealthCheckIntervalSeconds: number;
  HealthCheckTimeoutSeconds: number;
  HealthyThresholdCount: number;
  UnhealthyThresholdCount: number;
  Matcher?: { HttpCode: string };
} {
  return {
    HealthCheckEnabled: check.enabled,
    HealthCheckProtocol: check.protocol,
    HealthCheckPort: check.port,
    ...(check.path !== undefined && { HealthCheckPath: check.path }),
    HealthCheckIntervalSeconds: check.interval,
    HealthCheckTimeoutSeconds: check.timeout,
    HealthyThresholdCount: check.healthyThreshold,
    UnhealthyThresholdCount: check.unhealthyThreshold,
    ...(check.matcher !== undefined && { Matcher: { HttpCode: check.matcher } }),
  };
}

function properties(raw: TargetGroup, attributes: Record<string, string>): JsonObject {
  const { TargetGroupName = '', Port = 0, Protocol = 'TCP', VpcId = '', IpAddressType = 'ipv4', TargetType = 'instance' } = raw;
  const of = protocol.catch('TCP').parse(Protocol);
  return {
    name: TargetGroupName,
    port: Port,
    protocol: Protocol,
    targetType: TargetType,
    ipAddressType: IpAddressType,
    vpcId: VpcId,
    healthCheck: healthCheckProperties(raw),
    ...propertiesOf(tableOf(of), attributes),
    ...healthProperties(attributes, !cutsByDefault(of)),
    stickiness: { type: 'source_ip', enabled: attributes[STICKINESS] === 'true' },
  };
}

/** Path and matcher only where they mean something. */
function healthCheckProperties(raw: TargetGroup): JsonObject {
  const { HealthCheckProtocol = 'TCP', HealthCheckPort = 'traffic-port', HealthCheckEnabled = true } = raw;
  return present({
    enabled: HealthCheckEnabled,
    protocol: HealthCheckProtocol,
    port: HealthCheckPort,
    ...(HealthCheckProtocol !== 'TCP' && { path: raw.HealthCheckPath, matcher: raw.Matcher?.HttpCode }),
    interval: raw.HealthCheckIntervalSeconds,
    timeout: raw.HealthCheckTimeoutSeconds,
    healthyThreshold: raw.HealthyThresholdCount,
    unhealthyThreshold: raw.UnhealthyThresholdCount,
  });
}

function observed(arn: string): JsonObject {
  return { arn, arnSuffix: arn.split(':').at(-1) ?? '' };
}
