import { readFileSync } from 'node:fs';
import { compiled } from '../../operator/entry';
import { Fleet } from '../nodes/fleet';
import type { DevPaths } from './paths';
import type { GuardedProcess, ProcessGuard } from './process-guard';
import { whenReady } from './readiness';

export interface NodesProcessOptions {
  paths: DevPaths;
  /** The admin's. */
  kubeconfig: string;
  cloud: { endpoint: string; tokenFile: string };
  /** How many; Nodes of an earlier start that are more are removed. */
  count: number;
}

/** What the process gets as its argument, and what it says on standard output when all Nodes are there. */
export interface FleetConfig {
  kubeconfig: string;
  endpoint: string;
  tokenFile: string;
  count: number;
}
export const NODES_READY = 'ready';

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const GRACE_MS = 5_000;

/** Starts the process that keeps the Nodes, and waits until all are registered. @throws OperatorError with the end of its log */
export async function startNodes(guard: ProcessGuard, { paths, kubeconfig, cloud, count }: NodesProcessOptions): Promise<GuardedProcess> {
  const config: FleetConfig = { kubeconfig, endpoint: cloud.endpoint, tokenFile: cloud.tokenFile, count };
  let ready: true | undefined;
  const process = await guard.start({
    name: 'nodes',
    command: globalThis.process.execPath,
    args: [compiled('dev/nodes/main'), JSON.stringify(config)],
    cwd: paths.root,
    log: `${paths.logs}/nodes.log`,
    onLine: (line) => (ready ??= line === NODES_READY || undefined),
    graceMs: GRACE_MS,
  });
  await whenReady(process, { probe: () => ready, timeoutMs: READY_TIMEOUT_MS, pollMs: POLL_MS });
  return process;
}

/** Removes the Nodes and machines of an earlier start. @throws OperatorError when the cloud or the API server can't be reached */
export async function removeNodes({ kubeconfig, cloud: { endpoint, tokenFile } }: NodesProcessOptions): Promise<void> {
  const token = readFileSync(tokenFile, 'utf8').trim();
  const fleet = await Fleet.start({ kubeconfig, endpoint, token, count: 0, removeOthers: true });
  await fleet.stop();
}
