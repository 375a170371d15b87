import type { LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { NotInService } from '../provider';
import type { ElbV2 } from './client/elbv2';

/** Cloud.notInService: AWS says of each Network Load Balancer how far it is; a Classic one has no such state. */
export async function notInService(elb: Pick<ElbV2, 'loadBalancers'>): Promise<Map<string, NotInService>> {
  const found = new Map<string, NotInService>();
  for (const balancer of await elb.loadBalancers()) {
    const state = stateOf(balancer);
    if (state !== undefined) found.set(balancer.DNSName ?? '', state);
  }
  return found;
}

/** In words, by AWS's state; what is not here is in service. */
const STATES: Readonly<Record<string, (name: string, because: string) => NotInService>> = {
  provisioning: () => ({
    reason: 'Provisioning',
    message: 'AWS is still bringing it into service, which takes some minutes; clients may not reach it until then',
  }),
  failed: (name, because) => ({
    reason: 'Failed',
    message: `AWS could not bring it into service${because}. Delete the load balancer ${name} in AWS; the look for drift then has it made again`,
  }),
  active_impaired: (_name, because) => ({
    reason: 'Impaired',
    message: `AWS lacks what it needs to let it grow${because}. See that each of its subnets has eight free addresses`,
  }),
};

function stateOf({ State, LoadBalancerName: name = '' }: LoadBalancer): NotInService | undefined {
  const reason = State?.Reason ?? '';
  return STATES[State?.Code ?? 'active']?.(name, reason === '' ? '' : ` (${reason})`);
}
