import { ANNOTATIONS, type FormerOwner } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { Adoption, DiscoveredResource, LoadBalancerInput } from '../provider';
import { familyOf, renderAddresses } from './addresses';
import type { Address, LoadBalancer, Resource, TargetPool } from './api';
import type { LocalCloudClient, ResourceCollection, Resources } from './client';
import { cloudName, renderListener } from './listeners';
import { address } from './resources/address';
import {
  ADOPTED,
  holderOf,
  inputsOf,
  isUnowned,
  outputsOf,
  RELEASED,
  type CommonInputs,
  type ResourceDescription,
} from './resources/description';
import { loadBalancer } from './resources/load-balancer';
import { targetPool } from './resources/target-pool';

/** Whose stack asks, for what, and what it may have. */
export interface AdoptionRequest {
  clusterID: string;
  stack: string;
  input: LoadBalancerInput;
  from?: FormerOwner | undefined;
  /** Id of the load balancer that is meant. */
  id?: string | undefined;
}

/** The load balancer that has the name, or one of the addresses, and its parts. */
interface Standing {
  balancer?: LoadBalancer;
  addresses: Address[];
  pools: TargetPool[];
}

/**
 * Cloud.adoptable. A load balancer is found by its id; without one by its name, also as a later generation bears it, else by the addresses asked for.
 * What it has beyond what the spec asks for stays with whom it was.
 */
export async function adoptable(client: LocalCloudClient, request: AdoptionRequest): Promise<Adoption | undefined> {
  const { spec } = request.input;
  if (request.from === undefined && spec.local?.name === undefined && spec.addresses === undefined) return undefined;
  const [balancers, addresses, pools] = await Promise.all([client.list('loadbalancers'), client.list('addresses'), client.list('pools')]);
  const cloud = { balancers: living(balancers), addresses: living(addresses), pools: living(pools) };
  const { id } = request;
  if (id !== undefined && !cloud.balancers.some((one) => one.id === id)) {
    const other = [...cloud.addresses, ...cloud.pools].find((one) => one.id === id);
    if (other !== undefined) throw notOfTheKind(id, 'ip' in other ? 'an address' : 'a target pool');
    return undefined;
  }
  return judge(request, standingOf(request, cloud));
}

function notOfTheKind(id: string, what: string): OperatorError {
  const remedy = 'Name the load balancer itself: its addresses and target pools come with it';
  return new OperatorError('Invalid', `spec.adoptID: ${id} is ${what}, and no load balancer`, { remedy, field: 'spec.adoptID' });
}

/** Pure. @throws OperatorError Taken naming the holder */
function judge(request: AdoptionRequest, standing: Standing): Adoption | undefined {
  const own = ({ tags }: Resource): boolean =>
    tags.clusterID === request.clusterID && tags.stack === request.stack && tags[RELEASED] === undefined;
  const all: Resource[] = [...(standing.balancer === undefined ? [] : [standing.balancer]), ...standing.addresses];
  if (all.length === 0) return undefined;
  const parts = found(request.input, standing).filter(({ resource }) => !own(resource));
  const foreign = [...all.filter((resource) => !own(resource)), ...parts.map(({ resource }) => resource)];
  const refused = foreign.find((resource) => !isOf(request.from, resource));
  if (refused !== undefined) throw taken(refused, request, standing);
  const from = foreign[0] === undefined ? 'this stack' : holderOf(foreign[0]);
  if (foreign.length === 0 && all.every(({ tags }) => tags[ADOPTED] !== 'true')) return { from, resources: [] };
  return { from, resources: parts.map(({ described }) => described), kept: {} };
}

function isOf(from: FormerOwner | undefined, resource: Resource): boolean {
  if (from === 'Unowned') return isUnowned(resource);
  return from === 'Released' && resource.tags[RELEASED] !== undefined;
}

function taken(resource: Resource, { id }: AdoptionRequest, { balancer }: Standing): OperatorError {
  const isBalancer = resource === balancer;
  const named = isBalancer ? `the name ${resource.name}` : `the target pool ${resource.name}`;
  const what = 'ip' in resource ? `the address ${String(resource.ip)}` : named;
  const field = isBalancer ? 'spec.local.name' : 'spec.addresses';
  return new OperatorError('Taken', `${what} belongs to ${holderOf(resource)}`, {
    remedy: remedyOf(resource),
    field: id === undefined ? field : 'spec.adoptID',
  });
}

function remedyOf(resource: Resource): string {
  if (resource.tags[RELEASED] !== undefined)
    return `To take it over, write the annotation ${ANNOTATIONS.adopt}: Released (docs/operate/adopt.md)`;
  if (isUnowned(resource))
    return `To take it over, name it by its id, and write the annotation ${ANNOTATIONS.adopt}: Unowned (docs/operate/adopt.md)`;
  return 'Ask for another one, or have it released there and taken over here (docs/operate/adopt.md)';
}

function living<R extends Resource>(all: R[]): R[] {
  return all.filter(({ state }) => state !== 'deleting');
}

function standingOf(
  { id, input: { ownerUID, spec } }: AdoptionRequest,
  cloud: { balancers: LoadBalancer[]; addresses: Address[]; pools: TargetPool[] },
): Standing {
  const asked = cloud.addresses.filter(({ ip }) => spec.addresses?.includes(ip));
  const name = spec.local?.name ?? cloudName(ownerUID);
  const byAddress = ({ addressIDs }: LoadBalancer): boolean => asked.some((one) => addressIDs.includes(one.id));
  const balancer =
    id === undefined ? (byName(cloud.balancers, name) ?? cloud.balancers.find(byAddress)) : cloud.balancers.find((one) => one.id === id);
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
  // No program says whose it was: the update writes our marks, also where all else is as the spec asks.
  const inputs = { ...inputsOf(description, resource), ...marks, formerOwner: holderOf(resource) };
  const outputs = { ...outputsOf(description, resource), ...marks };
  return { resource, described: { type: description.token, name, id: resource.id, inputs, outputs } };
}
