import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UpdatesHarness } from '../integration/updates/harness';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);

/** Time of one changed stack of four resources, one changed, with a cloud that answers at once. Prints milliseconds. */
export async function update(): Promise<void> {
  const harness = new UpdatesHarness();
  await harness.start({ workers: 2 });
  try {
    const rows = [];
    for (let round = 0; round < ROUNDS; round++) {
      const cpu = childCpuMs(harness);
      const startedAt = performance.now();
      const result = await harness.run('bench', {
        things: [
          { name: 'address', size: 1 },
          { name: 'pool', size: 1 },
          { name: 'balancer', size: round, on: 'pool' },
          { name: 'rule', size: 1, on: 'balancer' },
        ],
      });
      const event = harness.events.findLast((entry) => entry.event.type === 'done')?.event;
      if (event?.type !== 'done') throw new Error('no done event');
      rows.push({ total: performance.now() - startedAt, ...event.timings, calls: result.cloudCalls, workerCpu: childCpuMs(harness) - cpu });
    }
    const warm = rows.slice(2);
    const percentile = (name: keyof (typeof warm)[0], share: number): number =>
      Math.round([...warm.map((row) => row[name])].sort((a, b) => a - b)[Math.floor(share * (warm.length - 1))] ?? 0);
    const line = (label: string, name: keyof (typeof warm)[0]): string =>
      `${label.padEnd(44)} p50 ${percentile(name, 0.5)}  p95 ${percentile(name, 0.95)}\n`;
    process.stdout.write(`first update, worker cold: ${Math.round(rows[0]?.total ?? 0)} ms\n`);
    process.stdout.write(line('one changed resource of four, whole', 'total'));
    process.stdout.write(line('  request to servers ready', 'preparedMs'));
    process.stdout.write(line('  request to program asked for', 'programMs'));
    process.stdout.write(line('  request to end of the engine process', 'engineMs'));
    process.stdout.write(line('  worker CPU', 'workerCpu'));
    const unchangedAt = performance.now();
    for (let round = 0; round < 100; round++) {
      await harness.run('bench', {
        things: [
          { name: 'address', size: 1 },
          { name: 'pool', size: 1 },
          { name: 'balancer', size: ROUNDS - 1, on: 'pool' },
          { name: 'rule', size: 1, on: 'balancer' },
        ],
      });
    }
    process.stdout.write(`unchanged (hash skip): ${((performance.now() - unchangedAt) / 100).toFixed(2)} ms\n`);
    const folder = join(harness.directory, 'stacks/bench');
    process.stdout.write(`state file: ${statSync(join(folder, readdirSync(folder)[0] ?? '')).size} bytes\n`);
    const several = performance.now();
    await Promise.all(Array.from({ length: 10 }, (_, index) => harness.run(`many-${index}`, { things: [{ name: 'a', size: 1 }] })));
    process.stdout.write(`10 new stacks at once, 2 workers: ${Math.round(performance.now() - several)} ms\n`);
  } finally {
    await harness.stop();
  }
}

/** CPU time of the workers so far, from /proc; 0 where there is none. */
function childCpuMs(harness: UpdatesHarness): number {
  const ticks = harness.engine.workerPids.map((pid) => {
    const fields = readStat(pid).split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  });
  return ticks.reduce((sum, tick) => sum + tick * 10, 0);
}

function readStat(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8');
}
