import { azure } from './azure';
import { cluster } from './cluster';
import { failover } from './failover';
import { loadBalancer } from './load-balancer';
import { missedGoals, say } from './report';
import { scale } from './scale';
import { service } from './service';
import { soak } from './soak';
import { state } from './state';
import { update } from './update';

/** The figures of docs/figures.md; fails when one misses its goal. A cloud that answers at once, and no other load on the machine, please. */
const BENCHMARKS: Record<string, () => Promise<void>> = {
  service,
  azure,
  cluster,
  failover,
  'load-balancer': loadBalancer,
  scale,
  soak,
  state,
  update,
};

async function main(names: string[]): Promise<void> {
  for (const name of names.length === 0 ? ['service'] : names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) throw new Error(`there is no benchmark "${name}"; there are ${Object.keys(BENCHMARKS).join(', ')}`);
    say(`# ${name}`);
    await benchmark();
  }
  if (missedGoals() === 0) return;
  say(`${missedGoals()} of the goals were missed`);
  process.exitCode = 1;
}

main(process.argv.slice(2)).catch((thrown: Error) => {
  process.stderr.write(`${thrown.message}\n`);
  process.exitCode = 1;
});
