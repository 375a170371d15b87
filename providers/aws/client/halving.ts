import { toOperatorError } from '../../../operator/base/errors';
import { chunks } from './chunks';

/**
 * Asks of many by one call, which AWS refuses whole where one of them is gone: then by halves, so that what is gone is left out and the others are told of.
 * @param ask throws OperatorError NotFound where one of them is gone
 */
export async function byHalves<T>(
  ids: readonly string[],
  ask: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<Map<string, T>> {
  if (ids.length === 0) return new Map();
  try {
    return new Map(await ask(ids));
  } catch (thrown) {
    if (toOperatorError(thrown).code !== 'NotFound') throw thrown;
    if (ids.length === 1) return new Map();
    const middle = Math.ceil(ids.length / 2);
    const first = await byHalves(ids.slice(0, middle), ask);
    return new Map([...first, ...(await byHalves(ids.slice(middle), ask))]);
  }
}

/** The same of more than one call takes. */
export async function byHalvesOfBatches<T>(
  ids: readonly string[],
  size: number,
  ask: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (const batch of chunks(ids, size)) {
    for (const [id, answer] of await byHalves(batch, ask)) found.set(id, answer);
  }
  return found;
}
