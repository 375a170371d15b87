import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { processes } from '../../faults/processes';
import { pulumiPath } from '../updates/harness';

/**
 * Programs that stand in the place of official plugins, which have some hundred megabytes: the real engine finds them by their names and speaks to them by the
 * real protocol.
 */
export class PluginFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'cloud-operator-plugin-'));
  /** For `require` in a plugin's source. */
  readonly modules = join(PROJECT_ROOT, 'node_modules');

  /** @param source JavaScript of the plugin's main file */
  install(name: string, source: string): void {
    writeFileSync(this.scriptOf(name), source);
    this.executable(`pulumi-resource-${name}`, `#!/bin/sh\nexec ${process.execPath} ${this.scriptOf(name)} "$@"\n`);
  }

  /** The image has plugins where every program is; here the engine gets a folder more. @returns path of a CLI that finds them */
  pulumi(): string {
    return this.executable('pulumi', `#!/bin/sh\nPATH=${this.path}:$PATH exec ${pulumiPath()} "$@"\n`);
  }

  /** Process ids of a plugin. */
  running(name: string): number[] {
    return processes().flatMap(({ pid, commandLine }) => (commandLine.includes(this.scriptOf(name)) ? [pid] : []));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  private scriptOf(name: string): string {
    return join(this.path, `${name}.js`);
  }

  private executable(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  }
}
