import type { EC2 } from '@aws-sdk/client-ec2';
import { fieldsOf, refusal, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/** Only running instances become targets, and one that can't refuses the whole call. moto takes what it never heard of. */
export function registerUnknownInstance(): Rule {
  return {
    async before(call, { ec2 }) {
      const ids = registeredBy(call);
      if (ids.length === 0) return undefined;
      const code = call.service === 'elb' ? 'InvalidInstance' : 'InvalidTarget';
      const states = await statesOf(ec2, ids);
      const unknown = ids.filter((id) => !states.has(id) || states.get(id) === 'terminated');
      if (unknown.length > 0) return refusal(code, `The following targets are not valid instances: '${unknown.join("', '")}'`);
      const stopped = ids.filter((id) => states.get(id) !== 'running');
      if (stopped.length === 0) return undefined;
      return refusal(code, `The following targets are not in a running state and cannot be registered: '${stopped.join("', '")}'`);
    },
  };
}

/** A target group has so many targets at most, a Classic load balancer so many instances: a call that breaks this registers none. moto has no end. */
export function targetQuota(quota: number): Rule {
  return {
    async before(call, moto) {
      const asked = registeredBy(call);
      if (asked.length === 0) return undefined;
      const there = await (call.service === 'elb' ? instancesOf(call, moto) : targetsOf(call, moto));
      if (new Set([...there, ...asked]).size <= quota) return undefined;
      return call.service === 'elb'
        ? refusal('TooManyInstances', `There are more than ${quota} instances`)
        : refusal('TooManyTargets', `The following targets exceed the quota of ${quota}`);
    },
  };
}

async function targetsOf({ parameters }: ModelCall, { elb }: MotoState): Promise<string[]> {
  const { TargetHealthDescriptions = [] } = await elb.describeTargetHealth({ TargetGroupArn: parameters.get('TargetGroupArn') ?? '' });
  return TargetHealthDescriptions.map(({ Target }) => Target?.Id ?? '');
}

async function instancesOf({ parameters }: ModelCall, { classic }: MotoState): Promise<string[]> {
  const names = [parameters.get('LoadBalancerName') ?? ''];
  const { LoadBalancerDescriptions = [] } = await classic.describeLoadBalancers({ LoadBalancerNames: names });
  return (LoadBalancerDescriptions[0]?.Instances ?? []).map(({ InstanceId = '' }) => InstanceId);
}

function registeredBy(call: ModelCall): string[] {
  if (call.action === 'RegisterTargets') return [...new Set(fieldsOf(call, 'Targets', 'Id'))];
  return call.action === 'RegisterInstancesWithLoadBalancer' ? fieldsOf(call, 'Instances', 'InstanceId') : [];
}

/** A target that isn't there is deregistered already. moto refuses the call, for ever. */
export function deregisterUnknownTarget(): Rule {
  return {
    async before(call, { elb }) {
      if (call.service !== 'elbv2' || call.action !== 'DeregisterTargets') return undefined;
      const { parameters } = call;
      const TargetGroupArn = parameters.get('TargetGroupArn') ?? '';
      const { TargetHealthDescriptions = [] } = await elb.describeTargetHealth({ TargetGroupArn });
      const there = new Set(TargetHealthDescriptions.map(({ Target }) => Target?.Id));
      const asked = fieldsOf(call, 'Targets', 'Id');
      const kept = asked.filter((id) => there.has(id));
      if (kept.length === asked.length) return undefined;
      if (kept.length === 0) return DEREGISTERED;
      for (const key of [...parameters.keys()]) if (key.startsWith('Targets.')) parameters.delete(key);
      kept.forEach((id, index) => parameters.set(`Targets.member.${index + 1}.Id`, id));
      return undefined;
    },
  };
}

const DEREGISTERED = {
  status: 200,
  body: '<DeregisterTargetsResponse><DeregisterTargetsResult/><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></DeregisterTargetsResponse>',
};

/** By id; those that AWS never had are absent. */
async function statesOf(ec2: EC2, ids: string[]): Promise<Map<string, string>> {
  const { Reservations = [] } = await ec2.describeInstances({ Filters: [{ Name: 'instance-id', Values: ids }] });
  const found = Reservations.flatMap(({ Instances = [] }) => Instances);
  return new Map(found.map(({ InstanceId = '', State }) => [InstanceId, State?.Name ?? '']));
}
