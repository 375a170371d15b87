import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { processes } from '../../faults/processes';
import { waitFor } from '../../harness/wait-for';
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

  /** @param file TypeScript of the plugin's main file, from the project's root */
  installModule(name: string, file: string): void {
    const paths = ['node_modules/tsx/dist/cjs/index.cjs', file].map((path) => JSON.stringify(join(PROJECT_ROOT, path)));
    this.install(name, paths.map((path) => `require(${path});\n`).join(''));
  }

  /** The image has plugins where every program is; here the engine gets a folder more. @returns path of a CLI that finds them */
  pulumi(): string {
    return this.executable('pulumi', `#!/bin/sh\nPATH=${this.path}:$PATH exec ${pulumiPath()} "$@"\n`);
  }

  /** Process ids of a plugin. */
  running(name: string): number[] {
    return processes().flatMap(({ pid, commandLine }) => (commandLine.includes(this.scriptOf(name)) ? [pid] : []));
  }

  /** As somebody's out-of-memory killer: resolves when nothing of it runs any more. */
  async kill(name: string): Promise<void> {
    this.running(name).forEach((pid) => process.kill(pid, 'SIGKILL'));
    await waitFor(() => this.running(name).length === 0, { what: `plugin ${name} to be dead`, timeoutMs: 10_000 });
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
