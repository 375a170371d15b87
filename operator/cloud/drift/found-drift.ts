import type { Drift } from '../../../crds';
import { OperatorError } from '../../base/errors';
import type { MemberInput } from '../stack/member-input';
import type { ConnectedCloud } from '../providers/registry';
import type { Member, StackKind } from '../stack/stack-kind';

/** What was found changed in the cloud and is to be brought back, by stack. */
export class FoundDrift<O extends Member> {
  private readonly found = new Map<string, Drift[]>();

  constructor(private readonly kind: Pick<StackKind<O>, 'attribute'>) {}

  add(stack: string, drift: Drift[]): void {
    this.found.set(stack, drift);
  }

  /** The stack is to be updated even when its inputs are the stored ones. */
  has(stack: string): boolean {
    return this.found.has(stack);
  }

  /** It was healed, or the stack is no more. */
  forget(stack: string): void {
    this.found.delete(stack);
  }

  /** UIDs of the inputs that lost something; all of them where that can't be told, such as for a shared resource. */
  concerned(stack: string, inputs: MemberInput[], cloud: ConnectedCloud): string[] {
    const blamed = (this.found.get(stack) ?? []).map(({ urn }) => {
      const uids = this.kind.attribute(new OperatorError('Unknown', '', { resource: urn }), inputs, cloud);
      return uids.length > 0 ? uids : inputs.map(({ uid }) => uid);
    });
    return [...new Set(blamed.flat())];
  }
}
