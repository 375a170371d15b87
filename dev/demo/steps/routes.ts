import { NODES, type Node } from '../../../operator/kube/object';
import type { World } from '../world';

/** (d) Pods on two nodes reach each other by the cloud's route; somebody deletes it; it comes back. */
export async function routeComesBack(world: World): Promise<void> {
  const { report, fleet } = world;
  report.heading('d', 'The pod (a stand-in) on node-1 asks the one on node-3, by the cloud’s route; then that is deleted behind our back');
  const destination = (await world.kube.get<Node>(NODES, 'node-3'))?.spec.podCIDRs?.[0];
  if (destination === undefined) throw new Error('node-3 has no podCIDR');
  const reach = (): Promise<boolean> =>
    fleet.fetchPod('node-1', 'node-3').then(
      () => true,
      () => false,
    );
  await world.until('pod to pod across nodes', async () => (await reach()) && true);
  report.prove(true, 'pod to pod across nodes', (await fleet.fetchPod('node-1', 'node-3')).trim());
  await world.cloud.drift({ kind: 'deleteRoute', destinationCIDR: destination });
  const broken = !(await reach());
  report.prove(broken, `route ${destination} deleted in the cloud`, broken ? 'the pod can’t be reached' : 'the pod still answers');
  const { seconds } = await world.until('the route restored', async () => (await reach()) && true);
  report.prove(true, 'restored', `reachable again after ${seconds.toFixed(2)} s`);
}
