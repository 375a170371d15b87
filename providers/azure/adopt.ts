import type { IPFamily } from '../../crds';
import { ANNOTATIONS } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import type { AdoptableFrom, Adoption, DiscoveredResource, LoadBalancerInput } from '../provider';
import type { ArmClient } from './client/arm-client';
import { ID_PREFIX, nameInID, sameID } from './client/resource-id';
import { frontendsOf, isOfService, type Kept } from './load-balancers/adopted';
import { type AzureInput, balancerID, type BalancerPlace, type Frontend } from './load-balancers/arguments';
import { entriesOf, type Entry } from './load-balancers/entries';
import { type PartList, partsIn } from './load-balancers/merge';
import { baseNameOf } from './load-balancers/names';
import { placeOf } from './load-balancers/placement';
import { renderStack, type RenderedBalancer } from './load-balancers/render';
import { type AzureScope, networkSubscriptionOf } from './load-balancers/scope';
import type { RenderedLink } from './private-links/links';
import { armBody } from './resources/arm-body';
import { loadBalancer } from './resources/load-balancer';
import { type Found, outputsOf, type OwnedDescription, type CommonInputs } from './resources/owned-resource';
import { privateLinkService, type PrivateLinkServiceInputs } from './resources/private-link-service';
import { publicIPAddress } from './resources/public-ip-address';
import { holderOf, isOfUpstream, isUnmarked, TAG, type Tags } from './tags';

/** Whose stack asks, for what, and what it may have. */
export interface AdoptionRequest {
  stack: string;
  input: LoadBalancerInput;
  from?: AdoptableFrom | undefined;
  id?: string | undefined;
}

/** Lists of what belongs to single Services. */
const OWN_LISTS: readonly PartList[] = ['frontendIPConfigurations', 'loadBalancingRules', 'probes'];

/**
 * What upstream, or a stack that was released, has of single Services: their frontends, rules and probes in the load balancer that carries it, and their
 * public addresses. Everything goes by upstream's names, of which UIDs of Services are a part. All that ask at once share one read of the load balancer.
 */
export class AzureAdoption {
  private readonly reading = new Map<string, Promise<Found | undefined>>();

  constructor(
    private readonly arm: ArmClient,
    private readonly scope: AzureScope,
  ) {}

  /** Cloud.adoptable. Parts of others in the load balancer stay as they are. */
  async adoptable({ stack, input, from, id }: AdoptionRequest): Promise<Adoption | undefined> {
    if (from === undefined) return undefined;
    if (id !== undefined) {
      const remedy = `Remove the annotation ${ANNOTATIONS.adoptID}: what was made for a Service is found by its name`;
      throw invalid('spec.adoptID', `load balancers of Azure are not taken over by an id. ${remedy}`, remedy);
    }
    const place = placeOf(input, this.scope);
    const found = await this.read(balancerID(place));
    const frontends = standingOf(found, input);
    if (found === undefined || Object.keys(frontends).length === 0) {
      if (from !== 'Itself') await this.assertNotElsewhere(input, place);
      return undefined;
    }
    const own = this.isOwn(found.tags, stack);
    if (from === 'Itself') return own && isNamedOtherwise(input, frontends, place) ? recognized({ frontends }) : undefined;
    const standing = { stack, from, input: { ...input, adopted: { frontends } } as AzureInput, found, frontends };
    return new Look(this.scope, standing, (address) => this.read(address)).adoption(own);
  }

  /**
   * Which of several load balancers has a Service, upstream has chosen by what it remembered: a Service that is placed on another one would be made there
   * anew, with another address. Upstream's names are those of the configurations, as ours (cloud-provider-azure, "Multiple Standard LoadBalancers").
   * @throws OperatorError Invalid naming the one that has it
   */
  private async assertNotElsewhere(input: LoadBalancerInput, place: BalancerPlace): Promise<void> {
    for (const other of otherPlaces(input, place, this.scope)) {
      const found = await this.read(balancerID(other.place));
      if (Object.keys(standingOf(found, input)).length === 0) continue;
      const remedy = `Name that one by the annotation azure-load-balancer-configurations: "${other.configuration}", and keep the annotation`;
      const message = `what stands of it is on load balancer ${other.place.name}, and its place is ${place.name}. ${remedy}.`;
      throw invalid('spec.azure.configurations', message, remedy);
    }
  }

  private isOwn(tags: Tags = {}, stack: string): boolean {
    return tags[TAG.clusterID] === this.scope.clusterID && tags[TAG.stack] === stack && tags[TAG.released] === undefined;
  }

  private read(id: string): Promise<Found | undefined> {
    const key = id.toLowerCase();
    const asked = this.reading.get(key) ?? this.arm.get<Found>(id).finally(() => this.reading.delete(key));
    this.reading.set(key, asked);
    return asked;
  }
}

/** The frontends that a load balancer has for a Service. */
function standingOf(found: Found | undefined, { ownerUID, spec }: LoadBalancerInput): Kept['frontends'] {
  return found === undefined ? {} : frontendsOf(found.properties, baseNameOf({ ownerUID }), spec.ipFamilies);
}

/** Where else of several load balancers it may be, each with the configuration's name. */
function otherPlaces(
  input: LoadBalancerInput,
  { name }: BalancerPlace,
  scope: AzureScope,
): { configuration: string; place: BalancerPlace }[] {
  const { loadBalancers = [] } = scope.settings;
  return loadBalancers
    .map(({ name: configuration }) => {
      const spec = { ...input.spec, azure: { ...input.spec.azure, configurations: [configuration] } };
      return { configuration, place: placeOf({ uid: input.uid, spec }, scope) };
    })
    .filter(({ place }) => !sameID(place.name, name));
}

interface Standing {
  stack: string;
  from: Exclude<AdoptableFrom, 'Itself'>;
  /** As it is when it was taken over. */
  input: AzureInput;
  /** The load balancer. */
  found: Found;
  frontends: Kept['frontends'];
}

/** One look at what stands of one Service. */
class Look {
  private readonly rendered: RenderedBalancer;

  constructor(
    private readonly scope: AzureScope,
    private readonly standing: Standing,
    private readonly read: (id: string) => Promise<Found | undefined>,
  ) {
    const [rendered] = renderStack(standing.stack, [standing.input], () => [], scope).balancers;
    if (rendered === undefined) throw new Error('one load balancer is rendered');
    this.rendered = rendered;
  }

  /** @param own the load balancer bears this stack's marks */
  async adoption(own: boolean): Promise<Adoption> {
    const { found, frontends } = this.standing;
    if (!own) this.assertFree(found, `load balancer ${nameInID(found.id)}`, isUnmarked(found.tags ?? {}));
    this.assertOfToday(found);
    const addresses = await Promise.all(this.standing.input.spec.ipFamilies.map((family) => this.addressIn(family)));
    const foreign = [...addresses.flat(), ...(await this.links())].filter(({ tags }) => !this.isOwn(tags));
    const resources = [...foreign.map(({ resource }) => resource), ...(own && foreign.length === 0 ? [] : [this.balancer()])];
    const [holder] = foreign.length > 0 ? foreign.map(({ tags }) => tags) : own ? [] : [found.tags ?? {}];
    return {
      from: holder === undefined ? 'this stack' : holderOf(holder),
      resources,
      kept: { frontends } satisfies Kept as unknown as JsonObject,
    };
  }

  /** Its frontends, rules and probes, and the pools behind them. */
  private balancer(): DiscoveredResource {
    const { found, input } = this.standing;
    const { loadBalancer: args } = this.rendered;
    const description = loadBalancer(networkSubscriptionOf(this.scope.settings), this.scope.settings);
    const wanted = (armBody(args as unknown as JsonObject).properties ?? {}) as JsonObject;
    const base = baseNameOf(input);
    const more = OWN_LISTS.map((list) => [list, partsIn(found.properties, list).filter(({ name }) => isOfService(base, name))]);
    const { inputs, observed } = description.describe(found, [wanted, Object.fromEntries(more) as JsonObject]);
    const { resourceGroupName, loadBalancerName, location, tags } = args;
    const marked = { ...inputs, resourceGroupName, loadBalancerName, location, tags: taken(found.tags, tags) };
    return described(description, { name: loadBalancerName, inputs: marked, observed });
  }

  /** The public address of a frontend, where it was made for the Service. @throws OperatorError where the frontend has not what the spec asks for */
  private async addressIn(family: IPFamily): Promise<{ tags: Tags; resource: DiscoveredResource }[]> {
    const { found, frontends, input } = this.standing;
    const entry = entriesOf(input, placeOf(input, this.scope)).find((one) => one.family === family);
    const name = frontends[family];
    if (entry === undefined || name === undefined) return [];
    const frontend = frontendIn(found, name);
    if (entry.kind === 'Private') {
      this.assertPrivate(name, frontend, entry.address);
      return [];
    }
    const id = frontend?.publicIPAddress?.id;
    const address = id === undefined ? undefined : await this.read(id);
    if (address === undefined) throw otherAddress(name, undefined);
    if (!isAskedFor(entry, address)) throw otherAddress(name, `${ipOf(address) ?? '?'} (public IP address ${nameInID(address.id)})`);
    return entry.kind === 'Made' ? this.publicAddress(address) : [];
  }

  /** The Private Link Service that it asks for, where it is there. */
  private async links(): Promise<{ tags: Tags; resource: DiscoveredResource }[]> {
    const description = privateLinkService(networkSubscriptionOf(this.scope.settings));
    const looks = (this.rendered.links?.services ?? []).map(async (wanted) => {
      const found = await this.read(description.idOf(wanted));
      if (found === undefined) return [];
      const { inputs, observed } = description.describe({ ...found, id: description.idOf(wanted) });
      this.assertOfFrontend(wanted, inputs);
      const tags = this.takeable(found, `Private Link Service ${wanted.serviceName}`);
      const { resourceGroupName, serviceName, location } = wanted;
      const marked = { ...inputs, resourceGroupName, serviceName, location, tags: taken(tags, wanted.tags) };
      return [{ tags, resource: described(description, { name: wanted.name, inputs: marked, observed }) }];
    });
    return (await Promise.all(looks)).flat();
  }

  /** @throws OperatorError Invalid: it stays on the frontend that it has */
  private assertOfFrontend({ serviceName, ...wanted }: RenderedLink, has: PrivateLinkServiceInputs): void {
    const [its, other] = [wanted, has].map((one) => one.loadBalancerFrontendIpConfigurations[0]?.id ?? '');
    if (its !== undefined && other !== undefined && sameID(its, other)) return;
    const remedy = 'Name another one by the annotation azure-pls-name';
    throw invalid('spec.azure.privateLink', `Private Link Service ${serviceName} is on another frontend (${other}). ${remedy}.`, remedy);
  }

  private publicAddress(found: Found): { tags: Tags; resource: DiscoveredResource }[] {
    const args = this.rendered.addresses.find(({ publicIpAddressName: name }) => sameID(name, nameInID(found.id)));
    if (args === undefined) return [];
    const { resourceGroupName, publicIpAddressName: name, location } = args;
    const tags = this.takeable(found, `public IP address ${name}`);
    const description = publicIPAddress(networkSubscriptionOf(this.scope.settings));
    const { inputs, observed } = description.describe(found);
    const marked = { ...inputs, resourceGroupName, publicIpAddressName: name, location, tags: taken(tags, args.tags) };
    return [{ tags, resource: described(description, { name, inputs: marked, observed }) }];
  }

  private isOwn(tags: Tags): boolean {
    return tags[TAG.clusterID] === this.scope.clusterID && tags[TAG.stack] === this.standing.stack && tags[TAG.released] === undefined;
  }

  /** The tags of what bears the Service's mark. @throws OperatorError Taken naming the holder */
  private takeable(found: Found, what: string): Tags {
    const { tags = {} } = found;
    const { namespace, name } = this.standing.input;
    this.assertFree(found, what, isOfUpstream(tags, `${namespace}/${name}`, this.scope.settings.clusterName));
    return tags;
  }

  /** @param upstream it is upstream's for this Service @throws OperatorError Taken naming the holder */
  private assertFree({ tags = {} }: Found, what: string, upstream: boolean): void {
    const { from } = this.standing;
    if (this.isOwn(tags) || (from === 'Released' && tags[TAG.released] !== undefined) || (from === 'Upstream' && upstream)) return;
    const remedy = 'Have it given up there and taken over here (docs/operate/adopt.md)';
    throw new OperatorError('Taken', `${what} belongs to ${holderOf(tags)}`, { remedy, field: 'spec.adopt' });
  }

  /** @throws OperatorError Invalid where what stands can't become what is made today */
  private assertOfToday({ id, sku, properties }: Found): void {
    const name = nameInID(id);
    if ((sku?.name as string | undefined)?.toLowerCase() !== 'standard') {
      throw invalid('spec.adopt', `load balancer ${name} is not of SKU Standard. Upgrade it first.`, 'Upgrade it first');
    }
    const pools = this.rendered.loadBalancer.backendAddressPools.map((pool) => pool.name);
    for (const pool of partsIn(properties, 'backendAddressPools').filter((one) => pools.includes(one.name))) {
      const { backendIPConfigurations: interfaces = [], loadBalancerBackendAddresses: addresses = [] } = pool.properties;
      const ofAddresses = (addresses as { properties?: { ipAddress?: string } }[]).some((one) => one.properties?.ipAddress !== undefined);
      if ((interfaces as unknown[]).length === 0 || ofAddresses) continue;
      const remedy =
        'Let the old controller make it one of addresses first (loadBalancerBackendPoolConfigurationType: nodeIP, docs/migrate/azure.md)';
      throw invalid('spec.adopt', `pool ${pool.name} of load balancer ${name} has interfaces of machines. ${remedy}.`, remedy);
    }
  }

  /** @param address that is asked for; undefined = any one of the subnet */
  private assertPrivate(name: string, frontend: Omit<Frontend, 'name'> | undefined, address: string | undefined): void {
    const wanted = this.rendered.loadBalancer.frontendIPConfigurations.find((one) => one.name === name)?.subnet?.id ?? '';
    const has = frontend?.subnet?.id ?? '';
    if (sameID(wanted, has)) {
      if (address === undefined || frontend?.privateIPAddress === address) return;
      throw otherAddress(name, frontend?.privateIPAddress);
    }
    const remedy = 'Name that one by the annotation azure-load-balancer-internal-subnet';
    throw invalid('spec.azure.subnetName', `frontend ${name} is in subnet ${has}, and ${wanted} is asked for. ${remedy}.`, remedy);
  }
}

function frontendIn({ properties }: Found, name: string): Omit<Frontend, 'name'> | undefined {
  return partsIn(properties, 'frontendIPConfigurations').find((one) => one.name === name)?.properties;
}

function ipOf({ properties }: Found): string | undefined {
  return properties.ipAddress as string | undefined;
}

/** True where a public address is the one that the spec makes or names. */
function isAskedFor(entry: Exclude<Entry, { kind: 'Private' }>, address: Found): boolean {
  if (entry.kind === 'Made') return sameID(nameInID(address.id), entry.name);
  return 'name' in entry.by ? sameID(nameInID(address.id), entry.by.name) : ipOf(address) === entry.by.address;
}

function otherAddress(name: string, has: string | undefined): OperatorError {
  const remedy = 'Ask for the address that it has, by the annotation azure-pip-name or azure-load-balancer-ipv4';
  return invalid(
    'spec.adopt',
    `frontend ${name} has ${has ?? 'another kind of address'}, which the spec does not ask for. ${remedy}.`,
    remedy,
  );
}

/** What bears this stack's marks stays its own; only what was taken over under another name has something to keep. */
function recognized(kept: Kept): Adoption {
  return { from: 'this stack', resources: [], kept };
}

function isNamedOtherwise(input: AzureInput, frontends: Kept['frontends'], place: ReturnType<typeof placeOf>): boolean {
  const bare = { ...input };
  delete bare.adopted;
  return entriesOf(bare, place).some(({ family, frontend }) => frontends[family] !== undefined && frontends[family] !== frontend);
}

/** Of its tags those that the program sets too; all others are somebody else's. */
function taken(has: Tags = {}, wanted: Tags): Record<string, string> {
  const own = Object.entries(has).filter(([key]) => key in wanted);
  return { ...Object.fromEntries(own), [TAG.adopted]: 'true' };
}

function described<I extends CommonInputs>(
  description: OwnedDescription<I>,
  { name, inputs, observed }: { name: string; inputs: I; observed: JsonObject },
): DiscoveredResource {
  const { token: type, idProperties, sharedLists } = description;
  return {
    type,
    name,
    id: description.idOf(inputs),
    inputs: inputs as unknown as JsonObject,
    outputs: outputsOf(inputs, observed),
    ...(sharedLists !== undefined && { sharedLists }),
    caselessIDs: { prefix: ID_PREFIX, properties: idProperties },
  };
}

function invalid(field: string, message: string, remedy: string): OperatorError {
  return new OperatorError('Invalid', message, { field, remedy });
}
