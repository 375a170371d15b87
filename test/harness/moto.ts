import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessGuard } from '../../dev/cluster/process-guard';
import { PROJECT_ROOT } from '../../operator/entry';
import type { FoundTool } from '../../tools/find';
import { waitFor } from './wait-for';

/** A simulated AWS API that runs. */
export interface Moto {
  url: string;
  stop(): Promise<void>;
}

let found: { path: string } | undefined;

/** `describe`, skipped with a printed reason where moto is not there and can't be installed. The first time on a machine it is installed, which takes a minute. */
export function describeWithMoto(name: string, tests: () => void): void {
  found ??= findMoto();
  if (found !== undefined) return describe(name, tests);
  process.stderr.write(`skipped without moto: ${name}\n`);
  describe.skip(name, tests);
}

/** Beside the event loop's turn, since jest takes a file's tests before anything can be awaited; says on standard error why there is none. */
function findMoto(): { path: string } | undefined {
  const args = [join(PROJECT_ROOT, 'bin/cloud-operator.js'), 'tools', '--json', 'moto'];
  const { status, stdout } = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
  if (status !== 0) return undefined;
  const [tool] = JSON.parse(stdout) as FoundTool[];
  return tool;
}

/**
 * Starts one on a free port of 127.0.0.1, empty, in about one second of CPU.
 * @param command its program; absent = what `describeWithMoto` around the tests has found
 */
export async function startMoto(command = found?.path): Promise<Moto> {
  if (command === undefined) throw new Error('use describeWithMoto around the tests that start moto');
  const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-moto-'));
  const log = join(directory, 'moto.log');
  const guard = ProcessGuard.open();
  const stop = async (): Promise<void> => {
    await guard.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const args = ['-H', '127.0.0.1', '-p', '0'];
    const running = await guard.start({ name: 'moto', command, args, cwd: directory, log, graceMs: 2_000 });
    const url = await waitFor(
      () => {
        const text = readFileSync(log, 'utf8');
        return (
          /Running on (http:\/\/[\d.:]+)/.exec(text)?.[1] ?? (running.exit === undefined ? undefined : Promise.reject(new Error(text)))
        );
      },
      { what: 'moto to listen', timeoutMs: 60_000 },
    );
    return { url, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

/** What an AWS SDK needs to talk to it, as environment: any credentials will do. */
export function awsEnvironment(url: string, region = 'us-east-1'): Record<string, string> {
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  return { ...credentials, AWS_ENDPOINT_URL: url, AWS_REGION: region, AWS_EC2_METADATA_DISABLED: 'true' };
}
