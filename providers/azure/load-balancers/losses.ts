import type { PlannedOperation } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';

const NETWORK = 'azure-native:network:';
/** Where clients and endpoints come in, and what they are connected through. */
const ENTRIES = ['PublicIPAddress', 'PrivateLinkService'].map((type) => `${NETWORK}${type}`);
/** A property of a frontend that is there, or all of it: whatever of it becomes another one, its address does, or may. */
const OF_FRONTEND = /^frontendIPConfigurations\[/;

/** LoadBalancers.lossBy: addresses and Private Link Services that go, and frontends that get other ones in place. */
export function lossBy({ op, type, name, properties = [] }: PlannedOperation): string | undefined {
  if (op === 'delete' && ENTRIES.includes(type)) return `deletes ${type.slice(NETWORK.length)} ${name}`;
  const isReaddressed = properties.some(({ path, old }) => old !== undefined && OF_FRONTEND.test(path));
  if (op !== 'update' || type !== `${NETWORK}LoadBalancer` || !isReaddressed) return undefined;
  return `gives frontends of LoadBalancer ${name} other addresses`;
}

/** What an older program gave may lack some of it. */
interface Targeted {
  balancers?: { loadBalancer?: { backendAddressPools?: { name?: string }[] }; securityGroup?: { nodeAddresses?: string[] } }[];
}

/** LoadBalancers.withoutTargets: no addresses of Nodes, in pools and in rules. */
export function withoutTargets(rendered: JsonObject): JsonObject {
  const { balancers = [] } = rendered as unknown as Targeted;
  const bare = balancers.map(({ loadBalancer: { backendAddressPools = [], ...loadBalancer } = {}, securityGroup, ...balancer }) => ({
    ...balancer,
    loadBalancer: { ...loadBalancer, backendAddressPools: backendAddressPools.map(({ name = '' }) => name) },
    ...(securityGroup !== undefined && { securityGroup: { ...securityGroup, nodeAddresses: [] } }),
  }));
  return { ...rendered, balancers: bare };
}
