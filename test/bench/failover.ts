import { sleep, systemClock } from '../../operator/base/clock';
import type { Operator } from '../faults/operator';
import { FaultSystem } from '../faults/system';
import { WantedWorld } from '../faults/wanted-world';
import { sayAtMost, secondsSince } from './report';

const SERVICES = Number(process.env.BENCH_SERVICES ?? 50);
const ROUNDS = 3;
const NODES = 3;
/** Changes that are under way when the leader dies. */
const CHANGES = 5;
const LEASE_SECONDS = 15;
const FLAGS = ['--leader-elect=true', `--leader-elect-lease-duration=${LEASE_SECONDS}s`];
const SETTLED_MS = 180_000;

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
  private readonly world: WantedWorld;

  constructor(
    system: FaultSystem,
    /** Who leads now, and who would take over. */
    private pair: [Operator, Operator],
  ) {
    this.world = new WantedWorld(system);
  }

  async begin(): Promise<void> {
    for (const operator of this.pair) await operator.start();
    for (let node = 0; node < NODES; node++) await this.world.make({ kind: 'addNode', name: `node-${node}` });
    for (let index = 0; index < SERVICES; index++) await this.addService(`web-${index}`, 80);
    await this.world.settled(this.pair, SETTLED_MS);
  }

  async round(round: number): Promise<void> {
    const [leader, successor] = this.pair;
    for (let index = 0; index < CHANGES; index++)
      await this.world.make({ kind: 'changePorts', name: `web-${index}`, ports: [8_000 + round] });
    await this.addService(`late-${round}`, 443);
    await sleep(systemClock, 300);
    const startedAt = performance.now();
    await leader.kill();
    await this.world.settled([successor], SETTLED_MS);
    const what = `leader of ${SERVICES} load balancers, with a lease of ${LEASE_SECONDS} s, killed amid ${CHANGES + 1} changes: all Ready and right after`;
    sayAtMost(what, secondsSince(startedAt), LEASE_SECONDS + 10, ' s');
    this.pair = [successor, leader];
    await leader.start();
  }

  private addService(name: string, port: number): Promise<void> {
    return this.world.make({ kind: 'createService', name, service: { type: 'LoadBalancer', ports: [port], sourceRanges: [] } });
  }
}
