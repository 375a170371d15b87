import { setTimeout as pause } from 'node:timers/promises';
import type { OperatorCluster } from '../harness/operator-cluster';
import { cpuSeconds } from './processes';
import { secondsSince } from './report';

/** Idle is to use less than this share of a core for so long, with nothing waiting. */
const IDLE_SHARE = 0.05;
const IDLE_SECONDS = 3;
/** After this long it will not be idle any more. */
const IDLE_TIMEOUT_MINUTES = 30;
const LOOK_EVERY_MS = 500;

type Running = Pick<OperatorCluster, 'operatorPid' | 'operatorURL'>;

/**
 * Waits until the operator does nothing any more. Its metrics are asked for only where it seems so: to give them takes CPU time that is measured here.
 * @returns since when, as performance.now() gives it
 */
export async function idle(running: Running): Promise<number> {
  const startedAt = performance.now();
  for (let since = startedAt; ;) {
    if (secondsSince(startedAt) > IDLE_TIMEOUT_MINUTES * 60)
      throw new Error(`the operator is not idle after ${IDLE_TIMEOUT_MINUTES} minutes`);
    const cpu = cpuSeconds(running.operatorPid);
    const lookedAt = performance.now();
    await pause(LOOK_EVERY_MS);
    const busy = (cpuSeconds(running.operatorPid) - cpu) / secondsSince(lookedAt) > IDLE_SHARE;
    if (busy) since = performance.now();
    if (secondsSince(since) < IDLE_SECONDS) continue;
    if ((await waiting(running)) === 0) return since;
    since = performance.now();
  }
}

/** Keys that wait in the operator's queues, and that its workers have. */
async function waiting({ operatorURL }: Running): Promise<number> {
  const metrics = await (await fetch(`${operatorURL}/metrics`)).text();
  const lines = metrics.split('\n').filter((line) => /^workqueue_(depth|unfinished_work_seconds)\{/.test(line));
  return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
