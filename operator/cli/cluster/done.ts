import type { OutputFormat } from '../cluster-flags';
import { print } from './output';

/** What a command has done to one object. */
export interface Deed {
  kind: string;
  name: string;
  [detail: string]: unknown;
}

/** Tells what a command does: a line for people as soon as it is done, or everything as data at the end. */
export class Deeds {
  private readonly all: Deed[] = [];

  constructor(private readonly format: OutputFormat) {}

  did(deed: Deed, line: string): void {
    this.all.push(deed);
    this.say(line);
  }

  /** Something for people only. */
  say(line: string): void {
    if (this.format === 'table') process.stdout.write(`${line}\n`);
  }

  /** No more follows. */
  end(): void {
    print(this.format, this.all, () => '');
  }
}
