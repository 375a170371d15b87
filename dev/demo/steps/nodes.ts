import { NODES, type Node } from '../../../operator/kube/object';
import type { World } from '../world';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';

/** (a) Nodes join tainted, and are initialized from what the cloud says. */
export async function nodesAreInitialized(world: World): Promise<void> {
  world.report.heading('a', 'Three nodes join with the taint "uninitialized"; the operator asks the cloud about them');
  const { value: nodes, seconds } = await world.until('three initialized Nodes', async () => {
    const all = await world.kube.list<Node>(NODES);
    return all.length === 3 && all.every(isInitialized) && all;
  });
  const first = nodes[0];
  world.report.prove(
    nodes.length === 3,
    'initialized: taint gone, providerID, addresses and topology labels set',
    `${nodes.length} of 3 in ${seconds.toFixed(1)} s`,
  );
  world.report.say(
    `for example ${first?.metadata.name}: ${first?.spec.providerID}, zone ${first?.metadata.labels?.['topology.kubernetes.io/zone']}`,
  );
}

function isInitialized(node: Node): boolean {
  const tainted = node.spec.taints?.some(({ key }) => key === UNINITIALIZED) ?? false;
  const zone = node.metadata.labels?.['topology.kubernetes.io/zone'];
  return !tainted && node.spec.providerID !== undefined && zone !== undefined && (node.status?.addresses ?? []).length > 0;
}
