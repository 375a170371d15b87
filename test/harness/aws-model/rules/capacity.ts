import { refusal, type ModelAnswer } from '../call';
import type { Rule } from '../rule';

/** What has become of the requests so far; a test changes it while the rule serves. */
export interface CapacityGrants {
  state: 'pending' | 'provisioned' | 'failed';
}

/**
 * Capacity that is kept for a load balancer: asked for, changed once the last request has come to an end, and reset. moto knows no such request, and tells
 * of every load balancer that all is provisioned.
 */
export function capacityReservations(grants: CapacityGrants = { state: 'provisioned' }): Rule {
  const reserved = new Map<string, number>();
  return {
    before({ service, action, parameters }) {
      if (service !== 'elbv2' || !/^(Describe|Modify)CapacityReservation$/.test(action)) return undefined;
      const arn = parameters.get('LoadBalancerArn') ?? '';
      if (action === 'ModifyCapacityReservation') {
        if (reserved.has(arn) && grants.state === 'pending') return refusal('CapacityReservationPending', 'A reservation is pending');
        const units = parameters.get('MinimumLoadBalancerCapacity.CapacityUnits');
        if (units === null) reserved.delete(arn);
        else reserved.set(arn, Number(units));
      }
      return answer(action, reserved.get(arn), grants);
    },
  };
}

function answer(action: string, units: number | undefined, { state }: CapacityGrants): ModelAnswer {
  const asked = `<MinimumLoadBalancerCapacity><CapacityUnits>${units}</CapacityUnits></MinimumLoadBalancerCapacity>`;
  const effective = state === 'provisioned' ? units : 0;
  const zone = `<member><State><Code>${state}</Code></State><EffectiveCapacityUnits>${effective}</EffectiveCapacityUnits></member>`;
  const told = units === undefined ? '' : `${asked}<CapacityReservationState>${zone}</CapacityReservationState>`;
  const result = `<${action}Result>${told}</${action}Result>`;
  return {
    status: 200,
    body: `<${action}Response xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/">${result}</${action}Response>`,
  };
}
