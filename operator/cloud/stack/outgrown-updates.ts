import { OperatorError } from '../../base/errors';
import type { StackUpdate } from '../../updates/update';
import { hashWithoutTargets, type WithoutTargets } from './hash-without-targets';

/** Of a stack: more than a bisection of its candidates has steps. */
const KEPT = 64;

/** The state of an update grew too large on the way, so that it was stopped and undone: it would come to the same each time. */
export class StateOutgrown extends OperatorError {
  constructor({ code, message, remedy, reason }: OperatorError) {
    const until =
      'The same is not tried again by itself, but when something of the stack or of the operator’s program changes, or somebody asks for it';
    super(code, message, {
      ...(reason !== undefined && { reason }),
      remedy: `${remedy === undefined ? '' : `${remedy}. `}${until} (kubectl cloud reconcile)`,
    });
  }
}

/** Updates whose state outgrew its store's limit. Forgotten in a restart: each is then tried once more. */
export class OutgrownUpdates {
  /** By stack: hash of the update → how it ended. */
  private readonly ended = new Map<string, Map<string, OperatorError>>();

  /**
   * @param withoutTargets since Nodes come and go all the time, and decide little of a state's size
   * @throws StateOutgrown where the same has ended so before
   */
  assertFits(update: StackUpdate, withoutTargets: WithoutTargets): void {
    const known = this.ended.get(update.stack)?.get(hashWithoutTargets(update, withoutTargets));
    if (known !== undefined) throw new StateOutgrown(known);
  }

  /** An update has failed after it had begun. @returns the failure; where its state had outgrown the limit, one that says what follows from that */
  failed(update: StackUpdate, error: OperatorError, withoutTargets: WithoutTargets): OperatorError {
    if (error.reason !== 'StateTooLarge') return error;
    const ofStack = this.ended.get(update.stack) ?? new Map<string, OperatorError>();
    this.ended.set(update.stack, ofStack.set(hashWithoutTargets(update, withoutTargets), error));
    const [longestAgo = ''] = ofStack.keys();
    if (ofStack.size > KEPT) ofStack.delete(longestAgo);
    return new StateOutgrown(error);
  }

  /** Somebody asks for the stack as it is, or it is gone. */
  forget(stack: string): void {
    this.ended.delete(stack);
  }
}
