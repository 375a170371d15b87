import type { Listener, LoadBalancerAttributes, LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import type { ClassicElb } from '../client/classic-elb';
import { fromAwsTags, tagChanges, toAwsTags } from '../tags';
import { changeSubnets } from './classic-subnets';
import type { Api, Listed, ResourceDescription } from './description';
import { emptyWhenGone } from './elb-tags';

const listener = z.strictObject({
  instancePort: z.number().int(),
  instanceProtocol: z.enum(['tcp', 'ssl', 'http', 'https']),
  lbPort: z.number().int(),
  lbProtocol: z.enum(['tcp', 'ssl', 'http', 'https']),
  sslCertificateId: z.string().optional(),
});
export type ClassicListenerInputs = z.infer<typeof listener>;

const schema = z.strictObject({
  name: z.string().min(1).max(32),
  internal: z.boolean(),
  subnets: z.array(z.string()).min(1),
  securityGroups: z.array(z.string()).min(1),
  listeners: z.array(listener).min(1),
  healthCheck: z.strictObject({
    target: z.string().min(1),
    interval: z.number().int(),
    timeout: z.number().int(),
    healthyThreshold: z.number().int(),
    unhealthyThreshold: z.number().int(),
  }),
  crossZoneLoadBalancing: z.boolean(),
  idleTimeout: z.number().int(),
  connectionDraining: z.boolean(),
  connectionDrainingTimeout: z.number().int(),
  /** Absent = none are written. */
  accessLogs: z
    .strictObject({ bucket: z.string(), bucketPrefix: z.string().optional(), interval: z.number().int(), enabled: z.literal(true) })
    .optional(),
  tags: z.record(z.string(), z.string()),
});
export type ClassicLoadBalancerInputs = z.infer<typeof schema>;

/**
 * A Classic load balancer with its listeners and its health check. Its instances are no property of it: they are kept by the members path.
 * AWS answers a second create of the same settings as the first one, and tells nothing of whose it is; so it is looked for before it is made.
 */
export const classicLoadBalancer: ResourceDescription<ClassicLoadBalancerInputs, LoadBalancerDescription> = {
  token: 'aws:elb/loadBalancer:LoadBalancer',
  replaceOn: ['name', 'internal'],
  schema,

  async create(inputs, api) {
    const { classic, options } = api;
    const { name } = inputs;
    const there = await classicByName(name, api);
    if (there !== undefined) return { id: name, observed: observed(there.raw), existed: true };
    await classic.createLoadBalancer(
      {
        LoadBalancerName: name,
        Listeners: inputs.listeners.map(toListener),
        Subnets: inputs.subnets,
        SecurityGroups: inputs.securityGroups,
        ...(inputs.internal && { Scheme: 'internal' }),
        Tags: toAwsTags(inputs.tags),
      },
      options,
    );
    await classic.configureHealthCheck({ LoadBalancerName: name, HealthCheck: toHealthCheck(inputs) }, options);
    await classic.modifyAttributes({ LoadBalancerName: name, LoadBalancerAttributes: toAttributes(inputs) }, options);
    const [made] = await emptyWhenGone(classic.loadBalancers([name], options));
    if (made === undefined)
      throw new OperatorError('Transient', `load balancer ${name} was made a moment ago, and AWS does not list it yet`);
    return { id: name, observed: observed(made) };
  },

  find: ({ name }, api) => classicByName(name, api),
  byID: classicByName,

  async describe({ raw, tags }, { classic, options }) {
    const attributes = await classic.attributes(raw.LoadBalancerName ?? '', options);
    return { inputs: { ...properties(raw, attributes), tags: { ...tags } }, observed: observed(raw) };
  },

  async change(id, has, wanted, api) {
    const { classic, options } = api;
    const { set, remove } = tagChanges(has.tags, wanted.tags);
    if (Object.keys(set).length > 0) await classic.addTags({ LoadBalancerNames: [id], Tags: toAwsTags(set) }, options);
    if (remove.length > 0) await classic.removeTags({ LoadBalancerNames: [id], Tags: remove.map((Key) => ({ Key })) }, options);
    await changeListeners(classic, { has, wanted }, api);
    if (differs(has, wanted, 'securityGroups')) {
      await classic.setSecurityGroups({ LoadBalancerName: id, SecurityGroups: wanted.securityGroups }, options);
    }
    if (differs(has, wanted, 'healthCheck')) {
      await classic.configureHealthCheck({ LoadBalancerName: id, HealthCheck: toHealthCheck(wanted) }, options);
    }
    if (canonicalJson(toAttributes(has)) !== canonicalJson(toAttributes(wanted))) {
      await classic.modifyAttributes({ LoadBalancerName: id, LoadBalancerAttributes: toAttributes(wanted) }, options);
    }
    // What can't be done of this holds up nothing else.
    await changeSubnets(id, { has: has.subnets, wanted: wanted.subnets }, api);
  },

  remove: (id, { classic, options }) => classic.deleteLoadBalancer(id, options),
};

/** The port by which the load balancer's one set of members goes. Pure. */
export function leastInstancePort(listeners: readonly Pick<ClassicListenerInputs, 'instancePort'>[]): number {
  return Math.min(...listeners.map(({ instancePort }) => instancePort));
}

/** With its tags; undefined = it is not there. */
export async function classicByName(name: string, { classic, options }: Api): Promise<Listed<LoadBalancerDescription> | undefined> {
  const [raw] = await emptyWhenGone(classic.loadBalancers([name], options));
  if (raw === undefined) return undefined;
  const tags = (await classic.presentTags([name], options)).get(name);
  return tags === undefined ? undefined : { id: name, raw, tags: fromAwsTags(tags) };
}

interface Change {
  has: ClassicLoadBalancerInputs;
  wanted: ClassicLoadBalancerInputs;
}

function differs(has: ClassicLoadBalancerInputs, wanted: ClassicLoadBalancerInputs, property: keyof ClassicLoadBalancerInputs): boolean {
  return canonicalJson(has[property]) !== canonicalJson(wanted[property]);
}

/** A port has one listener: one that is another goes first. Another certificate alone changes the listener that is there. */
async function changeListeners(classic: ClassicElb, { has, wanted }: Change, { options }: Api): Promise<void> {
  const { name: LoadBalancerName } = wanted;
  const isIn = (all: ClassicListenerInputs[], one: ClassicListenerInputs): boolean => all.some((other) => placeOf(other) === placeOf(one));
  const gone = has.listeners.filter((one) => !isIn(wanted.listeners, one)).map(({ lbPort }) => lbPort);
  const fresh = wanted.listeners.filter((one) => !isIn(has.listeners, one));
  if (gone.length > 0) await classic.deleteListeners({ LoadBalancerName, LoadBalancerPorts: gone }, options);
  if (fresh.length > 0) await classic.createListeners({ LoadBalancerName, Listeners: fresh.map(toListener) }, options);
  for (const one of wanted.listeners) {
    const before = has.listeners.find((other) => placeOf(other) === placeOf(one));
    if (before === undefined || before.sslCertificateId === one.sslCertificateId) continue;
    const input = { LoadBalancerName, LoadBalancerPort: one.lbPort, SSLCertificateId: one.sslCertificateId };
    await classic.setCertificate(input, options);
  }
}

/** Everything of a listener but its certificate. */
function placeOf({ sslCertificateId: certificate, ...place }: ClassicListenerInputs): string {
  return canonicalJson({ ...place, tls: certificate !== undefined });
}

function toListener({ instancePort, instanceProtocol, lbPort, lbProtocol, sslCertificateId }: ClassicListenerInputs): Listener {
  return {
    InstancePort: instancePort,
    InstanceProtocol: instanceProtocol.toUpperCase(),
    LoadBalancerPort: lbPort,
    Protocol: lbProtocol.toUpperCase(),
    ...(sslCertificateId !== undefined && { SSLCertificateId: sslCertificateId }),
  };
}

function toHealthCheck({ healthCheck: check }: ClassicLoadBalancerInputs): {
  Target: string;
  Interval: number;
  Timeout: number;
  HealthyThreshold: number;
  UnhealthyThreshold: number;
} {
  return {
    Target: check.target,
    Interval: check.interval,
    Timeout: check.timeout,
    HealthyThreshold: check.healthyThreshold,
    UnhealthyThreshold: check.unhealthyThreshold,
  };
}

/** Bucket and prefix are left as they are while no logs are written. */
function toAttributes(inputs: ClassicLoadBalancerInputs): LoadBalancerAttributes {
  const { accessLogs: logs } = inputs;
  return {
    CrossZoneLoadBalancing: { Enabled: inputs.crossZoneLoadBalancing },
    ConnectionSettings: { IdleTimeout: inputs.idleTimeout },
    ConnectionDraining: { Enabled: inputs.connectionDraining, Timeout: inputs.connectionDrainingTimeout },
    AccessLog:
      logs === undefined
        ? { Enabled: false }
        : { Enabled: true, S3BucketName: logs.bucket, S3BucketPrefix: logs.bucketPrefix ?? '', EmitInterval: logs.interval },
  };
}

function properties(raw: LoadBalancerDescription, attributes: LoadBalancerAttributes): JsonObject {
  const { LoadBalancerName: name = '', Scheme, Subnets = [], SecurityGroups = [], ListenerDescriptions = [] } = raw;
  return {
    name,
    internal: Scheme === 'internal',
    subnets: [...Subnets].sort(),
    securityGroups: [...SecurityGroups].sort(),
    listeners: ListenerDescriptions.map(({ Listener: one }) => listenerProperties(one)).sort((a, b) => a.lbPort - b.lbPort),
    healthCheck: healthCheckProperties(raw.HealthCheck),
    ...attributeProperties(attributes),
    ...logProperties(attributes.AccessLog),
  };
}

function healthCheckProperties(check: LoadBalancerDescription['HealthCheck']): JsonObject {
  const { Target: target = '', Interval: interval = 0, Timeout: timeout = 0, HealthyThreshold = 0, UnhealthyThreshold = 0 } = check ?? {};
  return { target, interval, timeout, healthyThreshold: HealthyThreshold, unhealthyThreshold: UnhealthyThreshold };
}

function attributeProperties({ CrossZoneLoadBalancing, ConnectionSettings, ConnectionDraining }: LoadBalancerAttributes): JsonObject {
  return {
    crossZoneLoadBalancing: CrossZoneLoadBalancing?.Enabled ?? false,
    idleTimeout: ConnectionSettings?.IdleTimeout ?? DEFAULT_IDLE_TIMEOUT,
    connectionDraining: ConnectionDraining?.Enabled ?? false,
    connectionDrainingTimeout: ConnectionDraining?.Timeout ?? DEFAULT_DRAINING_TIMEOUT,
  };
}

function logProperties(logs: LoadBalancerAttributes['AccessLog']): JsonObject {
  if (logs?.Enabled !== true) return {};
  const { S3BucketName: bucket = '', S3BucketPrefix: prefix = '', EmitInterval: interval = DEFAULT_LOG_INTERVAL } = logs;
  return { accessLogs: { bucket, ...(prefix !== '' && { bucketPrefix: prefix }), interval, enabled: true } };
}

/** What AWS has while nothing sets it: seconds, and minutes for the logs. */
export const DEFAULT_IDLE_TIMEOUT = 60;
export const DEFAULT_DRAINING_TIMEOUT = 300;
export const DEFAULT_LOG_INTERVAL = 60;

function listenerProperties(one: Listener | undefined): JsonObject & { lbPort: number } {
  const { InstancePort = 0, InstanceProtocol, LoadBalancerPort = 0, Protocol = 'TCP', SSLCertificateId: certificate } = one ?? {};
  return {
    instancePort: InstancePort,
    instanceProtocol: (InstanceProtocol ?? Protocol).toLowerCase(),
    lbPort: LoadBalancerPort,
    lbProtocol: Protocol.toLowerCase(),
    ...(certificate !== undefined && certificate !== '' && { sslCertificateId: certificate }),
  };
}

function observed({ DNSName = '', CanonicalHostedZoneNameID: zone }: LoadBalancerDescription): JsonObject {
  return { dnsName: DNSName, ...(zone !== undefined && { zoneId: zone }) };
}
