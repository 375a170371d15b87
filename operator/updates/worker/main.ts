import { join } from 'node:path';
// Loaded before the first request: it takes half a second.
import '@pulumi/pulumi';
import { toOperatorError } from '../../base/errors';
import { killOthers, killSession } from '../process-session';
import { toWire, type WorkerCommand, type WorkerEvent } from '../protocol';
import { removeWorkerFolder } from '../worker-folder';
import { StateEndpoint } from './endpoint/endpoint';
import { guardProcess } from './guards';
import { WatchedProgram } from './program';
import { type RunContext, UpdateRun } from './update-run';
import { Validity } from './validity';

/**
 * A worker process: runs one update at a time for the operator at the other end of its IPC channel, and ends with that channel,
 * taking engine and plugins with it: nothing that it started may outlive the operator. Arguments: folder of its own (makeWorkerFolder), path of the Pulumi CLI, version of the CLI.
 */
class Worker {
  readonly #validity = new Validity();
  readonly #endpoint = new StateEndpoint();
  #run: UpdateRun | undefined;
  /** Something of an earlier update has gone wrong since: who knows what else of it goes on. */
  #polluted = false;

  constructor(
    private readonly folder: string,
    private readonly engine: RunContext['engine'],
  ) {}

  async start(): Promise<void> {
    guardProcess(
      (thrown) => this.#stray(thrown),
      () => this.#isLeftover(),
    );
    await this.#endpoint.listen();
    process.on('message', (command) => this.#take(command as WorkerCommand));
    process.on('disconnect', () => this.#endAlone());
    send({ type: 'ready', rssBytes: process.memoryUsage.rss() });
  }

  /** The operator has gone, which would have done this: whatever fails here, nothing that was started for an update goes on. */
  #endAlone(): void {
    try {
      // Before the folder, which an engine that lives fills while it is being removed.
      killOthers(process.pid);
      removeWorkerFolder(this.folder, { warn: () => undefined });
    } finally {
      process.kill(-process.pid, 'SIGKILL');
    }
  }

  #take(command: WorkerCommand): void {
    if (command.type === 'validity') this.#extend(command.validUntil);
    else if (command.type === 'cancel') this.#run?.cancel(command.reason);
    else if (command.type === 'run') void this.#execute(command.request);
    else if (command.id === this.#run?.id) this.#run.answered(command);
  }

  #extend(validUntil: number): void {
    this.#validity.extend(validUntil);
    send({ type: 'alive' });
  }

  async #execute(request: Extract<WorkerCommand, { type: 'run' }>['request']): Promise<void> {
    this.#validity.extend(request.validUntil);
    const folders = { home: join(this.folder, 'home'), work: join(this.folder, 'work'), temporary: join(this.folder, 'tmp') };
    const run = new UpdateRun(request, { endpoint: this.#endpoint, folders, engine: this.engine, validity: this.#validity, emit: send });
    this.#run = run;
    try {
      const result = await run.execute();
      this.#run = undefined;
      send({ type: 'done', id: request.id, ...result, ...this.#health(run) });
    } catch (thrown) {
      this.#run = undefined;
      send({ type: 'failed', id: request.id, error: toWire(toOperatorError(thrown)), ...this.#health(run) });
    }
  }

  /** What is going on was begun by the program of an earlier update. */
  #isLeftover(): boolean {
    const program = WatchedProgram.behind();
    return program !== undefined && this.#run?.runs(program) !== true;
  }

  /**
   * Something that nobody caught: the running program's fault, unless an earlier update began it. Without one that runs, this worker is not to be
   * trusted any more.
   */
  #stray(thrown: unknown): void {
    process.stderr.write(`uncaught in the worker: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
    if (this.#run === undefined) killSession(process.pid);
    else if (this.#isLeftover()) this.#polluted = true;
    else this.#run.blameProgram(thrown);
  }

  #health(run: UpdateRun): { rssBytes: number; tainted: boolean } {
    return { rssBytes: process.memoryUsage.rss(), tainted: run.tainted || this.#polluted };
  }
}

function send(event: WorkerEvent): void {
  if (process.connected) process.send?.(event);
}

const [folder = '', path = '', version = ''] = process.argv.slice(2);
void new Worker(folder, { path, version }).start();
