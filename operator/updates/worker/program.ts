import { AsyncLocalStorage } from 'node:async_hooks';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { JsonObject } from '../../base/json';
import { isLostEngine } from '../failure';
import type { WorkerModule } from '../../../providers/worker-module';

/** A provider's program as the Automation API runs it, watched: what it throws and whether it came to an end is known exactly. */
export class WatchedProgram {
  private static readonly current = new AsyncLocalStorage<WatchedProgram>();
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

  /** The program that began what is going on, maybe long ago, such as a call to an engine that has gone; undefined = none, or it can't be told. */
  static behind(): WatchedProgram | undefined {
    return WatchedProgram.current.getStore();
  }

  readonly run = (): Promise<Record<string, unknown>> => WatchedProgram.current.run(this, () => this.runWatched());

  private async runWatched(): Promise<Record<string, unknown>> {
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
  }

  /** Records the first thing that went wrong in the program. */
  fail(thrown: unknown): void {
    this.failure ??= thrown instanceof OperatorError ? thrown : failureOf(thrown);
  }
}

/** A bug in a program doesn't heal by itself, so trying again at the pace of transient failures would be noise; a connection that was lost does. */
function failureOf(thrown: unknown): OperatorError {
  const error = toOperatorError(thrown);
  const code = error.code === 'Transient' || isLostEngine(thrown) ? 'Transient' : 'Invalid';
  return new OperatorError(code, `the program failed: ${error.message}`, { cause: thrown });
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
