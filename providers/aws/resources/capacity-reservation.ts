import type { ZonalCapacityReservationState } from '@aws-sdk/client-elastic-load-balancing-v2';
import { toOperatorError, type OperatorError } from '../../../operator/base/errors';
import { AwsError } from '../client/aws-error';
import type { Api } from './description';

/** Where reservations can't be read: a policy that allows no question after them, a region that has none. */
const UNREADABLE = new Set(['AccessDenied', 'InvalidAction']);

/**
 * Capacity units that are kept for a load balancer; undefined = none were asked for. Of what AWS could not provide only what it has provided counts, so that
 * it is a drift and asked for again. Where it can't be read none are known: who asks for some is told by AWS what is missing.
 */
export async function reservedUnits(arn: string, { elb, options }: Pick<Api, 'elb' | 'options'>): Promise<number | undefined> {
  try {
    const { MinimumLoadBalancerCapacity: asked, CapacityReservationState: zones = [] } = await elb.capacityReservation(arn, options);
    const isFailed = asked !== undefined && zones.some(({ State }) => State?.Code === 'failed');
    return isFailed ? provided(zones) : asked?.CapacityUnits;
  } catch (thrown) {
    const error = toOperatorError(thrown);
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Asks for another reservation, where it is another one; it is not waited for: AWS takes up to hours. */
export async function changeReservation(
  arn: string,
  { has, wanted }: { has?: number | undefined; wanted: number | undefined },
  { elb, options }: Pick<Api, 'elb' | 'options'>,
): Promise<void> {
  if (has === wanted) return;
  const change = wanted === undefined ? { ResetCapacityReservation: true } : { MinimumLoadBalancerCapacity: { CapacityUnits: wanted } };
  await elb.modifyCapacityReservation({ LoadBalancerArn: arn, ...change }, options);
}

function provided(zones: readonly ZonalCapacityReservationState[]): number {
  return zones.reduce((sum, { EffectiveCapacityUnits = 0 }) => sum + EffectiveCapacityUnits, 0);
}

function isUnreadable(error: OperatorError): boolean {
  return error instanceof AwsError && UNREADABLE.has(error.awsCode);
}
