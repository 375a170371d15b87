import { OperatorError } from '../../base/errors';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** While something has to be put back, Ctrl-C ends the work and not the process; a second one ends that. */
export class Interruption {
  private readonly controller = new AbortController();

  constructor() {
    for (const name of SIGNALS) process.once(name, this.interrupt);
  }

  /** Aborted when somebody has interrupted. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** From now on a signal ends the process. */
  end(): void {
    for (const name of SIGNALS) process.removeListener(name, this.interrupt);
  }

  private readonly interrupt = (name: NodeJS.Signals): void =>
    this.controller.abort(new OperatorError('Canceled', `interrupted by ${name}; what was written is put back`));
}
