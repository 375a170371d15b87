import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { OperatorError } from '../operator/base/errors';
import { PROJECT_ROOT } from '../operator/entry';
import type { Tool } from './catalogue';
import { startHeartbeat } from './heartbeat';

export interface BuildOptions {
  environment: NodeJS.ProcessEnv;
  report: (line: string) => void;
}

const SHOWN_LINES = 12;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
export async function buildTool(tool: Tool, target: string, options: BuildOptions): Promise<void> {
  const folder = join(PROJECT_ROOT, 'tools', tool.build.module);
  if (!existsSync(join(folder, 'go.mod'))) throw new OperatorError('NotFound', `${folder}/go.mod is missing`);
  const partial = `${target}.${process.pid}.partial`;
  const { linkerFlags } = tool.build;
  // -buildvcs=false: the state of this repository must neither stop nor change a build.
  const args = ['build', '-v', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags, '-o', partial, tool.build.package];
  const child = spawn('go', args, { cwd: folder, env: goEnvironment(options.environment), stdio: ['ignore', 'ignore', 'pipe'] });
  const release = endWithUs(child);
  try {
    await watchBuild(tool, child, options.report);
    await rename(partial, target);
  } finally {
    release();
    await rm(partial, { force: true });
  }
}

async function watchBuild(tool: Tool, child: ChildProcess, report: (line: string) => void): Promise<void> {
  const last: string[] = [];
  let packages = 0;
  const stop = startHeartbeat(report, (elapsed) => `${tool.name}: building, ${elapsed} elapsed, ${packages} packages compiled so far`);
  try {
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        packages += 1; // -v names each package as it is compiled
        last.push(line);
        if (last.length > SHOWN_LINES) last.shift();
      });
    }
    const how = await ending(child);
    if (how !== undefined)
      throw new OperatorError('Unknown', `go build of ${tool.name} ended with ${how}:\n${last.map((line) => `  ${line}`).join('\n')}`);
  } finally {
    stop();
  }
}

/** Resolves with undefined when all went well, else with how it ended. */
function ending(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
}

/** The compiler must not go on when the person who waits for it gives up. */
function endWithUs(child: ChildProcess): () => void {
  const handlers = SIGNALS.map((signal) => {
    const handler = (): void => {
      child.kill('SIGKILL');
      release();
      process.kill(process.pid, signal);
    };
    process.once(signal, handler);
    return { signal, handler };
  });
  const release = (): void => handlers.forEach(({ signal, handler }) => process.off(signal, handler));
  return release;
}

/** A person's GOFLAGS or a fixed local toolchain could break a pinned build; the module proxy settings stay theirs. */
function goEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...environment, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', GOFLAGS: '-mod=readonly', GOWORK: 'off', GOOS: '', GOARCH: '' };
}
