import { OperatorError, toOperatorError } from '../../base/errors';
import type { JsonObject } from '../../base/json';
import type { WorkerModule } from '../../../providers/worker-module';

/** A provider's program as the Automation API runs it, watched: what it throws and whether it came to an end is known exactly. */
export class WatchedProgram {
  /** What the program did wrong, when it did. */
  failure: OperatorError | undefined;
  started = false;
  finished = false;

  constructor(
    private readonly module: WorkerModule,
    /** undefined = destroy: a program without resources. */
    private readonly inputs: JsonObject | undefined,
    private readonly onStart: () => void,
  ) {}

  readonly run = async (): Promise<Record<string, unknown>> => {
    this.started = true;
    this.onStart();
    try {
      return this.inputs === undefined ? {} : checked(await this.module.program(this.inputs));
    } catch (thrown) {
      this.fail(thrown);
      throw thrown;
    } finally {
      this.finished = true;
    }
  };

  /** Records the first thing that went wrong in the program. */
  fail(thrown: unknown): void {
    const error = toOperatorError(thrown);
    // A bug in a program doesn't heal by itself: trying again at the pace of transient failures would be noise.
    this.failure ??=
      thrown instanceof OperatorError ? thrown : new OperatorError('Invalid', `the program failed: ${error.message}`, { cause: thrown });
  }
}

function checked(outputs: unknown): Record<string, unknown> {
  if (typeof outputs === 'object' && outputs !== null && !Array.isArray(outputs)) return outputs as Record<string, unknown>;
  throw new OperatorError(
    'Invalid',
    `the program returned ${outputs === null ? 'null' : typeof outputs} instead of an object with the stack's outputs`,
    {
      remedy: 'return an object, {} when there are no outputs',
    },
  );
}
