import { httpGet } from '../traffic';
import type { World } from '../world';

/** (e) Somebody changes the load balancer itself; it is found and repaired. */
export async function loadBalancerIsRepaired(world: World): Promise<void> {
  const { report } = world;
  report.heading('e', 'The load balancer itself is changed behind our back: its HTTP listener is taken away');
  const before = await world.endpoint('web', 'http');
  const loadBalancer = await world.cloud.loadBalancerOf('default/web');
  const listeners = loadBalancer.listeners.filter(({ name }) => name !== 'http');
  await world.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id: loadBalancer.id, fields: { listeners } });
  const broken = await httpGet(before, 1000).then(
    () => false,
    () => true,
  );
  report.prove(broken, 'the Service is broken', broken ? 'no answer' : 'it still answers');
  const { seconds } = await world.until('the listener restored', async () => {
    const answer = await httpGet(await world.endpoint('web', 'http'), 1000);
    return answer.length > 0;
  });
  const after = await world.endpoint('web', 'http');
  report.prove(after.ip === before.ip, 'found and repaired, same address', `${after.ip} answers after ${seconds.toFixed(2)} s`);
}
