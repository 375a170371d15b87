import type { AwsError } from '../client/aws-error';

/** How a batch of instances is registered, and what is done when AWS refuses it. */
export interface Registration {
  send: (ids: readonly string[]) => Promise<void>;
  /** Gives what is left of a refused batch, which is less. @throws what has another cause than single instances */
  without: (ids: readonly string[], refusal: unknown) => Promise<string[]>;
}

/**
 * AWS refuses a whole batch for one instance that is gone, does not run or is in another VPC: the others must not wait for that.
 * @returns the instances that are registered now
 */
export async function registerTakeable(batch: readonly string[], { send, without }: Registration): Promise<readonly string[]> {
  let ids = batch;
  while (ids.length > 0) {
    try {
      await send(ids);
      return ids;
    } catch (refusal) {
      ids = await without(ids, refusal);
    }
  }
  return ids;
}

/**
 * What of a batch can be registered without those for which AWS has refused it. Where EC2 knows nothing against any of them, as right after one has
 * stopped, those that the refusal names are left out. Pure.
 * @param takeable as EC2 has it
 * @throws `refusal` when it has another cause than single instances
 */
export function othersOf(batch: readonly string[], refusal: AwsError, takeable: readonly string[]): string[] {
  const can = new Set(takeable);
  const others = batch.filter((id) => can.has(id));
  if (others.length < batch.length) return others;
  const named = new Set(refusal.message.match(/\bi-[0-9a-f]+/g));
  const rest = batch.filter((id) => !named.has(id));
  if (rest.length === batch.length) throw refusal;
  return rest;
}
