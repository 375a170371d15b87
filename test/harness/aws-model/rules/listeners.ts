import type { ElasticLoadBalancingV2, TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { fieldsOf, refusal } from '../call';
import type { Rule } from '../rule';

/** A load balancer has one listener for each port, whatever the protocol. moto makes a second one. */
export function duplicateListener(): Rule {
  return {
    async before({ service, action, parameters }, { elb }) {
      if (service !== 'elbv2' || action !== 'CreateListener') return undefined;
      const LoadBalancerArn = parameters.get('LoadBalancerArn') ?? '';
      const port = Number(parameters.get('Port'));
      const { Listeners = [] } = await elb.describeListeners({ LoadBalancerArn }).catch(() => ({ Listeners: [] }));
      const taken = Listeners.some(({ Port }) => Port === port);
      return taken ? refusal('DuplicateListener', `A listener already exists on port ${port} for this load balancer`) : undefined;
    },
  };
}

/** Protocols of target groups that a listener of a Network Load Balancer may forward to. */
const FORWARDS: Readonly<Record<string, readonly string[]>> = {
  TCP: ['TCP', 'TCP_UDP'],
  TLS: ['TCP', 'TLS'],
  UDP: ['UDP', 'TCP_UDP'],
  TCP_UDP: ['TCP_UDP'],
};

/** A listener's protocol and its target group's must go together. moto takes any. */
export function incompatibleProtocols(): Rule {
  return {
    async before(call, { elb }) {
      if (call.service !== 'elbv2' || !['CreateListener', 'ModifyListener'].includes(call.action)) return undefined;
      const protocol = call.parameters.get('Protocol');
      const arns = fieldsOf(call, 'DefaultActions', 'TargetGroupArn');
      if (protocol === null || arns.length === 0) return undefined;
      const misfit = (await groupsOf(elb, arns)).find(({ Protocol = '' }) => FORWARDS[protocol]?.includes(Protocol) === false);
      if (misfit === undefined) return undefined;
      const message = `Listener protocol '${protocol}' is incompatible with target group protocol '${misfit.Protocol}' of '${misfit.TargetGroupArn}'`;
      return refusal('IncompatibleProtocols', message);
    },
  };
}

async function groupsOf(elb: ElasticLoadBalancingV2, arns: string[]): Promise<TargetGroup[]> {
  const { TargetGroups = [] } = await elb.describeTargetGroups({ TargetGroupArns: arns }).catch(() => ({ TargetGroups: [] }));
  return TargetGroups;
}
