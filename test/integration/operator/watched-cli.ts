import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pulumiPath } from '../updates/harness';

/** One process of the Pulumi CLI. */
export interface CLIStart {
  /** `up`, `preview` … */
  command: string;
  /** Wall clock, milliseconds. */
  at: number;
}

/** Stands in the place of the Pulumi CLI, which it then is: writes down each start, and ends at once while it is broken. */
export class WatchedCLI {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cloud-operator-cli-'));
  readonly path = join(this.folder, 'pulumi');
  private readonly log = join(this.folder, 'starts');
  private readonly mark = join(this.folder, 'broken');

  constructor() {
    const lines = [
      '#!/bin/sh',
      // An operator that starts asks for the version.
      `[ "$1" = version ] || echo "$(date +%s%3N) $1" >> ${this.log}`,
      `[ -e ${this.mark} ] && exit 1`,
      `exec ${pulumiPath()} "$@"`,
    ];
    writeFileSync(this.log, '');
    writeFileSync(this.path, `${lines.join('\n')}\n`, { mode: 0o755 });
  }

  /** All so far, the first one first. */
  starts(): CLIStart[] {
    const lines = readFileSync(this.log, 'utf8').trim().split('\n');
    return lines.flatMap((line) => {
      const [at = '', command = ''] = line.split(' ');
      return command === '' ? [] : [{ command, at: Number(at) }];
    });
  }

  /** Those after the first so many. */
  commands(after = 0): string[] {
    return this.starts()
      .slice(after)
      .map(({ command }) => command);
  }

  break(): void {
    writeFileSync(this.mark, '');
  }

  repair(): void {
    rmSync(this.mark, { force: true });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
