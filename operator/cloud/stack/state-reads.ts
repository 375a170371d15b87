import type { Clock } from '../../base/clock';
import { OperatorError, toOperatorError } from '../../base/errors';
import { foreignState } from '../../updates/ownership';
import type { StackState, Updates } from '../../updates/update';

/** Reasons of a store, or of its keys, that is in trouble as a whole, whatever the class. */
const OF_THE_STORE: readonly string[] = ['StateStoreUnavailable', 'StateKeyUnavailable'];
/** A store that has just failed is asked again after this long, by one at a time. */
const PROBE_MS = 2_000;

/** The failure is the state store's or its keys', and not a stack's. Pure. */
export function isOfTheStore({ reason }: OperatorError): boolean {
  return OF_THE_STORE.includes(reason ?? '');
}

export interface StateReadsOptions {
  updates: Pick<Updates, 'state'>;
  clusterID: string;
  clock: Pick<Clock, 'monotonic'>;
  /** The store is back: these stacks could not be read meanwhile. */
  onBack: (stacks: string[]) => void;
}

/**
 * Reads what is stored of the stacks. While the store as a whole is in trouble, one read at a time finds out whether it is back; the others fail at once
 * with what it said, so that a store which doesn't answer holds up nobody who needs it for nothing but to learn that.
 */
export class StateReads implements Pick<Updates, 'state'> {
  private trouble: { stack: string; error: OperatorError; at: number } | undefined;
  private probing = false;
  /** Stacks that the trouble kept from being read. */
  private readonly waiting = new Set<string>();
  /** Stacks that failed while another one could be read: until they can be, their failures say nothing of the store. */
  private readonly alone = new Set<string>();
  /** Failures that left a stack's state unread. */
  private readonly failures = new WeakSet<OperatorError>();

  constructor(private readonly options: StateReadsOptions) {}

  /** @throws OperatorError also for another cluster's, such as of a restored backup: nothing that it says is followed */
  async state(stack: string): Promise<StackState | undefined> {
    const { trouble } = this;
    if (trouble === undefined) return this.read(stack);
    if (this.probing || this.options.clock.monotonic() - trouble.at < PROBE_MS) {
      this.waiting.add(stack);
      throw this.unread(unasked(stack, trouble));
    }
    this.probing = true;
    try {
      return await this.read(stack);
    } finally {
      this.probing = false;
    }
  }

  /** A pass failed with this because a stack's state could not be read: what there is in the cloud is not known to be wrong. */
  isUnread(error: OperatorError): boolean {
    return this.failures.has(error);
  }

  private async read(stack: string): Promise<StackState | undefined> {
    try {
      const state = await this.options.updates.state(stack);
      this.isBack();
      this.alone.delete(stack);
      if (state === undefined || state.clusterID === this.options.clusterID) return state;
      throw foreignState(stack, state.clusterID, this.options.clusterID);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (isOfTheStore(error) && !this.alone.has(stack)) {
        this.trouble = { stack, error, at: this.options.clock.monotonic() };
        this.waiting.add(stack);
      }
      throw this.unread(error);
    }
  }

  /** Whoever failed last is asked for once more, as the others are: whether the store was away, or fails for that one alone, its next read tells. */
  private isBack(): void {
    if (this.trouble === undefined) return;
    const { stack: failed } = this.trouble;
    this.trouble = undefined;
    this.alone.add(failed);
    const stacks = [...this.waiting];
    this.waiting.clear();
    this.options.onBack(stacks);
  }

  private unread(error: OperatorError): OperatorError {
    this.failures.add(error);
    return error;
  }
}

/** What the store said names the object that it was asked for. */
function unasked(stack: string, { stack: asked, error: cause }: { stack: string; error: OperatorError }): OperatorError {
  const { code, message, reason, remedy } = cause;
  return new OperatorError(code, `the state of stack ${stack} is read when that of stack ${asked} can be, which just failed: ${message}`, {
    ...(reason === undefined ? {} : { reason }),
    ...(remedy === undefined ? {} : { remedy }),
    cause,
  });
}
