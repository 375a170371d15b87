import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../operator/base/errors';
import { PROJECT_ROOT } from '../operator/entry';
import type { GoBuild, Tool } from './catalogue';
import { runLongCommand } from './long-command';

export interface BuildOptions {
  environment: NodeJS.ProcessEnv;
  report: (line: string) => void;
}

/** The version of the host's `go`, or undefined when there is none that runs. */
export async function goVersion(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('go', ['version'], { env: goEnvironment(environment) });
    return /go\d+(\.\d+)*/.exec(stdout)?.[0];
  } catch {
    return undefined; // absent or broken: the caller says what to install
  }
}

/**
 * Builds a tool from its pinned Go module to `target`. What was compiled stays in Go's own cache, so an interrupted build goes on from there.
 * @throws OperatorError with the end of go's output
 */
export async function buildTool({ name }: Tool, build: GoBuild, target: string, options: BuildOptions): Promise<void> {
  const folder = join(PROJECT_ROOT, 'tools', build.module);
  if (!existsSync(join(folder, 'go.mod'))) throw new OperatorError('NotFound', `${folder}/go.mod is missing`);
  const partial = `${target}.${process.pid}.partial`;
  try {
    await runLongCommand({
      what: `go build of ${name}`,
      command: 'go',
      // -v names each package as it is compiled; -buildvcs=false: the state of this repository must neither stop nor change a build.
      args: ['build', '-v', '-trimpath', '-buildvcs=false', '-ldflags', build.linkerFlags, '-o', partial, build.package],
      cwd: folder,
      environment: goEnvironment(options.environment),
      report: options.report,
      progress: (elapsed, packages) => `${name}: building, ${elapsed} elapsed, ${packages} packages compiled so far`,
    });
    await rename(partial, target);
  } finally {
    await rm(partial, { force: true });
  }
}

/** A person's GOFLAGS or a fixed local toolchain could break a pinned build; the module proxy settings stay theirs. */
function goEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...environment, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', GOFLAGS: '-mod=readonly', GOWORK: 'off', GOOS: '', GOARCH: '' };
}
