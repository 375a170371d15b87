import type { World } from '../world';

/** (h) Everything is deleted in Kubernetes; nothing is left in the cloud. */
export async function nothingIsLeft(world: World): Promise<void> {
  const { report } = world;
  report.heading('h', 'The Services and Nodes are deleted');
  await world.kubectl('delete', 'service', 'web', 'web-restricted', 'web-faults', 'shop', '--wait=false');
  const services = await world.until('no load balancer left', async () => {
    const left = await world.cloud.count('loadbalancers', 'pools', 'addresses');
    const objects = await world.kubectl('get', 'cloudloadbalancers,services', '--all-namespaces', '--output', 'name');
    return left === 0 && !/web|shop|blog/.test(objects);
  });
  report.prove(true, 'load balancers, pools and addresses in the cloud', `0 after ${services.seconds.toFixed(1)} s`);
  await world.fleet.removeAll();
  const routes = await world.until('no route left', async () => {
    const left = await world.cloud.count('routes');
    const stacks = await world.kubectl('get', 'cloudstacks,cloudroutes', '--output', 'name');
    return left === 0 && stacks === '';
  });
  report.prove(true, 'routes in the cloud, CloudStacks and CloudRoutes in the cluster', `0 after ${routes.seconds.toFixed(1)} s`);
}
