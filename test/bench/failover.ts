import { sleep, systemClock } from '../../operator/base/clock';
import { problemsOf } from '../faults/checks';
import type { Operator } from '../faults/operator';
import { People } from '../faults/people';
import { FaultSystem } from '../faults/system';
import { changed, EMPTY_WORLD, type Change, type World } from '../faults/world';
import { waitFor } from '../harness/wait-for';
import { say, secondsSince } from './report';

const SERVICES = Number(process.env.BENCH_SERVICES ?? 50);
const ROUNDS = 3;
const NODES = 3;
/** Changes that are under way when the leader dies. */
const CHANGES = 5;
const LEASE_SECONDS = 15;
const FLAGS = ['--leader-elect=true', `--leader-elect-lease-duration=${LEASE_SECONDS}s`];

/** Two operators; the leader is killed in the middle of its work. */
export async function failover(): Promise<void> {
  const system = await FaultSystem.start();
  try {
    const bench = new FailoverBench(system, [await system.addOperator('a', FLAGS), await system.addOperator('b', FLAGS)]);
    await bench.begin();
    for (let round = 1; round <= ROUNDS; round++) await bench.round(round);
  } finally {
    await system.stop();
  }
}

class FailoverBench {
  private readonly people: People;
  private world: World = EMPTY_WORLD;

  constructor(
    private readonly system: FaultSystem,
    /** Who leads now, and who would take over. */
    private pair: [Operator, Operator],
  ) {
    this.people = new People(system);
  }

  async begin(): Promise<void> {
    for (const operator of this.pair) await operator.start();
    for (let node = 0; node < NODES; node++) await this.make({ kind: 'addNode', name: `node-${node}` });
    for (let index = 0; index < SERVICES; index++) await this.addService(`web-${index}`, 80);
    await this.settled(this.pair);
  }

  async round(round: number): Promise<void> {
    const [leader, successor] = this.pair;
    for (let index = 0; index < CHANGES; index++) await this.make({ kind: 'changePorts', name: `web-${index}`, ports: [8_000 + round] });
    await this.addService(`late-${round}`, 443);
    await sleep(systemClock, 300);
    const startedAt = performance.now();
    await leader.kill();
    await this.settled([successor]);
    say(
      `leader of ${SERVICES} load balancers killed amid ${CHANGES + 1} changes: all Ready and right after ${secondsSince(startedAt).toFixed(1)} s ` +
        `(goal: lease of ${LEASE_SECONDS} s + 10 s)`,
    );
    this.pair = [successor, leader];
    await leader.start();
  }

  private addService(name: string, port: number): Promise<void> {
    return this.make({ kind: 'createService', name, service: { type: 'LoadBalancer', ports: [port], sourceRanges: [] } });
  }

  private async make(change: Change): Promise<void> {
    await this.people.make(change);
    this.world = changed(this.world, change);
  }

  private settled(operators: readonly Operator[]): Promise<true> {
    const allRight = async (): Promise<true> => {
      const problems = await problemsOf(this.world, this.system, operators);
      if (problems.length === 0) return true;
      throw new Error(problems.slice(0, 5).join('; '));
    };
    return waitFor(allRight, { what: 'everything to be as wanted', timeoutMs: 180_000 });
  }
}
