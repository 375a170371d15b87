import type { Sweep as SweepStatus } from '../../../crds';
import type { KnownOwners } from '../../../providers/provider';
import type { Clock } from '../../base/clock';
import type { Logger } from '../../base/log';
import { exponentialDelay } from '../../kube/back-off';
import { ASKED_AGAIN } from './asked-stacks';
import type { LeftoverRecords } from './leftover-records';
import { leftoversOf, type Leftover } from './leftovers';
import { intervalOf, jittered, ProviderTimer, type ProviderTimerOptions } from '../providers/provider-timer';
import type { CloudRegistry } from '../providers/registry';

export interface SweepOptions extends ProviderTimerOptions {
  registry: CloudRegistry;
  records: Pick<LeftoverRecords, 'write'>;
  /** Stacks with members or a record, but for those of leftovers. A state alone accounts for nothing: nobody would ever come back for it. */
  stacks: () => Iterable<string>;
  /** UIDs by which providers name what they make, of all that lives. */
  owners: () => Iterable<string>;
  /** KnownOwners.specs. */
  specs: KnownOwners['specs'];
  /** True when the state of a stack without record and members speaks of an object that lives; undefined = it can't be read, and may be anybody's. */
  serves: (stack: string) => Promise<boolean | undefined>;
  /** Such a stack gets its record again, and is looked at: nobody else would, where its object asks for another stack by now. */
  takeUp: (provider: string, found: Leftover) => void;
  clock: Clock;
  isValid: () => boolean;
  /** A provider was swept: its status is to be written. */
  swept: (provider: string, leftovers: Leftover[]) => void;
  logger: Logger;
}

/** What a person asks for. */
interface Request {
  token: string;
  /** Passes over the provider that it has not been answered by, in a row. */
  failures: number;
  /** When it is tried again, on the monotonic clock in milliseconds; undefined = it is answered, or asked for at once. */
  dueAt?: number | undefined;
  answered: boolean;
}

/**
 * Searches each provider's account on a slow timer, and when asked, for what bears this cluster's mark and belongs to nothing any more. It only
 * says what it finds: each leftover stack gets a CloudStack, which a person may release.
 */
export class Sweep {
  private readonly timer: ProviderTimer;
  private readonly results = new Map<string, SweepStatus>();
  /** By provider: the newest one. */
  private readonly requests = new Map<string, Request>();

  constructor(private readonly options: SweepOptions) {
    this.timer = new ProviderTimer(options, {
      waitMs: (provider) => this.waitMs(provider),
      pass: (provider) => this.answer(provider),
      failure: 'the cloud could not be searched for leftovers',
    });
  }

  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.timer.run(signal);
  }

  /** A person has asked for a sweep by an annotation: it is tried until it has succeeded. */
  ask(provider: string, token: string): void {
    if (this.requests.get(provider)?.token === token) return;
    this.requests.set(provider, { token, failures: 0, answered: false });
    void this.timer.ask(provider);
  }

  /** The provider is gone: one that is made under the same name is another one. */
  forget(provider: string): void {
    this.requests.delete(provider);
    this.results.delete(provider);
  }

  /** What the last sweep of this process has found; undefined before the first one. */
  result(provider: string): SweepStatus | undefined {
    return this.results.get(provider);
  }

  private known(): KnownOwners {
    const { stacks, owners, specs } = this.options;
    return { stacks: new Set(stacks()), owners: new Set(owners()), specs };
  }

  private waitMs(provider: string): number {
    const intervalMs = jittered(intervalOf(this.options.registry, provider, 'sweepInterval'), this.options.random);
    const dueAt = this.requests.get(provider)?.dueAt;
    if (dueAt === undefined) return intervalMs;
    const untilDueMs = Math.max(1, dueAt - this.options.clock.monotonic());
    return intervalMs === 0 ? untilDueMs : Math.min(intervalMs, untilDueMs);
  }

  /** One pass, which answers the newest request; where it does not, that is asked for again later. */
  private async answer(provider: string): Promise<void> {
    const request = this.requests.get(provider);
    let answered = false;
    try {
      answered = await this.pass(provider, request?.token);
    } finally {
      if (request !== undefined && !request.answered) this.note(request, answered);
    }
  }

  private note(request: Request, answered: boolean): void {
    request.answered = answered;
    request.dueAt = answered ? undefined : this.options.clock.monotonic() + exponentialDelay(request.failures++, ASKED_AGAIN);
  }

  /** @returns false where the lease was lost meanwhile: nothing of it counts */
  private async pass(provider: string, handled: string | undefined): Promise<boolean> {
    const { registry, records, clock, isValid } = this.options;
    const { cloud } = registry.connected(provider);
    if (cloud.discover === undefined) return true;
    // Known before or after the search is known: a stack may come or go meanwhile.
    const before = this.known();
    const found = await cloud.discover(undefined, before.stacks);
    const known = (): KnownOwners => {
      const { stacks, owners, specs } = this.known();
      return { stacks: union(before.stacks, stacks), owners: union(before.owners, owners), specs };
    };
    const behind = (await cloud.leftBehind?.(known)) ?? [];
    const unknown = leftoversOf(new Map([...found, ...behind]), known().stacks);
    const serving = await Promise.all(unknown.map(({ stack }) => this.options.serves(stack)));
    const leftovers = unknown.filter((_one, index) => serving[index] === false);
    if (!isValid()) return false;
    unknown.filter((_one, index) => serving[index] === true).forEach((one) => this.options.takeUp(provider, one));
    await records.write(provider, leftovers);
    this.results.set(provider, {
      at: new Date(clock.now()).toISOString(),
      ...(handled === undefined ? {} : { handled }),
      leftovers: leftovers.length,
    });
    if (leftovers.length > 0) {
      const stacks = leftovers.map(({ stack }) => stack);
      this.options.logger.warn(
        { provider, stacks },
        'the cloud has resources of this cluster that nothing accounts for; see their CloudStacks',
      );
    }
    this.options.swept(provider, leftovers);
    return true;
  }
}

function union(one: ReadonlySet<string>, other: ReadonlySet<string>): Set<string> {
  return new Set([...one, ...other]);
}
