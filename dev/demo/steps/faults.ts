import { httpGet } from '../traffic';
import type { World } from '../world';

/** (g) The cloud throttles and loses an answer; still exactly one load balancer comes of it. */
export async function cloudMisbehaves(world: World, manifest: string): Promise<void> {
  const { report } = world;
  report.heading('g', 'The cloud allows one call a second and loses the answer to the creation of a load balancer');
  await world.cloud.faults([
    { match: { verb: 'create', collection: 'loadbalancers' }, times: 1, act: { loseResponse: true } },
    { match: { caller: 'cloud-operator-update' }, act: { throttle: { rps: 1, burst: 1 } } },
  ]);
  await world.cloud.admin.resetCalls();
  await world.kubectl('apply', '-f', manifest);
  const { seconds } = await world.until('an address for web-faults', () => world.ingressOf('web-faults'), 60_000);
  const { calls } = await world.cloud.admin.calls();
  const throttled = calls.filter(({ code }) => code === 429).reduce((sum, { count }) => sum + count, 0);
  const lost = (await world.cloud.admin.faults()).rules[0]?.acted ?? 0;
  await world.cloud.faults([]);
  const made = await world.cloud.loadBalancersOf('default/web-faults');
  report.prove(
    made.length === 1 && lost === 1,
    'converged, without a double',
    `${made.length} load balancer after ${seconds.toFixed(1)} s, ${lost} answer lost and ${throttled} calls throttled`,
  );
  const answer = await httpGet(await world.endpoint('web-faults', 'http'), 2000);
  report.prove(answer.length > 0, 'and it answers', answer.split('\n')[0] ?? '');
}
