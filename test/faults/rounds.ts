import { sleep, systemClock } from '../../operator/base/clock';
import { problemsOf } from './checks';
import { Crew } from './crew';
import { Faults } from './faults';
import type { Matrix } from './matrix';
import { People } from './people';
import { isAt } from './phases';
import type { PlannedFault, Round, Step } from './plan';
import type { Action, Exchange, Moment } from './proxy';
import type { FaultSystem } from './system';
import { fromNothing, type World } from './world';

export interface Verdict {
  round: number;
  /** Empty = everything was as wanted within the bound. */
  problems: string[];
  /** From the last change, or the end of the last fault where that came later, until all was well; in milliseconds. */
  settledMs: number;
  tookMs: number;
  /** What struck, at which moment: for the log. */
  strikes: string[];
}

/** By then everything must be as wanted. */
const BOUND_MS = 60_000;
const POLL_MS = 200;
/** A phase that has not come so long after the last change will not come any more. */
const PHASE_MS = 6_000;

interface Armed {
  fault: PlannedFault;
  /** Meet the phase before the request goes out, or before its answer arrives. */
  early: boolean;
  struck: boolean;
}

/** Carries out planned rounds on one system, with one operator or with two of which one leads. */
export class Rounds {
  private readonly people: People;
  private readonly faults: Faults;
  private armed: Armed[] = [];
  private lasting: Promise<void>[] = [];
  private strikes: string[] = [];

  private constructor(
    private readonly system: FaultSystem,
    private readonly crew: Crew,
    private readonly matrix: Matrix,
  ) {
    this.people = new People(system);
    this.faults = new Faults(system, crew);
  }

  /** Starts the operators and brings the cluster to where the round begins. @throws Error when even that is not reached */
  static async begin(system: FaultSystem, { before, elected }: Round, matrix: Matrix): Promise<Rounds> {
    const crew = await Crew.prepare(
      system,
      (exchange, moment) => rounds.tap(exchange, moment),
      ({ name }) => void rounds.strikes.push(`${new Date().toISOString()} ${name} takes over`),
    );
    const rounds: Rounds = new Rounds(system, crew, matrix);
    await crew.staff(elected);
    for (const change of fromNothing(before)) await rounds.people.make(change);
    const problems = await rounds.settle(before);
    if (problems.length > 0) throw new Error(`the first world was not reached: ${problems.join('; ')}`);
    return rounds;
  }

  async run(round: Round): Promise<Verdict> {
    const startedAt = performance.now();
    this.strikes = [];
    await this.crew.staff(round.elected);
    for (const step of round.steps) await this.take(step);
    await this.awaitPhases();
    await Promise.all(this.lasting.splice(0));
    await this.crew.revive();
    const calmAt = performance.now();
    const problems = await this.settle(round.after);
    const now = performance.now();
    return { round: round.number, problems, settledMs: now - calmAt, tookMs: now - startedAt, strikes: this.strikes };
  }

  private async take({ change, fault, pauseMs }: Step): Promise<void> {
    if (fault !== undefined && fault.phase !== 'queued') this.armed.push({ fault, early: fault.lastsMs % 200 === 0, struck: false });
    await this.people.make(change);
    if (fault?.phase === 'queued') await this.strike(fault);
    await sleep(systemClock, pauseMs);
  }

  private async tap(exchange: Exchange, moment: Moment): Promise<Action> {
    const due = this.armed.find(({ fault, early, struck }) => !struck && isAt(fault.phase, exchange, moment, early));
    if (due === undefined) return this.faults.decide(exchange, moment);
    due.struck = true;
    return this.strike(due.fault, { exchange, moment });
  }

  private async strike(fault: PlannedFault, held?: { exchange: Exchange; moment: Moment }, inPhase = true): Promise<Action> {
    const where = held === undefined ? '' : ` (${held.moment} of ${held.exchange.method} ${held.exchange.path})`;
    this.strikes.push(`${new Date().toISOString()} ${fault.kind} ${fault.target} at ${fault.phase}${where}`);
    const { action, over } = await this.faults.strike(fault, held);
    this.lasting.push(over.then((struck) => (struck && inPhase ? this.matrix.hit(fault.kind, fault.phase) : this.matrix.miss())));
    return action;
  }

  /** A fault whose phase does not come strikes all the same, so that the round has it. */
  private async awaitPhases(): Promise<void> {
    const deadline = performance.now() + PHASE_MS;
    while (this.armed.some(({ struck }) => !struck) && performance.now() < deadline) await sleep(systemClock, POLL_MS);
    const left = this.armed.filter(({ struck }) => !struck);
    this.armed = [];
    for (const { fault } of left) await this.strike(fault, undefined, false);
  }

  private async settle(world: World): Promise<string[]> {
    const start = performance.now();
    for (;;) {
      // It may have noticed only after the fault was over that its disk was full.
      await this.system.startCloud();
      const problems = await problemsOf(world, this.system, this.crew.all).catch((thrown: unknown) => [String(thrown)]);
      const elapsed = performance.now() - start;
      if (problems.length === 0 || elapsed > BOUND_MS) return problems;
      // A look at everything is work for the system that is looked at, too.
      await sleep(systemClock, Math.max(POLL_MS, elapsed / 8));
    }
  }
}
