import { sleep, systemClock } from '../../operator/base/clock';
import { isStateWrite } from './phases';
import type { FaultRule } from '../../providers/local/api';
import type { PlannedFault } from './plan';
import type { FaultTarget } from './kinds';
import type { Crew } from './crew';
import { signal } from './processes';
import type { Action, Exchange, Moment } from './proxy';
import type { FaultSystem } from './system';

/** Looks at every request while a fault lasts; undefined = none of its business. */
type Filter = (exchange: Exchange, moment: Moment) => Action | undefined;

/** What a strike did at once, and when it will be over. */
export interface Struck {
  /** What becomes of the exchange at which it struck. */
  action: Action;
  /** Whether anything was struck: there may be no engine to kill, and no answer to lose. */
  over: Promise<boolean>;
}

const HOURS_MS = 3_600_000;
/** API requests that get through in each period while it throttles. */
const THROTTLE = { requests: 5, periodMs: 500 };
const CLOUD_THROTTLE = { rps: 10, burst: 2 };

/** Lets things go wrong for the operator that leads, and makes them good again. */
export class Faults {
  private readonly filters = new Set<Filter>();

  constructor(
    private readonly system: FaultSystem,
    private readonly crew: Crew,
  ) {}

  /** The part of a tap that faults in progress have. */
  decide(exchange: Exchange, moment: Moment): Action {
    for (const filter of this.filters) {
      const action = filter(exchange, moment);
      if (action !== undefined) return action;
    }
    return 'pass';
  }

  /**
   * Strikes now.
   * @param held the exchange that waits for it, and how far that is; absent = none
   */
  async strike(fault: PlannedFault, held?: { exchange: Exchange; moment: Moment }): Promise<Struck> {
    const action: Action = fault.passes ? 'pass' : 'drop';
    switch (fault.kind) {
      case 'kill':
        return { action, ...(await this.kill(fault.target)) };
      case 'freeze':
        return { action, over: this.freeze(fault) };
      case 'disconnect':
        return { action, over: this.disconnect(fault) };
      case 'throttle':
        return { action: 'pass', ...(await this.throttle(fault)) };
      case 'lost-answer':
        return this.loseAnswer(fault, held);
      case 'server-error':
        return this.refuse(fault, held);
      case 'full-disk':
        return { action: 'pass', over: this.fillDisk(fault) };
      case 'clock':
        return { action: 'pass', over: this.shiftClock(fault) };
    }
  }

  /** @returns once the signal is sent: when the victim is there again */
  private async kill(target: FaultTarget): Promise<Pick<Struck, 'over'>> {
    if (target === 'cloud') return { over: this.system.killCloud().then(() => true) };
    const { leader } = this.crew;
    const engines = target === 'engine' ? leader.engines() : [];
    const workers = target === 'worker' || target === 'operator-and-workers' ? leader.workers() : [];
    engines.forEach((pid) => signal(pid, 'SIGKILL'));
    workers.forEach((pid) => signal(-pid, 'SIGKILL'));
    if (!target.startsWith('operator')) return { over: Promise.resolve(engines.length + workers.length > 0) };
    await leader.kill();
    return { over: this.crew.revive().then(() => true) };
  }

  private async freeze({ target, lastsMs }: PlannedFault): Promise<boolean> {
    const { leader } = this.crew;
    const groups = leader.workers().map((pid) => -pid);
    const operator = leader.running ? [leader.pid] : [];
    const all = { operator, worker: groups, cloud: [this.system.cloudPid], 'operator-and-workers': [...operator, ...groups] };
    const frozen = all[target as keyof typeof all];
    frozen.forEach((pid) => signal(pid, 'SIGSTOP'));
    await sleep(systemClock, lastsMs);
    frozen.forEach((pid) => signal(pid, 'SIGCONT'));
    return frozen.length > 0;
  }

  private async disconnect({ target, lastsMs }: PlannedFault): Promise<boolean> {
    const proxy = target.startsWith('api') ? this.crew.leader.api : this.crew.leader.cloud;
    if (target.endsWith('refused')) proxy.refuse();
    else proxy.stall();
    await sleep(systemClock, lastsMs);
    proxy.open();
    return true;
  }

  private async throttle({ target, lastsMs }: PlannedFault): Promise<Pick<Struck, 'over'>> {
    if (target === 'api') return { over: this.filterFor(lastsMs, apiThrottle()) };
    await this.setCloudRules([{ match: {}, act: { throttle: CLOUD_THROTTLE } }]);
    return { over: sleep(systemClock, lastsMs).then(() => this.setCloudRules([])) };
  }

  /** The rules are in the cloud's process, which may be down or stopped by another fault just now. */
  private async setCloudRules(rules: FaultRule[]): Promise<true> {
    for (;;) {
      try {
        await this.system.cloud.setFaults({ rules });
        return true;
      } catch {
        await sleep(systemClock, 100);
      }
    }
  }

  /** Of the exchange that is held; else, and where its answer is not there yet, of the next write on that side. */
  private loseAnswer({ target, lastsMs }: PlannedFault, held: { exchange: Exchange; moment: Moment } | undefined): Struck {
    if (held?.exchange.side === target && held.moment === 'answered') return { action: 'drop', over: Promise.resolve(true) };
    let lost = false;
    const over = this.filterFor(lastsMs, (exchange, moment) => {
      if (lost || exchange.side !== target || moment !== 'answered' || exchange.method === 'GET') return undefined;
      lost = true;
      return 'drop';
    });
    return { action: 'pass', over };
  }

  private refuse({ target, lastsMs }: PlannedFault, held: { exchange: Exchange; moment: Moment } | undefined): Struck {
    const refusal = target === 'api' ? apiRefusal(503, 'ServiceUnavailable', 'etcdserver: leader changed') : cloudRefusal();
    const refused = held?.exchange.side === target && held.moment === 'request';
    const over = this.filterFor(lastsMs, (exchange, moment) => (exchange.side === target && moment === 'request' ? refusal : undefined));
    return { action: refused ? refusal : 'pass', over: over.then((others) => refused || others) };
  }

  private async fillDisk({ target, lastsMs }: PlannedFault): Promise<boolean> {
    if (target === 'state') {
      const full = apiRefusal(500, 'InternalError', 'etcdserver: mvcc: database space exceeded');
      return this.filterFor(lastsMs, (exchange, moment) => (moment === 'request' && isStateWrite(exchange) ? full : undefined));
    }
    const disk = target === 'cloud' ? this.system.cloudDisk : this.crew.leader.temporary;
    disk.fill();
    await sleep(systemClock, lastsMs);
    disk.clear();
    await this.system.startCloud();
    return disk.canFill;
  }

  private async shiftClock({ target, lastsMs }: PlannedFault): Promise<true> {
    const { leader } = this.crew;
    leader.setClock((target === 'forward' ? 30 : -30) * HOURS_MS);
    await sleep(systemClock, lastsMs);
    leader.setClock(0);
    return true;
  }

  /** @returns whether the filter had anything to do */
  private async filterFor(ms: number, filter: Filter): Promise<boolean> {
    let acted = false;
    const watched: Filter = (exchange, moment) => {
      const action = filter(exchange, moment);
      acted ||= action !== undefined;
      return action;
    };
    this.filters.add(watched);
    await sleep(systemClock, ms);
    this.filters.delete(watched);
    return acted;
  }
}

function apiThrottle(): Filter {
  let period = 0;
  let passed = 0;
  const refusal = apiRefusal(429, 'TooManyRequests', 'too many requests, please try again later');
  return ({ side }, moment) => {
    if (side !== 'api' || moment !== 'request') return undefined;
    const now = Math.floor(performance.now() / THROTTLE.periodMs);
    if (now !== period) passed = 0;
    period = now;
    passed++;
    return passed > THROTTLE.requests ? { ...refusal, headers: { 'retry-after': '1' } } : undefined;
  };
}

function apiRefusal(status: number, reason: string, message: string): Exclude<Action, string> {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code: status };
  return { status, body: JSON.stringify(body) };
}

function cloudRefusal(): Exclude<Action, string> {
  return { status: 503, body: JSON.stringify({ code: 'Unavailable', message: 'the cloud is not available' }) };
}
