import type { Store } from '../../kube/api';
import { inCloudOf, leverOn, type ProviderLevers } from '../levers';
import { keyOfInput, type MemberInput } from '../stack/member-input';
import type { Member } from '../stack/stack-kind';

/** Whether the targets of what a stack of this CloudProvider has made are kept right: an object that is gone has no lever that says otherwise. Pure. */
export function keepsTargets<O extends Member>(
  input: MemberInput,
  provider: string,
  { store, registry }: { store: Pick<Store<O>, 'get'>; registry: ProviderLevers },
): boolean {
  const object = store.get(keyOfInput(input));
  return object?.metadata.uid !== input.uid || leverOn(inCloudOf(provider, object), registry)?.members !== false;
}
