import type { JsonObject } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import type { Whole } from './part-of-resource';

/** What stacks have parts of. */
export interface SharedWhole extends Pick<DiscoveredResource, 'type' | 'sharedLists'> {
  /** All that is in it, as programs would want it. Pure. */
  readonly inputsOf: (whole: Whole) => JsonObject;
}

/**
 * Something of which stacks have parts that bear no marks: whose they are only a stack's state can tell. So the whole is given to all stacks, unmarked, and
 * counts for those that have something of it. One read, and none where neither it nor a stack is named.
 */
export async function discoverPart(
  arm: ArmClient,
  id: string | undefined,
  stacks: readonly string[],
  { inputsOf, ...shared }: SharedWhole,
): Promise<{ stack: string; resource: DiscoveredResource }[]> {
  const whole = id === undefined || stacks.length === 0 ? undefined : await arm.get<Whole>(id);
  if (id === undefined || whole === undefined) return [];
  const resource: DiscoveredResource = { ...shared, name: '', id, inputs: inputsOf(whole), outputs: {}, unmarked: true };
  return stacks.map((stack) => ({ stack, resource }));
}
