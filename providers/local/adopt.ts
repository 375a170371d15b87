import type { FormerOwner } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { Adoption, DiscoveredResource, LoadBalancerInput } from '../provider';
import { familyOf, renderAddresses } from './addresses';
import type { Address, LoadBalancer, Resource, TargetPool } from './api';
import type { LocalCloudClient, ResourceCollection, Resources } from './client';
import { cloudName, renderListener } from './listeners';
import { address } from './resources/address';
import { ADOPTED, holderOf, inputsOf, outputsOf, RELEASED, type CommonInputs, type ResourceDescription } from './resources/description';
import { loadBalancer } from './resources/load-balancer';
import { targetPool } from './resources/target-pool';

/** Whose stack asks, for what, and what it may have. */
export interface AdoptionRequest {
  clusterID: string;
  stack: string;
  input: LoadBalancerInput;
  from?: FormerOwner | undefined;
}

/** The load balancer that has the name, or one of the addresses, and its parts. */
interface Standing {
  balancer?: LoadBalancer;
  addresses: Address[];
  pools: TargetPool[];
}

/**
 * Cloud.adoptable. A load balancer is found by its name, also as a later generation bears it, else by the addresses asked for. What it has beyond what
 * the spec asks for stays with whom it was.
 */
export async function adoptable(client: LocalCloudClient, request: AdoptionRequest): Promise<Adoption | undefined> {
  const { spec } = request.input;
  if (request.from === undefined && spec.local?.name === undefined && spec.addresses === undefined) return undefined;
  const [balancers, addresses, pools] = await Promise.all([client.list('loadbalancers'), client.list('addresses'), client.list('pools')]);
  const standing = standingOf(request.input, { balancers: living(balancers), addresses: living(addresses), pools: living(pools) });
  return judge(request, standing);
}

/** Pure. @throws OperatorError Taken naming the holder */
function judge(request: AdoptionRequest, standing: Standing): Adoption | undefined {
  const own = ({ tags }: Resource): boolean =>
    tags.clusterID === request.clusterID && tags.stack === request.stack && tags[RELEASED] === undefined;
  const all: Resource[] = [...(standing.balancer === undefined ? [] : [standing.balancer]), ...standing.addresses];
  const foreign = all.filter((resource) => !own(resource));
  const refused = foreign.find(({ tags }) => tags[RELEASED] === undefined || request.from !== 'Released');
  if (refused !== undefined) throw taken(refused, standing.balancer);
  if (all.length === 0) return undefined;
  const from = foreign[0] === undefined ? 'this stack' : holderOf(foreign[0]);
  if (foreign.length === 0 && all.every(({ tags }) => tags[ADOPTED] === undefined)) return { from, resources: [] };
  const resources = found(request.input, standing).filter(({ resource }) => !own(resource));
  return { from, resources: resources.map(({ described }) => described), kept: {} };
}

function taken(resource: Resource, balancer: LoadBalancer | undefined): OperatorError {
  const named = resource === balancer;
  const what = named ? `the name ${resource.name}` : `the address ${(resource as Address).ip}`;
  const remedy =
    resource.tags[RELEASED] === undefined
      ? 'Ask for another one, or have it released there and taken over here (docs/operate/adopt.md)'
      : 'To take it over, write the annotation cloud-operator.dev/adopt: Released (docs/operate/adopt.md)';
  return new OperatorError('Taken', `${what} belongs to ${holderOf(resource)}`, {
    remedy,
    field: named ? 'spec.local.name' : 'spec.addresses',
  });
}

function living<R extends Resource>(all: R[]): R[] {
  return all.filter(({ state }) => state !== 'deleting');
}

function standingOf(
  { ownerUID, spec }: LoadBalancerInput,
  cloud: { balancers: LoadBalancer[]; addresses: Address[]; pools: TargetPool[] },
): Standing {
  const asked = cloud.addresses.filter(({ ip }) => spec.addresses?.includes(ip));
  const name = spec.local?.name ?? cloudName(ownerUID);
  const balancer =
    byName(cloud.balancers, name) ?? cloud.balancers.find(({ addressIDs }) => asked.some(({ id }) => addressIDs.includes(id)));
  if (balancer === undefined) return { addresses: asked, pools: [] };
  const ids = new Set(balancer.listeners.map(({ poolID }) => poolID));
  const own = cloud.addresses.filter(({ id }) => balancer.addressIDs.includes(id));
  return {
    balancer,
    addresses: [...own, ...asked.filter((one) => !own.includes(one))],
    pools: cloud.pools.filter(({ id }) => ids.has(id)),
  };
}

/** The newest generation of that name. */
function byName(balancers: LoadBalancer[], name: string): LoadBalancer | undefined {
  const generation = (text: string): number => Number(/-g([0-9]+)$/.exec(text)?.[1] ?? 0);
  const all = balancers.filter((one) => one.name === name || (one.name.startsWith(`${name}-g`) && generation(one.name) > 0));
  return all.sort((a, b) => generation(b.name) - generation(a.name))[0];
}

/** What of it has a place in the program. */
function found({ ownerUID, spec }: LoadBalancerInput, { balancer, addresses, pools }: Standing): Found[] {
  const base = cloudName(ownerUID);
  const ofAddresses = renderAddresses(base, spec).flatMap(({ name, family, requestedIP }) => {
    const match = addresses.find(({ ip }) => ip === requestedIP) ?? addresses.find(({ ip }) => familyOf(ip) === family);
    return match === undefined ? [] : [describe(address, name, match)];
  });
  const ofPools = spec.listeners.flatMap((listener) => {
    const poolID = balancer?.listeners.find(({ port, protocol }) => port === listener.port && protocol === listener.protocol)?.poolID;
    const match = pools.find(({ id }) => id === poolID);
    return match === undefined ? [] : [describe(targetPool, renderListener(base, listener, spec).pool.name, match)];
  });
  return [...ofAddresses, ...ofPools, ...(balancer === undefined ? [] : [describe(loadBalancer, base, balancer)])];
}

interface Found {
  resource: Resource;
  described: DiscoveredResource;
}

function describe<C extends ResourceCollection, I extends CommonInputs>(
  description: ResourceDescription<C, I>,
  name: string,
  resource: Resources[C],
): Found {
  const marks = { adopted: true };
  const inputs = { ...inputsOf(description, resource), ...marks };
  const outputs = { ...outputsOf(description, resource), ...marks };
  return { resource, described: { type: description.token, name, id: resource.id, inputs, outputs } };
}
