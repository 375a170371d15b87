import { OperatorError } from '../../../operator/base/errors';
import type { Api } from './description';

/** Ids of subnets. */
interface Change {
  has: readonly string[];
  wanted: readonly string[];
}

/** One call: AWS takes all of its subnets or none. */
export interface SubnetStep {
  does: 'Attach' | 'Detach';
  subnets: string[];
}

/**
 * Brings a Classic load balancer to other subnets. It has at most one in each zone and never none, so one of another zone is there while two of the
 * same zone change places; that zone is without an address of it for as long as the two calls take.
 * @throws OperatorError Invalid where its only subnet would change places with one of the same zone, which AWS lets nobody do
 */
export async function changeSubnets(name: string, { has, wanted }: Change, { classic, ec2, options }: Api): Promise<void> {
  const moved = [...has.filter((id) => !wanted.includes(id)), ...wanted.filter((id) => !has.includes(id))];
  if (moved.length === 0) return;
  const found = await ec2.subnets([{ Name: 'subnet-id', Values: moved }], options);
  const zones = new Map(found.map(({ SubnetId = '', AvailabilityZone = '' }) => [SubnetId, AvailabilityZone]));
  for (const { does, subnets } of stepsOf(name, { has, wanted }, zones)) {
    const input = { LoadBalancerName: name, Subnets: subnets };
    await (does === 'Attach' ? classic.attachSubnets(input, options) : classic.detachSubnets(input, options));
  }
}

/**
 * The calls, in their order. Pure.
 * @param zones of the subnets that come and go; one that EC2 has none for shares no zone
 * @throws OperatorError Invalid where there is no such order
 */
export function stepsOf(name: string, { has, wanted }: Change, zones: ReadonlyMap<string, string>): SubnetStep[] {
  const fresh = wanted.filter((id) => !has.includes(id));
  const gone = has.filter((id) => !wanted.includes(id));
  const rivalOf = (id: string): string | undefined => gone.find((old) => zones.get(old) !== undefined && zones.get(old) === zones.get(id));
  const pairs = fresh.map((id) => ({ id, rival: rivalOf(id) }));
  const free = pairs.filter(({ rival }) => rival === undefined).map(({ id }) => id);
  const swaps = pairs.flatMap(({ id, rival }) => (rival === undefined ? [] : [{ id, rival }]));
  const [swap] = swaps;
  if (swap !== undefined && has.length === 1 && free.length === 0) throw onlyOne(name, swap, zones.get(swap.id) ?? '');
  const left = gone.filter((id) => !swaps.some(({ rival }) => rival === id));
  const steps: SubnetStep[] = [
    { does: 'Attach', subnets: free },
    ...swaps.flatMap(({ id, rival }): SubnetStep[] => [
      { does: 'Detach', subnets: [rival] },
      { does: 'Attach', subnets: [id] },
    ]),
    { does: 'Detach', subnets: left },
  ];
  return steps.filter(({ subnets }) => subnets.length > 0);
}

function onlyOne(name: string, { id, rival }: { id: string; rival: string }, zone: string): OperatorError {
  const message = `the Classic load balancer ${name} can't move from its only subnet ${rival} to ${id}: both are in zone ${zone}, of which it may have one, and it may not be without any`;
  const remedy = `Name ${rival} beside a subnet of another zone first, and then ${id} in its place; or write spec.aws.type: Network, which replaces it.`;
  return new OperatorError('Invalid', `${message}. ${remedy}`, { field: 'spec.aws.subnets', remedy });
}
