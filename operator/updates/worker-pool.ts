import type { Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import type { WorkerProcess } from './worker-process';

export interface PoolOptions {
  /** Workers at most. */
  max: number;
  /** A worker that has been busy for so long no longer counts in `max`, up to that many again, but for one that is left to other keys: who is slow or hangs delays nobody. */
  overtimeMs: number;
  /** How many workers one key may have at the same time, where those are fewer. */
  limitOf(key: string): number;
  /** A worker is replaced after this many updates, */
  maxRuns: number;
  /** or when its memory is above this after an update. */
  maxRssBytes: number;
  /** A worker ends after this long without work. */
  idleMs: number;
  clock: Clock;
  spawn(): WorkerProcess;
}

/** Every so many turns the one that has waited longest goes first: what runs in the background waits for no burst to end. */
const TURN_OF_THE_OLDEST = 10;

interface Waiter {
  key: string;
  /** Its place in the order of arrival. */
  arrived: number;
  /** Nobody waits for its work: whoever somebody waits for goes before. */
  background: boolean;
  resolve: (worker: WorkerProcess) => void;
  reject: (error: OperatorError) => void;
}

interface Shift {
  key: string;
  overtime: boolean;
  cancelTimer: () => void;
}

/**
 * Warm worker processes. Who waits is served in turns by key (provider), in the order of arrival within a key; background work when nobody else
 * waits, and where it is the oldest in every tenth turn.
 */
export class WorkerPool {
  readonly #workers = new Set<WorkerProcess>();
  /** Workers that somebody has: for whom, and whether overtime. */
  readonly #busy = new Map<WorkerProcess, Shift>();
  readonly #idle: { worker: WorkerProcess; cancelTimer: () => void }[] = [];
  /** Waiters by key; the map's order is whose turn it is. */
  readonly #waiters = new Map<string, Waiter[]>();
  #arrivals = 0;
  #turns = 0;
  #closed = false;

  constructor(private readonly options: PoolOptions) {}

  /** Pids of the living workers. */
  get pids(): number[] {
    return [...this.#workers].flatMap((worker) => worker.pid ?? []);
  }

  /** Starts a worker for whoever comes first. @throws what keeps it from starting */
  warm(): void {
    if (this.#workers.size === 0) this.#park(this.#spawn());
  }

  /** Gives a worker to the caller alone, when it is the caller's turn. */
  acquire(key: string, { background = false } = {}): Promise<WorkerProcess> {
    if (this.#closed) return Promise.reject(closing());
    return new Promise((resolve, reject) => {
      const waiter = { key, arrived: this.#arrivals++, background, resolve, reject };
      this.#waiters.set(key, [...(this.#waiters.get(key) ?? []), waiter]);
      this.#serve();
    });
  }

  release(worker: WorkerProcess): void {
    this.#endShift(worker);
    if (worker.alive && this.#isWorn(worker)) this.#end(worker);
    else if (worker.alive) this.#park(worker);
    this.#serve();
  }

  /** Gives out no more workers; what runs goes on. */
  drain(): void {
    this.#closed = true;
    for (const waiters of this.#waiters.values()) waiters.forEach(({ reject }) => reject(closing()));
    this.#waiters.clear();
  }

  /** Kills all workers and waits for their end. */
  async close(): Promise<void> {
    this.drain();
    for (const { cancelTimer } of this.#idle.splice(0)) cancelTimer();
    const workers = [...this.#workers];
    workers.forEach((worker) => worker.kill());
    await Promise.all(workers.map((worker) => worker.exited));
  }

  /** Not to be used again; or one too many, now that the overtime is over. */
  #isWorn(worker: WorkerProcess): boolean {
    const { max, maxRuns, maxRssBytes } = this.options;
    const tooMany = this.#workers.size - this.#overtime > max;
    return worker.tainted || worker.runs >= maxRuns || worker.rssBytes > maxRssBytes || tooMany || this.#closed;
  }

  get #overtime(): number {
    return [...this.#busy.values()].filter(({ overtime }) => overtime).length;
  }

  #serve(): void {
    for (;;) {
      const waiter = this.#next();
      if (waiter === undefined) return;
      let worker: WorkerProcess | undefined;
      try {
        worker = this.#free();
      } catch (thrown) {
        this.#leave(waiter);
        waiter.reject(notStarted(thrown));
        continue;
      }
      if (worker === undefined) return;
      this.#turns++;
      this.#leave(waiter);
      this.#startShift(worker, waiter.key);
      waiter.resolve(worker);
    }
  }

  #startShift(worker: WorkerProcess, key: string): void {
    const cancelTimer = this.options.clock.after(this.options.overtimeMs, () => {
      shift.overtime = true;
      this.#serve();
    });
    const shift: Shift = { key, overtime: false, cancelTimer };
    this.#busy.set(worker, shift);
  }

  #endShift(worker: WorkerProcess): void {
    this.#busy.get(worker)?.cancelTimer();
    this.#busy.delete(worker);
  }

  /** An idle worker, or a new one while there is room. */
  #free(): WorkerProcess | undefined {
    for (;;) {
      // The one used last is the warmest.
      const parked = this.#idle.pop();
      if (parked === undefined) break;
      parked.cancelTimer();
      // How a dead one ended may still be found out.
      if (parked.worker.alive) return parked.worker;
      this.#workers.delete(parked.worker);
    }
    const { max } = this.options;
    return this.#workers.size - Math.min(this.#overtime, max) < max ? this.#spawn() : undefined;
  }

  /** Whose turn it is, of those whose key may have one more worker. */
  #next(): Waiter | undefined {
    const may = [...this.#waiters].filter(([key]) => this.#mayHaveMore(key)).map(([, waiters]) => waiters);
    if (this.#turns % TURN_OF_THE_OLDEST === TURN_OF_THE_OLDEST - 1) {
      return may
        .flat()
        .reduce<Waiter | undefined>((oldest, one) => (oldest === undefined || one.arrived < oldest.arrived ? one : oldest), undefined);
    }
    const firsts = may.map((waiters) => waiters.find(({ background }) => !background) ?? waiters[0]);
    return firsts.find((waiter) => waiter?.background === false) ?? firsts[0];
  }

  #mayHaveMore(key: string): boolean {
    const has = [...this.#busy.values()].filter((shift) => shift.key === key).length;
    return has < Math.min(this.options.limitOf(key), Math.max(1, 2 * this.options.max - 1));
  }

  /** Out of the line; its key goes to the end of it. */
  #leave(waiter: Waiter): void {
    const rest = (this.#waiters.get(waiter.key) ?? []).filter((other) => other !== waiter);
    this.#waiters.delete(waiter.key);
    if (rest.length > 0) this.#waiters.set(waiter.key, rest);
  }

  #spawn(): WorkerProcess {
    const worker = this.options.spawn();
    this.#workers.add(worker);
    void worker.exited.then(() => this.#gone(worker));
    return worker;
  }

  #park(worker: WorkerProcess): void {
    const cancelTimer = this.options.clock.after(this.options.idleMs, () => this.#retire(worker));
    this.#idle.push({ worker, cancelTimer });
  }

  #retire(worker: WorkerProcess): void {
    const at = this.#idle.findIndex((parked) => parked.worker === worker);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    this.#end(worker);
  }

  #end(worker: WorkerProcess): void {
    this.#workers.delete(worker);
    worker.kill();
  }

  #gone(worker: WorkerProcess): void {
    this.#workers.delete(worker);
    this.#endShift(worker);
    const at = this.#idle.findIndex((parked) => parked.worker === worker);
    if (at >= 0) this.#idle.splice(at, 1)[0]?.cancelTimer();
    if (!this.#closed) this.#serve();
  }
}

/** Such as a temporary folder that is full or can't be written. */
function notStarted(thrown: unknown): OperatorError {
  return new OperatorError('Transient', `no worker process can be started: ${toOperatorError(thrown).message}`, {
    cause: thrown,
    remedy: 'the operator needs a temporary folder (TMPDIR) with room in it that it can write to',
  });
}

/** Why nothing begins or goes on once the operator ends. */
export function closing(): OperatorError {
  return new OperatorError('Canceled', 'updates are being shut down');
}
