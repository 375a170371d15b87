import { mkdirSync, writeFileSync } from 'node:fs';
import { compiled } from '../../operator/entry';
import type { DevPaths } from './paths';
import type { GuardedProcess, ProcessGuard } from './process-guard';
import { whenReady } from './readiness';

/** How packets are moved: network namespaces as root, the same rootless, or loopback only; `auto` takes the first that works here. */
export const TIERS = ['auto', 'vpc-root', 'vpc-userns', 'loopback'] as const;
/** `none`: nothing moves packets; for tests that look at objects only. `netns`: in the network namespace of machines of others. */
export type Tier = 'auto' | 'vpc-root' | 'vpc-userns' | 'loopback' | 'netns' | 'none';

export interface RunningLocalCloud {
  process: GuardedProcess;
  endpoint: string;
  tokenFile: string;
  /** The tier that was taken, and why. */
  tier: string;
  reason: string;
}

export interface LocalCloudOptions {
  paths: DevPaths;
  port: number;
  tier: Tier;
  /** For the tier netns: path of the network namespace. */
  namespace?: string;
}

const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
/** It gives itself 10 s to take its namespaces down. */
const GRACE_MS = 12_000;

/** Starts the local cloud and waits until it says that it is ready. @throws OperatorError with the end of its log */
export async function startLocalCloud(
  guard: ProcessGuard,
  { paths, port, tier, namespace }: LocalCloudOptions,
): Promise<RunningLocalCloud> {
  mkdirSync(paths.cloud, { recursive: true, mode: 0o700 });
  const place = { tier, ...(namespace === undefined ? {} : { namespace }) };
  const config = { directory: paths.cloud, listen: { port }, tokenFile: paths.cloudToken, ...place, logLevel: 'info' };
  writeFileSync(paths.cloudConfig, JSON.stringify(config, undefined, 2));
  let ready: Pick<RunningLocalCloud, 'endpoint' | 'tier' | 'reason'> | undefined;
  const process = await guard.start({
    name: 'local-cloud',
    command: globalThis.process.execPath,
    args: [compiled('providers/local/cloud/main'), '--config', paths.cloudConfig],
    cwd: paths.root,
    log: `${paths.logs}/local-cloud.log`,
    onLine: (line) => (ready = readyIn(line) ?? ready),
    graceMs: GRACE_MS,
  });
  const told = await whenReady(process, { probe: () => ready, timeoutMs: READY_TIMEOUT_MS, pollMs: POLL_MS });
  return { process, tokenFile: paths.cloudToken, ...told };
}

/** The one line on standard output that is not a log. */
function readyIn(line: string): Pick<RunningLocalCloud, 'endpoint' | 'tier' | 'reason'> | undefined {
  if (!line.startsWith('{"ready":true')) return undefined;
  const { endpoint, tier, reason } = JSON.parse(line) as RunningLocalCloud;
  return { endpoint, tier, reason };
}
