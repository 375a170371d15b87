import type { TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { fieldsOf, refusal, type ModelAnswer, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/** A check takes no longer than the time between two, with Classic less (aws/aws-cdk#26031; hashicorp/terraform-provider-aws#2366). moto takes any. */
export function paceOfChecks(): Rule {
  return {
    async before(call, moto) {
      const { service, action, parameters } = call;
      if (service === 'elb' && action === 'ConfigureHealthCheck') return refuseClassic(parameters);
      if (service !== 'elbv2' || !['CreateTargetGroup', 'ModifyTargetGroup'].includes(action)) return undefined;
      const there = action === 'ModifyTargetGroup' ? await groupOf(parameters.get('TargetGroupArn'), moto) : undefined;
      return refuseNetwork(parameters, { interval: there?.HealthCheckIntervalSeconds, timeout: there?.HealthCheckTimeoutSeconds });
    },
  };
}

/** @param there what stands, or AWS's defaults */
function refuseNetwork(
  parameters: URLSearchParams,
  there: { interval: number | undefined; timeout: number | undefined },
): ModelAnswer | undefined {
  const interval = Number(parameters.get('HealthCheckIntervalSeconds') ?? there.interval ?? 30);
  const timeout = Number(parameters.get('HealthCheckTimeoutSeconds') ?? there.timeout ?? 10);
  if (!isWithin(interval, 5, 300) || !isWithin(timeout, 2, 120)) return refusal('ValidationError', 'Health check figures are out of range');
  return timeout > interval ? refusal('ValidationError', 'Health check interval must be greater than or equal to the timeout.') : undefined;
}

function refuseClassic(parameters: URLSearchParams): ModelAnswer | undefined {
  const [interval, timeout] = ['Interval', 'Timeout'].map((figure) => Number(parameters.get(`HealthCheck.${figure}`)));
  if (!isWithin(interval, 5, 300) || !isWithin(timeout, 2, 60)) return refusal('ValidationError', 'HealthCheck figures are out of range');
  return (timeout ?? 0) >= (interval ?? 0)
    ? refusal('ValidationError', 'HealthCheck interval must be greater than HealthCheck timeout')
    : undefined;
}

function isWithin(figure = 0, least: number, most: number): boolean {
  return figure >= least && figure <= most;
}

/** What checks of a Network load balancer's target group speak is chosen when the group is made. moto changes it. */
export function protocolOfChecks(): Rule {
  return {
    async before({ service, action, parameters }, moto) {
      const wanted = parameters.get('HealthCheckProtocol');
      if (service !== 'elbv2' || action !== 'ModifyTargetGroup' || wanted === null) return undefined;
      const { Protocol = '', HealthCheckProtocol = wanted } = (await groupOf(parameters.get('TargetGroupArn'), moto)) ?? {};
      if (HealthCheckProtocol === wanted || !['TCP', 'UDP', 'TCP_UDP', 'TLS'].includes(Protocol)) return undefined;
      const words = `You cannot change the health check protocol for a target group with the ${Protocol} protocol`;
      return refusal('InvalidConfigurationRequest', words);
    },
  };
}

/** Where TLS ends at the load balancer or begins behind it, no client stays with one target (hashicorp/terraform-provider-aws#15295). moto allows it. */
export function stickinessOfTLS(): Rule {
  return {
    async before(call, moto) {
      if (call.service !== 'elbv2') return undefined;
      const { action, parameters } = call;
      if (action === 'ModifyTargetGroupAttributes' && asks(call, 'stickiness.enabled', 'true')) {
        const group = await groupOf(parameters.get('TargetGroupArn'), moto);
        return group?.Protocol === 'TLS' ? unsupported() : undefined;
      }
      if (!['CreateListener', 'ModifyListener'].includes(action) || parameters.get('Protocol') !== 'TLS') return undefined;
      for (const TargetGroupArn of fieldsOf(call, 'DefaultActions', 'TargetGroupArn')) {
        const { Attributes = [] } = await moto.elb.describeTargetGroupAttributes({ TargetGroupArn }).catch(() => ({ Attributes: [] }));
        if (Attributes.some(({ Key, Value }) => Key === 'stickiness.enabled' && Value === 'true')) return unsupported();
      }
      return undefined;
    },
  };
}

/** Connections to unhealthy targets are drained only where they are not cut. moto keeps both. */
export function drainingOfUnhealthy(): Rule {
  return {
    async before(call, { elb }) {
      if (call.service !== 'elbv2' || call.action !== 'ModifyTargetGroupAttributes') return undefined;
      const interval = valueOf(call, DRAINS) ?? '0';
      if (interval === '0') return undefined;
      const TargetGroupArn = call.parameters.get('TargetGroupArn') ?? '';
      const { Attributes = [] } = await elb.describeTargetGroupAttributes({ TargetGroupArn }).catch(() => ({ Attributes: [] }));
      const cuts = valueOf(call, CUTS) ?? Attributes.find(({ Key }) => Key === CUTS)?.Value;
      return cuts === 'false' ? undefined : refusal('InvalidConfigurationRequest', `'${DRAINS}' requires '${CUTS}' to be false`);
    },
  };
}

const CUTS = 'target_health_state.unhealthy.connection_termination.enabled';
const DRAINS = 'target_health_state.unhealthy.draining_interval_seconds';

function unsupported(): ModelAnswer {
  return refusal('InvalidConfigurationRequest', 'Stickiness is not supported for target groups with the TLS protocol');
}

function asks(call: ModelCall, key: string, value: string): boolean {
  return valueOf(call, key) === value;
}

function valueOf({ parameters }: ModelCall, key: string): string | undefined {
  const [at] = [...parameters].find(([, text]) => text === key) ?? [];
  return at === undefined ? undefined : (parameters.get(at.replace(/Key$/, 'Value')) ?? undefined);
}

async function groupOf(arn: string | null, { elb }: MotoState): Promise<TargetGroup | undefined> {
  return (await elb.describeTargetGroups({ TargetGroupArns: [arn ?? ''] }).catch(() => ({ TargetGroups: [] }))).TargetGroups?.[0];
}
