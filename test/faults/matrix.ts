import { FAULT_KINDS, PHASES, type FaultKind, type Phase } from './kinds';

/** Of how many rounds each kind of fault must have met each phase, and how often. */
const ENOUGH = { rounds: 1000, times: 3 };

/** How often each kind of fault has met each phase. */
export class Matrix {
  private readonly met = new Map<string, number>();
  private missed = 0;

  hit(kind: FaultKind, phase: Phase): void {
    this.met.set(`${kind} ${phase}`, this.count(kind, phase) + 1);
  }

  /** The phase did not come in time, so that the fault struck at some other moment; or there was nothing that it could strike. */
  miss(): void {
    this.missed++;
  }

  /** Whether so many rounds were enough for each pair to be seen, and it was not. */
  isThin(rounds: number): boolean {
    return rounds >= ENOUGH.rounds && this.least() < ENOUGH.times;
  }

  /** A table for people, with the least of all cells under it. */
  toString(): string {
    const width = Math.max(...FAULT_KINDS.map((kind) => kind.length));
    const header = [''.padEnd(width), ...PHASES].join('  ');
    const rows = FAULT_KINDS.map((kind) =>
      [kind.padEnd(width), ...PHASES.map((phase) => String(this.count(kind, phase)).padStart(phase.length))].join('  '),
    );
    const total = [...this.met.values()].reduce((sum, count) => sum + count, 0);
    const sum = `${total} faults at their phase, every pair at least ${this.least()} times; ${this.missed} at another moment or without a victim`;
    return [header, ...rows, sum].join('\n');
  }

  private least(): number {
    return Math.min(...FAULT_KINDS.flatMap((kind) => PHASES.map((phase) => this.count(kind, phase))));
  }

  private count(kind: FaultKind, phase: Phase): number {
    return this.met.get(`${kind} ${phase}`) ?? 0;
  }
}
