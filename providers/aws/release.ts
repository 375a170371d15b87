import { OperatorError } from '../../operator/base/errors';
import type { DiscoveredResource } from '../provider';
import { chunks } from './client/chunks';
import { discover } from './discover';
import { classicLoadBalancer } from './resources/classic-load-balancer';
import type { Api } from './resources/description';
import { NEXT_HOP } from './resources/next-hop';
import { route } from './resources/route';
import { ROUTE_MARK_PREFIX } from './routes/route-marks';
import type { RouteScope } from './routes/routes';
import { TAG } from './tags';

/** The most resources of one tagging call. */
const BATCH = 20;

/**
 * Marks everything of a stack as nobody's: it is discovered, adopted and deleted no more. Of a route, our mark goes. What bears no mark of ours (a
 * listener's further certificates, routes that lead nowhere) is nobody's as it is, and AWS would refuse a whole batch for it.
 * @param isValid asked as the last statement before each write
 * @throws OperatorError Canceled when we may not write any more; what is marked by then stays marked
 */
export async function release(
  clients: Omit<Api, 'options'>,
  { scope, stack }: { scope: RouteScope; stack: string },
  isValid: () => boolean,
): Promise<void> {
  const assertValid = (): void => {
    if (!isValid()) throw new OperatorError('Canceled', `stack ${stack} is not released: nothing may be written to the cloud now`);
  };
  const all = (await discover({ ...clients, options: {} }, scope, [stack])).get(stack) ?? [];
  const found = all.filter(({ unmarked }) => unmarked !== true);
  const tag = { Key: TAG.released, Value: 'true' };
  const ofKind = (prefix: string): DiscoveredResource[] => found.filter(({ type }) => type.startsWith(prefix) && type !== route.token);
  const [ofElb, ofClassic] = [ofKind('aws:lb/'), ofKind(classicLoadBalancer.token)];
  const ofEc2 = [...ofKind('aws:ec2/'), ...ofKind('aws:vpc/')];
  for (const { id, inputs } of ofKind(NEXT_HOP)) {
    await clients.ec2.deleteTags([inputs.instanceId as string], [`${ROUTE_MARK_PREFIX}${id.replace(' ', '/')}`], { assertValid });
  }
  for (const batch of chunks(ofElb, BATCH)) {
    await clients.elb.addTags({ ResourceArns: batch.map(({ id }) => id), Tags: [tag] }, { assertValid });
  }
  // Of these one call takes one alone.
  for (const { id } of ofClassic) await clients.classic.addTags({ LoadBalancerNames: [id], Tags: [tag] }, { assertValid });
  for (const batch of chunks(ofEc2, BATCH)) {
    await clients.ec2.createTags(
      batch.map(({ id }) => id),
      [tag],
      { assertValid },
    );
  }
}
