import type { EC2, Instance } from '@aws-sdk/client-ec2';
import { fieldsOf, refusal, type ModelAnswer, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/** Only running instances of the same VPC become targets, and one that can't refuses the whole call. moto takes what it never heard of. */
export function registerUnknownInstance(): Rule {
  return {
    async before(call, moto) {
      const ids = registeredBy(call);
      if (ids.length === 0) return undefined;
      const code = call.service === 'elb' ? 'InvalidInstance' : 'InvalidTarget';
      const found = await instancesOf(moto.ec2, ids);
      const unknown = ids.filter((id) => (found.get(id)?.State?.Name ?? 'terminated') === 'terminated');
      if (unknown.length > 0) return refusal(code, `The following targets are not valid instances: '${unknown.join("', '")}'`);
      const idle = ids.filter((id) => found.get(id)?.State?.Name !== 'running');
      if (idle.length > 0) return notRunning(code, idle);
      const vpc = await vpcOf(call, moto);
      const far = ids.filter((id) => found.get(id)?.VpcId !== vpc);
      return far.length === 0 ? undefined : refusal(code, `The following targets are not in the VPC '${vpc}': '${far.join("', '")}'`);
    },
  };
}

/**
 * Instances on their way from one state to the next, which can't be registered; moto's are there at once.
 * @param states of instances by their ids; a test changes them
 * @param isTold whether EC2 says so too by now
 */
export function instancesOnTheirWay(states: ReadonlyMap<string, string>, isTold: () => boolean = () => true): Rule {
  return {
    before(call) {
      const idle = registeredBy(call).filter((id) => states.has(id));
      return idle.length === 0 ? undefined : notRunning(call.service === 'elb' ? 'InvalidInstance' : 'InvalidTarget', idle);
    },
    after({ action }, answer) {
      if (action !== 'DescribeInstances' || !isTold()) return answer;
      const body = [...states].reduce((text, [id, state]) => {
        const stateOf = new RegExp(`(<instanceId>${id}</instanceId>[\\s\\S]*?<instanceState>[\\s\\S]*?<name>)[^<]*`);
        return text.replace(stateOf, `$1${state}`);
      }, answer.body);
      return { ...answer, body };
    },
  };
}

function notRunning(code: string, ids: readonly string[]): ModelAnswer {
  return refusal(code, `The following targets are not in a running state and cannot be registered: '${ids.join("', '")}'`);
}

async function vpcOf({ service, parameters }: ModelCall, { elb, classic }: MotoState): Promise<string | undefined> {
  if (service === 'elb') {
    const names = [parameters.get('LoadBalancerName') ?? ''];
    return (await classic.describeLoadBalancers({ LoadBalancerNames: names })).LoadBalancerDescriptions?.[0]?.VPCId;
  }
  const arns = [parameters.get('TargetGroupArn') ?? ''];
  return (await elb.describeTargetGroups({ TargetGroupArns: arns })).TargetGroups?.[0]?.VpcId;
}

/** A target group has so many targets at most, a Classic load balancer so many instances: a call that breaks this registers none. moto has no end. */
export function targetQuota(quota: number): Rule {
  return {
    async before(call, moto) {
      const asked = registeredBy(call);
      if (asked.length === 0) return undefined;
      const there = await (call.service === 'elb' ? membersOf(call, moto) : targetsOf(call, moto));
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

async function membersOf({ parameters }: ModelCall, { classic }: MotoState): Promise<string[]> {
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
async function instancesOf(ec2: EC2, ids: string[]): Promise<Map<string, Instance>> {
  const { Reservations = [] } = await ec2.describeInstances({ Filters: [{ Name: 'instance-id', Values: ids }] });
  const found = Reservations.flatMap(({ Instances = [] }) => Instances);
  return new Map(found.map((instance) => [instance.InstanceId ?? '', instance]));
}
