import type { Ingress } from '../../crds';
import { generationOfName, servingGeneration } from '../generations';
import type { DiscoveredResource, LoadBalancerInput, RecognizedLoadBalancer, TargetGroup } from '../provider';
import { cloudName, renderListener } from './listeners';
import { address } from './resources/address';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import { targetPool } from './resources/target-pool';

interface Pool {
  id: string;
  name: string;
  generation: number;
}

/** LoadBalancers.recognize. The cloud keeps no port with a pool: it is that of the spec's listener, and a pool without one is left out. Pure. */
export function recognize(found: readonly DiscoveredResource[], input: LoadBalancerInput): RecognizedLoadBalancer | undefined {
  const base = (generation: number): string => cloudName(input.ownerUID, generation);
  const pools = of(found, targetPool.token).flatMap(({ id, name }): Pool[] => {
    const generation = generationOfName(name, base);
    return generation === undefined ? [] : [{ id, name, generation }];
  });
  if (pools.length === 0) return undefined;
  const entriesOf = (generation: number): Ingress[] =>
    ingressOf(found, new Set(pools.filter((pool) => pool.generation === generation).map(({ id }) => id)));
  const serving = servingGeneration(
    pools.map(({ generation }) => generation),
    entriesOf,
  );
  return { ...serving, targetGroups: pools.flatMap((pool) => groupOf(pool, input) ?? []) };
}

function groupOf({ id, name, generation }: Pool, { ownerUID, spec }: LoadBalancerInput): TargetGroup | undefined {
  const rendered = spec.listeners.map((listener) => renderListener(cloudName(ownerUID, generation), listener, spec));
  const port = rendered.find(({ pool }) => pool.name === name)?.nodePort;
  return port === undefined ? undefined : { id, port };
}

/** The addresses on which the load balancer hands connections to these pools. */
function ingressOf(found: readonly DiscoveredResource[], pools: ReadonlySet<string>): Ingress[] {
  const ips = new Map(of(found, address.token).map(({ id, outputs }) => [id, outputs.ip as string]));
  const ingress = of(found, loadBalancer.token).flatMap(({ inputs }): Ingress[] => {
    const { listeners, addressIDs, mode } = inputs as unknown as LoadBalancerInputs;
    const ids = listeners.filter(({ poolID }) => pools.has(poolID)).flatMap((listener) => listener.addressIDs ?? addressIDs);
    const ipMode = mode === 'passthrough' ? 'VIP' : 'Proxy';
    return [...new Set(ids)].flatMap((id) => ips.get(id) ?? []).map((ip) => ({ ip, ipMode }));
  });
  return ingress;
}

function of(found: readonly DiscoveredResource[], token: string): DiscoveredResource[] {
  return found.filter(({ type }) => type === token);
}
