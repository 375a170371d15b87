import { OperatorError } from '../../operator/base/errors';
import type { LocalCloudClient, ResourceCollection } from './client';
import { RELEASED } from './resources/description';

const COLLECTIONS: readonly ResourceCollection[] = ['loadbalancers', 'routes', 'pools', 'addresses'];

/**
 * Marks everything of a stack as nobody's: it is discovered, adopted and deleted no more.
 * @param isValid asked as the last statement before each write
 * @throws OperatorError Canceled when we may not write any more; what is marked by then stays marked
 */
export async function release(
  client: LocalCloudClient,
  { clusterID, stack }: { clusterID: string; stack: string },
  isValid: () => boolean,
): Promise<void> {
  const assertValid = (): void => {
    if (!isValid()) throw new OperatorError('Canceled', `stack ${stack} is not released: nothing may be written to the cloud now`);
  };
  for (const collection of COLLECTIONS) {
    const found = await client.list(collection, { cluster: clusterID, stack });
    for (const { id, tags, state } of found) {
      if (tags[RELEASED] !== undefined || state === 'deleting') continue;
      await client.update(collection, id, { tags: { ...tags, [RELEASED]: 'true' } }, { assertValid });
    }
  }
}
