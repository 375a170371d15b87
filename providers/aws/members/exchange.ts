import { toOperatorError } from '../../../operator/base/errors';

/**
 * Registers who comes before the others go, so that traffic always has somewhere to go; where the quota has no room for both, the others go first.
 * @param register may be called twice: what the first call registered is there already
 * @param deregister gives how many writes it took
 * @returns what `register` gave, and those writes
 * @throws what the two throw
 */
export async function exchange<T>(register: () => Promise<T>, deregister: () => Promise<number>): Promise<[T, number]> {
  let registered: T;
  try {
    registered = await register();
  } catch (refusal) {
    const writes = toOperatorError(refusal).code === 'Quota' ? await deregister() : 0;
    if (writes === 0) throw refusal;
    return [await register(), writes];
  }
  return [registered, await deregister()];
}
