/** Prints the demo's steps as they happen: what is done, what was proved, how long it took. */
export class Report {
  private readonly startedAt = performance.now();
  private failures = 0;
  private excludedMs = 0;

  constructor(private readonly write: (line: string) => void) {}

  /** A line about what is going on. */
  say(text: string): void {
    this.write(`${this.clock()}      ${text}`);
  }

  heading(letter: string, title: string): void {
    this.write('');
    this.write(`${this.clock()} (${letter}) ${title}`);
  }

  /** One proof: held or not, with the figures seen. */
  prove(held: boolean, claim: string, seen: string): void {
    if (!held) this.failures += 1;
    this.write(`${this.clock()}   ${held ? '✔' : '✘'}  ${claim}: ${seen}`);
  }

  get failed(): number {
    return this.failures;
  }

  /** Seconds since the start, without what was not to count. */
  get elapsed(): number {
    return (performance.now() - this.startedAt - this.excludedMs) / 1000;
  }

  /** The time of a person who looks around doesn't count. */
  async without(waiting: Promise<void>): Promise<void> {
    const began = performance.now();
    await waiting;
    this.excludedMs += performance.now() - began;
  }

  private clock(): string {
    return `${this.elapsed.toFixed(1).padStart(5)} s`;
  }
}
