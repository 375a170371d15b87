import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TargetGroup } from '../../providers/provider';
import { sameChange, type Continue } from '../base/change';
import type { Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import { compileCache, NODE_FLAGS } from '../base/node-flags';
import type { Logger } from '../base/log';
import { compiled } from '../entry';
import type { Account } from './limits/account';
import type { CallPriority } from './limits/call-priority';
import {
  type DoneEvent,
  type FailedEvent,
  fromWire,
  type StoreEvent,
  type SyncTargetsEvent,
  toWire,
  type UpdateRequest,
  type WorkerCommand,
  type WorkerEvent,
} from './protocol';
import type { ProcessLedger } from './process-ledger';
import { killSession } from './process-session';
import { statOf } from './process-stat';
import { WorkerCalls } from './worker-calls';
import { wayOut } from './way-out';
import { failureOfExit, isOutOfHeap, V8_ABORT } from './worker-exit';
import { makeWorkerFolder, removeWorkerFolder } from './worker-folder';
import { askPermit } from './write-permit';

export interface WorkerOptions {
  /** Path of the Pulumi CLI. */
  pulumi: string;
  pulumiVersion: string;
  logger: Logger;
  clock: Clock;
  /** Limit of the worker's JavaScript heap. */
  heapMB: number;
  /** Limit of the resident memory of the worker, and of the engine: who uses more is killed. */
  memoryMB: number;
  /** Where the processes are written down. */
  ledger: ProcessLedger;
  /** How long a canceled update may take to end by itself before it is killed with all that it has started. */
  graceMs: number;
  /** A worker with an update that is silent for so long is frozen, and is killed. */
  silenceMs: number;
}

export interface RunOptions {
  deadlineMs: number;
  isValid: () => boolean;
  /** Why the update may not begin, or is to end after the steps in flight; undefined = it may go on. */
  refusal: () => OperatorError | undefined;
  /** Where the update's cloud calls are counted and limited, */
  account: Account;
  /** and who they give way to. */
  priority: CallPriority;
  onEvent: (event: WorkerEvent) => void;
  /** Writes the stack's state. @returns its new version; undefined when it was removed */
  store: (write: StoreEvent) => Promise<string | undefined>;
  /** Registers the members of a new target group. */
  syncTargets: (group: TargetGroup) => Promise<void>;
}

const HEARTBEAT_MS = 500;
/** A worker that isn't ready by then never will be. */
const START_MS = 60_000;
/** V8's last words may come later than the news of its end; and not at all where somebody has fled the session with its standard error. */
const LAST_WORDS_MS = 1_000;

interface Running {
  request: UpdateRequest;
  options: RunOptions;
  settle: (outcome: DoneEvent | OperatorError) => void;
  stopTimers: () => void;
  calls: WorkerCalls;
  /** What the worker tells is part of the change that asked for the update. */
  asAsked: Continue;
  /** The worker has it. */
  sent: boolean;
  enginePid?: number;
  /** Set when the update was told to stop. */
  canceled?: OperatorError;
}

/** One worker process as the operator sees it: a session of its own that is killed as a whole. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #folder = makeWorkerFolder();
  readonly #ready: Promise<void>;
  readonly exited: Promise<void>;
  #running: Running | undefined;
  #alive = true;
  #outOfHeap = false;
  /** Heartbeats since it was last heard. Counted, not timed: where this process was frozen too, nobody has missed one. */
  #unanswered = 0;
  /** Updates run so far. */
  runs = 0;
  rssBytes = 0;
  /** It must not be used again. */
  tainted = false;

  constructor(private readonly options: WorkerOptions) {
    this.#child = fork(compiled('operator/updates/worker/main'), [this.#folder, options.pulumi, options.pulumiVersion], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.#folder, TMPDIR: this.#folder, ...compileCache(), ...wayOut(process.env) },
      execArgv: [`--max-old-space-size=${options.heapMB}`, ...NODE_FLAGS, '--no-warnings'],
    });
    let markReady: () => void = () => undefined;
    let markFailed: (error: OperatorError) => void = () => undefined;
    this.#ready = new Promise((resolve, reject) => {
      markReady = resolve;
      markFailed = reject;
    });
    const cancelStart = options.clock.after(START_MS, () => this.kill());
    // Nobody may be waiting when a warm worker dies.
    this.#ready.catch(() => undefined).finally(cancelStart);
    this.exited = this.#end().then((error) => {
      markFailed(error);
      this.#ended(error);
    });
    this.#child.on('message', (event) => {
      this.#unanswered = 0;
      if ((event as WorkerEvent).type === 'ready') markReady();
      const take = (): void => this.#take(event as WorkerEvent);
      if (this.#running === undefined) take();
      else this.#running.asAsked(take);
    });
    if (this.pid !== undefined) options.ledger.running(this.pid, this.#folder);
    this.#logLines(this.#child.stdout, 'debug');
    this.#logLines(this.#child.stderr, 'warn');
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /**
   * Runs one update.
   * @throws OperatorError the failure as the worker classed it; Transient when it died or overran its deadline; Canceled when it was stopped
   */
  run(request: UpdateRequest, options: RunOptions): Promise<DoneEvent> {
    this.runs++;
    return new Promise((resolve, reject) => {
      const settle = (outcome: DoneEvent | OperatorError): void => {
        this.#running?.stopTimers();
        this.#running?.calls.end();
        this.#running = undefined;
        if (outcome instanceof OperatorError) reject(outcome);
        else resolve(outcome);
      };
      const calls = new WorkerCalls(request.id, options.account, options.priority, (command) => this.#send(command));
      const running: Running = {
        request,
        options,
        settle,
        calls,
        asAsked: sameChange(),
        sent: false,
        stopTimers: () => undefined,
      };
      running.stopTimers = this.#startTimers(running);
      this.#running = running;
      this.#ready.then(() => this.#begin(running), settle);
    });
  }

  /** Ends the running update gracefully, and by force after the grace period; its caller gets `error`. */
  cancel(error: OperatorError): void {
    const running = this.#running;
    if (running === undefined || running.canceled !== undefined) return;
    running.canceled = error;
    if (!running.sent) return running.settle(error);
    this.#send({ type: 'cancel', reason: error.message });
    const stop = running.stopTimers;
    const cancelKill = this.options.clock.after(this.options.graceMs, () => this.kill());
    running.stopTimers = () => {
      stop();
      cancelKill();
    };
  }

  /** Ends the worker, its engine and plugins, at once. */
  kill(): void {
    if (this.pid !== undefined) killSession(this.pid);
  }

  /** Resolves when the process has ended, with all that it had started. @returns what its update fails with */
  async #end(): Promise<OperatorError> {
    const { ledger, clock, heapMB } = this.options;
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    const how = await new Promise<string>((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      this.#child.once('error', (error) => resolve(error.message));
    });
    this.#alive = false;
    if (this.pid !== undefined) ledger.ended(this.pid);
    // Engine and plugins may have survived the worker.
    this.kill();
    if (how === V8_ABORT) await Promise.race([closed, new Promise<void>((resolve) => clock.after(LAST_WORDS_MS, resolve))]);
    return failureOfExit({ how, outOfHeap: this.#outOfHeap, heapMB });
  }

  #begin(running: Running): void {
    if (this.#running !== running) return;
    if (!this.#alive) return running.settle(new OperatorError('Transient', 'the worker process ended before the update began'));
    // It may have waited for long.
    const { answer: refusal, validUntil } = askPermit(running.options.refusal);
    if (refusal !== undefined) return running.settle(refusal);
    running.sent = true;
    this.#unanswered = 0;
    this.#send({ type: 'run', request: { ...running.request, validUntil } });
  }

  #startTimers(running: Running): () => void {
    const { request, options } = running;
    const { clock } = this.options;
    const overdue = new OperatorError(
      'Transient',
      `stack ${request.stack}: the update did not end within ${options.deadlineMs} ms and was stopped`,
    );
    const cancelDeadline = clock.after(options.deadlineMs, () => this.cancel(overdue));
    let cancelBeat: () => void = () => undefined;
    const beat = (): void => {
      this.#checkMemory(request.stack);
      this.#checkAnswers(request.stack);
      const { answer: isValid, validUntil } = askPermit(options.isValid);
      if (!isValid) {
        // Its state could not be written any more, and an official plugin would go on writing to the cloud (design: Fencing).
        return this.#stop(new OperatorError('Canceled', `stack ${request.stack}: the operator lost its lease; the update was stopped`));
      }
      const refusal = options.refusal();
      if (refusal !== undefined) this.cancel(refusal);
      // One that had not begun is over: whatever the worker runs next has a beat of its own.
      if (this.#running !== running) return;
      this.#send({ type: 'validity', validUntil });
      cancelBeat = clock.after(HEARTBEAT_MS, beat);
    };
    cancelBeat = clock.after(HEARTBEAT_MS, beat);
    return () => {
      cancelDeadline();
      cancelBeat();
    };
  }

  /** Memory that is no JavaScript heap, and the engine's, has no other limit. */
  #checkMemory(stack: string): void {
    const running = this.#running;
    const bytes = this.options.memoryMB * 1024 * 1024;
    for (const [who, pid] of [
      ['program', this.pid],
      ['engine', running?.enginePid],
    ] as const) {
      if (running === undefined || pid === undefined || (statOf(pid)?.rssBytes ?? 0) <= bytes) continue;
      const message = `stack ${stack}: the ${who} used more than ${this.options.memoryMB} MB of memory and was stopped`;
      this.#stop(new OperatorError('Unknown', message, { remedy: 'make the stack smaller, or raise --update-memory' }));
    }
  }

  #checkAnswers(stack: string): void {
    const { silenceMs } = this.options;
    const running = this.#running;
    if (running?.sent !== true || ++this.#unanswered * HEARTBEAT_MS <= silenceMs) return;
    this.#stop(
      new OperatorError('Transient', `stack ${stack}: the update's worker process was silent for ${silenceMs} ms and was stopped`),
    );
  }

  /** Ends the running update by force; its caller gets `error`. */
  #stop(error: OperatorError): void {
    if (this.#running !== undefined) this.#running.canceled ??= error;
    this.kill();
  }

  #take(event: WorkerEvent): void {
    if ('rssBytes' in event) this.rssBytes = event.rssBytes;
    if ('tainted' in event && event.tainted) this.tainted = true;
    const running = this.#running;
    if (running === undefined || !('id' in event) || event.id !== running.request.id) return;
    if (event.type === 'store') return this.#store(running.options, event);
    if (event.type === 'syncTargets') return this.#syncTargets(running.options, event);
    running.calls.take(event);
    if (event.type === 'started') running.enginePid = event.enginePid;
    running.options.onEvent(event);
    if (event.type === 'done') running.settle(event);
    if (event.type === 'failed') running.settle(this.#failure(event, running));
  }

  #store(options: RunOptions, write: StoreEvent): void {
    const { id, call } = write;
    options.store(write).then(
      (version) => this.#send({ type: 'stored', id, call, ...(version === undefined ? {} : { version }) }),
      (thrown: unknown) => this.#send({ type: 'stored', id, call, error: toWire(toOperatorError(thrown)) }),
    );
  }

  #syncTargets(options: RunOptions, { id, call, group }: SyncTargetsEvent): void {
    options.syncTargets(group).then(
      () => this.#send({ type: 'targetsSynced', id, call }),
      (thrown: unknown) => this.#send({ type: 'targetsSynced', id, call, error: toWire(toOperatorError(thrown)) }),
    );
  }

  #failure(event: FailedEvent, running: Running): OperatorError {
    const error = fromWire(event.error);
    return error.code === 'Canceled' && running.canceled !== undefined ? running.canceled : error;
  }

  #ended({ code, message, remedy }: OperatorError): void {
    removeWorkerFolder(this.#folder, this.options.logger);
    const running = this.#running;
    const detail = remedy === undefined ? {} : { remedy };
    running?.settle(running.canceled ?? new OperatorError(code, `stack ${running.request.stack}: ${message}`, detail));
  }

  #send(command: WorkerCommand): void {
    if (this.#alive && this.#child.connected) this.#child.send(command, () => undefined);
  }

  /** What a program prints is for the log; it can't disturb the channel. */
  #logLines(stream: Readable | null, level: 'debug' | 'warn'): void {
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      this.#outOfHeap ||= level === 'warn' && isOutOfHeap(line);
      const fields = { worker: this.#child.pid, stack: this.#running?.request.stack };
      const tell = (): void => this.options.logger[level](fields, line.slice(0, 2000));
      if (this.#running === undefined) tell();
      else this.#running.asAsked(tell);
    });
  }
}
