import { z } from 'zod';
import type { Ingress } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { generationOfName, servingGeneration } from '../../generations';
import type { DiscoveredResource, LoadBalancerInput, LoadBalancerResult, RecognizedLoadBalancer } from '../../provider';
import { loadBalancer, type LoadBalancerInputs } from '../resources/load-balancer';
import { publicIPAddress } from '../resources/public-ip-address';
import { baseNameOf } from './names';

/** What the program publishes for one CloudLoadBalancer: addresses of its newest generation, rules of all. */
const publishedLoadBalancer = z.object({
  addresses: z.array(z.string().min(1)).min(1),
  targetGroups: z.array(z.object({ id: z.string().min(1), port: z.int() })),
});
export type PublishedLoadBalancer = z.infer<typeof publishedLoadBalancer>;

/** LoadBalancers.results. Pure. */
export function results(outputs: JsonObject, uid: string): LoadBalancerResult | undefined {
  const { data } = publishedLoadBalancer.safeParse(outputs[uid]);
  return data === undefined ? undefined : { ingress: data.addresses.map(entryAt), targetGroups: data.targetGroups };
}

const LOAD_BALANCER = loadBalancer('', { clusterName: '' }).token;
const PUBLIC_ADDRESS = publicIPAddress('').token;

/**
 * LoadBalancers.recognize, by the rules of its name. The node port is where floating IP is off in the rule, and in the spec otherwise; an address that
 * is shared by its name, and not made, is not told. Pure.
 */
export function recognize(found: readonly DiscoveredResource[], { ownerUID, spec }: LoadBalancerInput): RecognizedLoadBalancer | undefined {
  const generationOf = (name: string): number | undefined => generationOfName(name, (generation) => baseNameOf({ ownerUID, generation }));
  const addresses = new Map(
    found.filter(({ type }) => type === PUBLIC_ADDRESS).map(({ id, outputs }) => [id.toLowerCase(), outputs.ipAddress]),
  );
  const balancers = found.filter(({ type }) => type === LOAD_BALANCER);
  const parts = balancers.flatMap(({ id, inputs, outputs }) =>
    (inputs as unknown as LoadBalancerInputs).loadBalancingRules
      .filter(({ name }) => generationOf(name) !== undefined)
      .map((rule) => ({ id, rule, frontend: frontendOf(outputs, rule.frontendIPConfiguration.id) })),
  );
  if (parts.length === 0) return undefined;
  const entries = (generation: number): Ingress[] => {
    const own = parts.filter(({ rule }) => generationOf(rule.name) === generation);
    const named = own.flatMap(
      ({ frontend }) => addresses.get(frontend?.publicIPAddress?.id.toLowerCase() ?? '') ?? frontend?.privateIPAddress ?? [],
    );
    return [...new Set(named as string[])].map(entryAt);
  };
  const first = parts.filter(({ rule }) => !rule.name.endsWith('-IPv6') || spec.ipFamilies[0] === 'IPv6');
  const targetGroups = (first.length > 0 ? first : parts).map(({ id, rule }) => ({
    id: `${id}/loadBalancingRules/${rule.name}`,
    port: spec.listeners.find(({ port }) => port === rule.frontendPort)?.nodePort ?? rule.backendPort,
  }));
  return {
    ...servingGeneration(
      parts.map(({ rule }) => generationOf(rule.name) ?? 0),
      entries,
    ),
    targetGroups,
  };
}

type FoundFrontend = LoadBalancerInputs['frontendIPConfigurations'][number];

function frontendOf(outputs: JsonObject, id: string): FoundFrontend | undefined {
  const all = (outputs.frontendIPConfigurations ?? []) as unknown as FoundFrontend[];
  return all.find(({ name }) => id.endsWith(`/${name}`));
}

/** Packets for it reach Nodes as they are: kube-proxy may answer them itself. */
function entryAt(ip: string): Ingress {
  return { ip, ipMode: 'VIP' };
}
