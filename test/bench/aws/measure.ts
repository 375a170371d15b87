import { setTimeout as pause } from 'node:timers/promises';
import type { Arena } from './arena';
import type { Phase } from './phases';

/** What one phase took. */
export interface Figure {
  phase: Phase;
  /** From its beginning to its last call, in seconds. */
  seconds: number;
  /** Requests to AWS, refused ones included. */
  calls: number;
  /** Those that were no reads. */
  writes: number;
  /** Those that AWS refused. */
  refused: number;
  /** By action, the most frequent first. */
  actions: [action: string, count: number][];
  /** How far it came, and how far it should. */
  done: number;
  goal: number;
}

export interface Step {
  act: () => Promise<unknown>;
  /** How much of `goal` is reached. */
  done: () => Promise<number>;
  goal: number;
}

/** A phase is over when its goal is reached and no call has been made for so long. */
const QUIET_MS = 8_000;
/** Calls that never end, such as those of a timer, do not keep it. */
const SETTLE_MS = 120_000;
/** Without progress for so long, it has stopped. Upstream waits up to a minute after it was throttled. */
const STALLED_MS = 150_000;
const LONGEST_MS = 20 * 60_000;
/** Of many: moto takes longer for each the more there are. */
const LONGEST_EACH_MS = 10_000;
const POLL_MS = 300;
const PROGRESS_MS = 15_000;

interface Progress {
  done: number;
  since: number;
}

/** Runs one phase until all is reached and quiet, or it gets no further. Bounded in time. */
export async function measure(arena: Arena, phase: Phase, { act, done, goal }: Step): Promise<Figure> {
  const { proxy, traffic, contestant } = arena;
  proxy.calls.length = 0;
  const startedAt = performance.now();
  traffic.lastAt = startedAt;
  await act();
  const progress: Progress = { done: -1, since: startedAt };
  let toldAt = startedAt;
  for (;;) {
    contestant.assertRuns();
    const now = performance.now();
    const reached = await done();
    if (reached > progress.done) Object.assign(progress, { done: reached, since: now });
    if (isOver(progress, { now, goal, startedAt, lastAt: traffic.lastAt })) break;
    if (now - toldAt > PROGRESS_MS) {
      toldAt = now;
      tell(`${contestant.name}, ${phase}: ${reached} of ${goal} after ${seconds(now - startedAt)} s, ${proxy.calls.length} calls`);
    }
    await pause(POLL_MS);
  }
  const end = progress.done >= goal ? Math.max(progress.since, traffic.lastAt) : progress.since;
  return { phase, seconds: (end - startedAt) / 1000, ...countsOf(arena), done: progress.done, goal };
}

interface Moment {
  now: number;
  goal: number;
  startedAt: number;
  lastAt: number;
}

function isOver({ done, since }: Progress, { now, goal, startedAt, lastAt }: Moment): boolean {
  if (now - startedAt > Math.max(LONGEST_MS, goal * LONGEST_EACH_MS)) return true;
  if (done < goal) return now - since > STALLED_MS;
  return now - lastAt > QUIET_MS || now - since > SETTLE_MS;
}

function countsOf({ proxy: { calls } }: Arena): Pick<Figure, 'calls' | 'writes' | 'refused' | 'actions'> {
  const byAction = new Map<string, number>();
  for (const { action } of calls) byAction.set(action, (byAction.get(action) ?? 0) + 1);
  return {
    calls: calls.length,
    writes: calls.filter(({ verb }) => verb !== 'list').length,
    refused: calls.filter(({ status = 200 }) => status !== 200).length,
    actions: [...byAction].sort(([, a], [, b]) => b - a),
  };
}

/** Progress, beside the report. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(0);
}
