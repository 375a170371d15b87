import { OperatorError } from '../../operator/base/errors';
import type { DiscoveredResource } from '../provider';
import { chunks } from './client/chunks';
import { discover } from './discover';
import type { Api } from './resources/description';
import { TAG } from './tags';

/** The most resources of one tagging call. */
const BATCH = 20;

/**
 * Marks everything of a stack as nobody's: it is discovered, adopted and deleted no more.
 * @param isValid asked as the last statement before each write
 * @throws OperatorError Canceled when we may not write any more; what is marked by then stays marked
 */
export async function release(
  clients: Pick<Api, 'ec2' | 'elb'>,
  { clusterID, stack }: { clusterID: string; stack: string },
  isValid: () => boolean,
): Promise<void> {
  const assertValid = (): void => {
    if (!isValid()) throw new OperatorError('Canceled', `stack ${stack} is not released: nothing may be written to the cloud now`);
  };
  const found = (await discover({ ...clients, options: {} }, clusterID, [stack])).get(stack) ?? [];
  const tag = { Key: TAG.released, Value: 'true' };
  const [ofElb, ofEc2] = [found.filter(isElb), found.filter((resource) => !isElb(resource))];
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
