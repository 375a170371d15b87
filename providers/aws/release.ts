import { OperatorError } from '../../operator/base/errors';
import type { DiscoveredResource } from '../provider';
import { chunks } from './client/chunks';
import { discover } from './discover';
import type { Api } from './resources/description';
import { NEXT_HOP } from './resources/next-hop';
import { route } from './resources/route';
import { ROUTE_MARK_PREFIX } from './route-marks';
import type { RouteScope } from './routes';
import { TAG } from './tags';

/** The most resources of one tagging call. */
const BATCH = 20;

/**
 * Marks everything of a stack as nobody's: it is discovered, adopted and deleted no more. Of a route, our mark goes.
 * @param isValid asked as the last statement before each write
 * @throws OperatorError Canceled when we may not write any more; what is marked by then stays marked
 */
export async function release(
  clients: Pick<Api, 'ec2' | 'elb'>,
  { scope, stack }: { scope: RouteScope; stack: string },
  isValid: () => boolean,
): Promise<void> {
  const assertValid = (): void => {
    if (!isValid()) throw new OperatorError('Canceled', `stack ${stack} is not released: nothing may be written to the cloud now`);
  };
  const found = (await discover({ ...clients, options: {} }, scope, [stack])).get(stack) ?? [];
  const tag = { Key: TAG.released, Value: 'true' };
  const [hops, ofElb] = [found.filter(({ type }) => type === NEXT_HOP), found.filter(isElb)];
  const ofEc2 = found.filter((resource) => !isElb(resource) && resource.type !== NEXT_HOP && resource.type !== route.token);
  for (const { id, inputs } of hops) {
    await clients.ec2.deleteTags([inputs.instanceId as string], [`${ROUTE_MARK_PREFIX}${id.replace(' ', '/')}`], { assertValid });
  }
  for (const batch of chunks(ofElb, BATCH)) {
    await clients.elb.addTags({ ResourceArns: batch.map(({ id }) => id), Tags: [tag] }, { assertValid });
  }
  for (const batch of chunks(ofEc2, BATCH)) {
    await clients.ec2.createTags(
      batch.map(({ id }) => id),
      [tag],
      { assertValid },
    );
  }
}

function isElb({ type }: DiscoveredResource): boolean {
  return type.startsWith('aws:lb/');
}
