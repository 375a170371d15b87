import { Load } from '../traffic';
import type { World } from '../world';

/** Fewer would prove little. */
const REQUESTS = 100;

/** (c) A Node leaves and comes back while requests keep coming: none fails. */
export async function nodeLeavesUnderLoad(world: World): Promise<void> {
  const { report } = world;
  report.heading('c', 'Under constant load, Node node-1 is deleted and comes back');
  const load = new Load(await world.endpoint('web', 'http'), 8, 5);
  const targets = async (): Promise<number> =>
    (await world.cloud.targetsOf(await world.cloud.loadBalancerOf('default/web'), 'http')).length;
  try {
    await world.fleet.removeNode('node-1');
    const left = await world.until('node-1 out of the targets', async () => (await targets()) === 2);
    report.say(`node-1 left the targets after ${left.seconds.toFixed(2)} s`);
    await new Promise((resolve) => setTimeout(resolve, 1000)); // so that the load is felt by two nodes alone
    await world.fleet.addNode('node-1');
    const back = await world.until('node-1 back in the targets', async () => (await targets()) === 3);
    report.say(`node-1 was initialized and is a target again after ${back.seconds.toFixed(2)} s`);
    await world.until('enough requests', () => Promise.resolve(load.requests > REQUESTS));
  } finally {
    const { requests, failures } = await load.stop();
    const seen = `${failures.length} of ${requests}${failures[0] === undefined ? '' : ` (first: ${failures[0]})`}`;
    report.prove(failures.length === 0 && requests > REQUESTS, 'failed requests', seen);
  }
}
