import type { Listener } from '@aws-sdk/client-elastic-load-balancing-v2';
import { z } from 'zod';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { toAwsTags } from '../tags';
import type { Api, Listed, ResourceDescription } from './description';
import { changeElbTags, elbTagsOf, emptyWhenGone, withTags } from './elb-tags';
import { present } from './present';

const IDLE_TIMEOUT = 'tcp.idle_timeout.seconds';
const DEFAULT_IDLE_TIMEOUT = 350;
/** AWS's word for no policy. */
const NO_ALPN = 'None';

const schema = z.strictObject({
  loadBalancerArn: z.string().min(1),
  port: z.number().int(),
  protocol: z.enum(['TCP', 'TLS', 'UDP', 'TCP_UDP']),
  defaultActions: z.array(z.strictObject({ type: z.literal('forward'), targetGroupArn: z.string().min(1) })).length(1),
  certificateArn: z.string().optional(),
  sslPolicy: z.string().optional(),
  alpnPolicy: z.string().optional(),
  /** Only TCP has one. */
  tcpIdleTimeoutSeconds: z.number().int().optional(),
  tags: z.record(z.string(), z.string()),
});
export type ListenerInputs = z.infer<typeof schema>;

/** One port of a load balancer. A load balancer has one for each port, so the old one of a replacement goes first. */
export const listener: ResourceDescription<ListenerInputs, Listener> = {
  token: 'aws:lb/listener:Listener',
  replaceOn: ['loadBalancerArn'],
  schema,

  async create(inputs, { elb, options }) {
    const made = await elb.createListener(
      { LoadBalancerArn: inputs.loadBalancerArn, ...settingsOf(inputs), Tags: toAwsTags(inputs.tags) },
      options,
    );
    const id = made.ListenerArn ?? '';
    await setIdleTimeout(id, DEFAULT_IDLE_TIMEOUT, inputs, { elb, options });
    return { id, observed: { arn: id } };
  },

  async find({ loadBalancerArn, port }, api) {
    const all = await emptyWhenGone(api.elb.listeners({ LoadBalancerArn: loadBalancerArn }, api.options));
    return only(
      all.filter(({ Port }) => Port === port),
      api,
    );
  },

  async byID(id, api) {
    return only(await emptyWhenGone(api.elb.listeners({ ListenerArns: [id] }, api.options)), api);
  },

  tagsOf: elbTagsOf,

  async describe({ id, raw, tags }, { elb, options }) {
    const attributes = raw.Protocol === 'TCP' ? await elb.listenerAttributes(id, options) : {};
    return { inputs: { ...properties(raw, attributes), tags: { ...tags } }, observed: { arn: id } };
  },

  async change(id, has, wanted, api) {
    const { elb, options } = api;
    await changeElbTags(id, has.tags, wanted.tags, api);
    if (canonicalJson(settingsOf(has)) !== canonicalJson(settingsOf(wanted))) {
      await elb.modifyListener({ ListenerArn: id, ...changedSettings(has, wanted) }, options);
    }
    await setIdleTimeout(id, has.tcpIdleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT, wanted, api);
  },

  remove: (id, { elb, options }) => elb.deleteListener({ ListenerArn: id }, options),
};

async function only(found: Listener[], api: Api): Promise<Listed<Listener> | undefined> {
  const [first] = await withTags(found.slice(0, 1), ({ ListenerArn }) => ListenerArn, api);
  return first;
}

interface Settings {
  Port: number;
  Protocol: ListenerInputs['protocol'];
  DefaultActions: { Type: 'forward'; TargetGroupArn: string }[];
  Certificates?: { CertificateArn: string }[];
  SslPolicy?: string;
  AlpnPolicy?: string[];
}

function settingsOf({ port, protocol, defaultActions, certificateArn, sslPolicy, alpnPolicy }: ListenerInputs): Settings {
  return {
    Port: port,
    Protocol: protocol,
    DefaultActions: defaultActions.map(({ targetGroupArn }) => ({ Type: 'forward', TargetGroupArn: targetGroupArn })),
    ...(certificateArn !== undefined && { Certificates: [{ CertificateArn: certificateArn }] }),
    ...(sslPolicy !== undefined && { SslPolicy: sslPolicy }),
    ...(alpnPolicy !== undefined && { AlpnPolicy: [alpnPolicy] }),
  };
}

/** What is not said of a listener of TLS stays as it is. */
function changedSettings(has: ListenerInputs, wanted: ListenerInputs): Settings {
  const goes = wanted.protocol === 'TLS' && has.alpnPolicy !== undefined && wanted.alpnPolicy === undefined;
  return { ...settingsOf(wanted), ...(goes && { AlpnPolicy: [NO_ALPN] }) };
}

/** A listener of another protocol has none. */
async function setIdleTimeout(
  arn: string,
  has: number,
  wanted: ListenerInputs,
  { elb, options }: Pick<Api, 'elb' | 'options'>,
): Promise<void> {
  const { protocol, tcpIdleTimeoutSeconds: seconds = DEFAULT_IDLE_TIMEOUT } = wanted;
  if (protocol !== 'TCP' || seconds === has) return;
  await elb.modifyListenerAttributes({ ListenerArn: arn, Attributes: [{ Key: IDLE_TIMEOUT, Value: String(seconds) }] }, options);
}

function properties(raw: Listener, attributes: Record<string, string>): JsonObject {
  const { LoadBalancerArn = '', Port = 0, Protocol = 'TCP', DefaultActions = [] } = raw;
  return {
    loadBalancerArn: LoadBalancerArn,
    port: Port,
    protocol: Protocol,
    defaultActions: DefaultActions.map(actionOf),
    ...(Protocol === 'TLS' && tlsProperties(raw)),
    ...(Protocol === 'TCP' && { tcpIdleTimeoutSeconds: Number(attributes[IDLE_TIMEOUT] ?? DEFAULT_IDLE_TIMEOUT) }),
  };
}

function tlsProperties({ Certificates, SslPolicy, AlpnPolicy: [alpn = NO_ALPN] = [] }: Listener): JsonObject {
  const alpnPolicy = alpn === NO_ALPN ? undefined : alpn;
  return present({ certificateArn: Certificates?.[0]?.CertificateArn, sslPolicy: SslPolicy, alpnPolicy });
}

function actionOf({ Type = 'forward', TargetGroupArn, ForwardConfig }: NonNullable<Listener['DefaultActions']>[number]): JsonObject {
  return { type: Type, targetGroupArn: TargetGroupArn ?? ForwardConfig?.TargetGroups?.[0]?.TargetGroupArn ?? '' };
}
