import type { Cloud, Instance, Instances } from '../../../providers/provider';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { Clock } from '../../base/clock';
import { knowsForm, type NodeIdentity } from './node-owners';
import type { CloudRegistry } from '../providers/registry';

export type Lookup =
  | { state: 'Found'; provider: string; instance: Instance; shutdown: boolean; metadata: Metadata }
  | ({ state: 'Missing'; provider: string } & Absence)
  | { state: 'Unclaimed' | 'Ambiguous' | 'Unmanaged'; message: string };

/** What it rests on that a machine does not exist. */
interface Absence {
  /** When the listing was taken that does not have it: monotonic, milliseconds. */
  listedAt: number;
  /** How long after it was made a machine may not be listed yet, in milliseconds. */
  lateMs: number;
}

interface Metadata {
  providerID: string;
  instanceType: string;
  zone: string;
  region: string;
  addresses: { type: string; address: string }[];
  additionalLabels: Record<string, string>;
}

/** A failed listing answers for everybody who asks within this time, so that a failing cloud is not asked once for each Node. */
const FAILURE_SHARED_MS = 1000;
/** A machine that the bulk listing does not give is asked for by name with every listing, until nobody has asked for it for so long. */
const NAMED_FOR_MS = 900_000;

interface Listed {
  /** By what tells a machine from others. */
  byIdentity: Map<string, Instance>;
  /** Machines that were asked for by name besides: who is not among the others is gone. */
  named: ReadonlySet<string>;
  /** Without those that are terminated: their names are free. */
  byName: Map<string, Instance>;
}

interface Listing extends Listed {
  /** The connection that gave it: what another account or region has is no word about these Nodes. */
  cloud: Cloud;
  takenAt: number;
}

/** What one CloudProvider says of a Node. */
interface Answer {
  name: string;
  instance: Instance | undefined;
  listedAt: number;
}

/**
 * Finds the machines behind Nodes in the providers' bulk listings, shared by all loops: one cloud call serves every Node
 * that asks within `maxAgeMs`. Only the owning provider may say that a machine does not exist (design: Whose Node).
 */
export class InstanceDirectory {
  // By provider and place.
  private readonly listings = new Map<string, Listing>();
  private readonly running = new Map<string, Promise<Listing>>();
  private readonly problems = new Map<string, { problem: OperatorError; at: number }>();
  /** By provider and identity: machines that are asked for by name. */
  private readonly names = new Map<string, Map<string, { providerID: string; askedAt: number }>>();
  /** By provider: the connection that gave the newest good listing. */
  private readonly answered = new Map<string, Cloud>();

  constructor(
    private readonly registry: CloudRegistry,
    private readonly clock: Clock,
    /** Told when a connection has given its first listing, when listings begin to fail, and when they work again. */
    private readonly onHealth: (provider: string) => void = () => undefined,
  ) {}

  /** Why the newest listing of a provider failed; undefined when it did not. */
  problem(provider: string): OperatorError | undefined {
    return this.problems.get(keyOf(provider))?.problem;
  }

  /** The connection of today has given a listing; also true where there is none to ask for. */
  hasAnswered(provider: string): boolean {
    const cloud = this.registry.get(provider)?.cloud;
    return cloud !== undefined && (cloud.instances === undefined || this.answered.get(provider) === cloud);
  }

  /** Has the provider answer where nobody else asks; how that ends is told to `onHealth`. */
  ask(provider: string): void {
    this.listing(provider, 0).catch(() => undefined); // judged
  }

  /** @throws OperatorError when a cloud that must be asked can't be */
  async lookup(node: NodeIdentity, maxAgeMs: number): Promise<Lookup> {
    const unmanaged = this.unmanaged(node);
    if (unmanaged !== undefined) return { state: 'Unmanaged', message: unmanaged };
    const ownership = this.registry.owners.of(node);
    if (ownership === 'Undecided' || (ownership === 'Nobody' && this.ownersOfForm(node).length > 0))
      return this.askEverybody(node, maxAgeMs);
    if (ownership === 'Nobody')
      return { state: 'Unclaimed', message: `no CloudProvider knows providerID "${node.providerID}" of Node ${node.name}` };
    const { owner } = ownership;
    const isNobodys = node.providerID !== undefined && node.providerID !== '' && this.identify(owner, node.providerID) === undefined;
    if (isNobodys) return { state: 'Unclaimed', message: `CloudProvider "${owner}" can't say anything of providerID "${node.providerID}"` };
    const { instance, listedAt } = await this.machineOf(owner, node, maxAgeMs);
    return describe(owner, instance, { listedAt, lateMs: this.instancesOf(owner)?.lateMs ?? 0 });
  }

  /** What is no machine of one cloud's may be another's: whose providerID it has, or who selects it, is asked. */
  private unmanaged(node: NodeIdentity): string | undefined {
    const { labels, providerID = '' } = node;
    const clouds = this.registry.list().map((known) => ({ known, says: this.instancesOf(known.name)?.unmanaged?.(labels) }));
    const why = clouds.find(({ says }) => says !== undefined)?.says;
    if (why === undefined) return undefined;
    const others = clouds.filter(({ says }) => says === undefined).map(({ known }) => known);
    if (providerID !== '') return others.some((known) => knowsForm(known, providerID)) ? undefined : why;
    const ownership = this.registry.owners.of(node);
    return typeof ownership === 'object' && others.some(({ name }) => name === ownership.owner) ? undefined : why;
  }

  private instancesOf(provider: string): Instances | undefined {
    return this.registry.get(provider)?.cloud?.instances;
  }

  private async machineOf(
    provider: string,
    node: NodeIdentity,
    maxAgeMs: number,
  ): Promise<{ instance: Instance | undefined; listedAt: number }> {
    const { name, providerID = '' } = node;
    const place = this.instancesOf(provider)?.placeOf?.(node);
    const listing = await this.listing(provider, maxAgeMs, place);
    const { takenAt: listedAt } = listing;
    if (providerID === '') return { instance: listing.byName.get(name), listedAt };
    const identity = this.identify(provider, providerID);
    if (identity === undefined) return { instance: undefined, listedAt };
    const found = listing.byIdentity.get(identity);
    if (place !== undefined || !this.mustName(provider, identity, found)) return { instance: found, listedAt };
    const names = this.names.get(provider) ?? new Map<string, { providerID: string; askedAt: number }>();
    this.names.set(provider, names.set(identity, { providerID, askedAt: this.clock.monotonic() }));
    if (found !== undefined) return { instance: found, listedAt };
    const naming = await this.listingNaming(provider, identity, listing);
    return { instance: naming.byIdentity.get(identity), listedAt: naming.takenAt };
  }

  /** The machine is not in the bulk listing, or was not some time ago. */
  private mustName(provider: string, identity: string, found: Instance | undefined): boolean {
    if (this.instancesOf(provider)?.named === undefined) return false;
    return found === undefined || this.names.get(provider)?.has(identity) === true;
  }

  /** @param listing the newest, in which the machine isn't */
  private async listingNaming(provider: string, identity: string, listing: Listing): Promise<Listing> {
    let newest = listing;
    while (!newest.named.has(identity)) newest = await this.listing(provider, -1);
    return newest;
  }

  private identify(provider: string, providerID: string): string | undefined {
    const instances = this.instancesOf(provider);
    return instances?.identify === undefined ? providerID : instances.identify(providerID);
  }

  /** One that can't be reached holds up nobody whom another one has. */
  private async askEverybody(node: NodeIdentity, maxAgeMs: number): Promise<Lookup> {
    const able = this.ownersOfForm(node);
    let answers = await this.askEach(able, node, maxAgeMs);
    const [first] = claimsIn(answers);
    // A listing of before the machine was there is no denial: all must be as new as the one that has it.
    if (first !== undefined && able.length > 1) answers = await this.askEach(able, node, this.clock.monotonic() - first.listedAt);
    const claiming = claimsIn(answers);
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (claiming.length === 0 && failure !== undefined) {
      answers.forEach((answer) => answer.status === 'fulfilled' && this.registry.owners.denied(node, answer.value.name));
      throw failure.reason;
    }
    const [only, another] = claiming;
    this.registry.owners.found(node, another === undefined ? only?.name : undefined);
    if (only !== undefined && another === undefined) return describe(only.name, only.instance, { listedAt: only.listedAt, lateMs: 0 });
    if (only === undefined) {
      const asked = able.join(', ') || 'none is connected';
      return { state: 'Unclaimed', message: `no CloudProvider has an instance named ${node.name} (asked: ${asked})` };
    }
    const names = claiming.map(({ name }) => name).join(', ');
    const message = `CloudProviders ${names} all have an instance for Node ${node.name}; set spec.nodeSelector on them`;
    return { state: 'Ambiguous', message };
  }

  private askEach(providers: readonly string[], node: NodeIdentity, maxAgeMs: number): Promise<PromiseSettledResult<Answer>[]> {
    return Promise.allSettled(providers.map(async (name) => ({ name, ...(await this.machineOf(name, node, maxAgeMs)) })));
  }

  /** CloudProviders that may have the Node; to say that nobody has a machine by its providerID, those that are not connected must be asked as well. */
  private ownersOfForm({ providerID = '' }: NodeIdentity): string[] {
    const may = this.registry
      .list()
      .filter(({ cloud }) => (cloud === undefined ? providerID !== '' : cloud.instances !== undefined))
      .filter((known) => providerID === '' || knowsForm(known, providerID));
    return may.map(({ name }) => name);
  }

  /** One listing at a time per provider and place; callers that come meanwhile share it. */
  private async listing(provider: string, maxAgeMs: number, place?: string): Promise<Listing> {
    const key = keyOf(provider, place);
    const now = this.clock.monotonic();
    const failed = this.problems.get(key);
    if (failed !== undefined && now - failed.at < this.failureSharedMs(provider, place)) throw failed.problem;
    const cached = this.listings.get(key);
    if (cached !== undefined && cached.cloud === this.registry.get(provider)?.cloud) {
      // Asked for below zero, there must be a new one.
      const goodForMs = maxAgeMs < 0 ? maxAgeMs : Math.max(maxAgeMs, cached.cloud.instances?.restMs?.(place) ?? 0);
      if (now - cached.takenAt <= goodForMs) return cached;
    }
    const running = this.running.get(key) ?? this.take(provider, place);
    this.running.set(key, running);
    try {
      return await running;
    } finally {
      this.running.delete(key);
    }
  }

  /** A place that can't be read costs as many calls as one that can. */
  private failureSharedMs(provider: string, place: string | undefined): number {
    if (place === undefined) return FAILURE_SHARED_MS;
    return Math.max(FAILURE_SHARED_MS, this.instancesOf(provider)?.restMs?.(place) ?? 0);
  }

  /** From the connection that there is in the end: it may be made anew meanwhile. */
  private async take(provider: string, place: string | undefined): Promise<Listing> {
    const { cloud } = this.registry.connected(provider);
    const { instances } = cloud;
    if (instances === undefined) throw new OperatorError('Invalid', `CloudProvider "${provider}" does not support instances`);
    const takenAt = this.clock.monotonic();
    const listed = place === undefined ? this.listed(provider, instances, takenAt) : this.listedAt(provider, instances, place);
    const taken = await listed.catch(toOperatorError);
    if (this.registry.get(provider)?.cloud !== cloud) return this.take(provider, place);
    if (taken instanceof OperatorError) {
      // One place that can't be read says nothing of the others.
      if (place === undefined) this.judge(provider, taken);
      else this.problems.set(keyOf(provider, place), { problem: taken, at: this.clock.monotonic() });
      throw taken;
    }
    const listing = { cloud, takenAt, ...taken };
    this.forgetOldPlaces(takenAt);
    this.listings.set(keyOf(provider, place), listing);
    if (place !== undefined) this.problems.delete(keyOf(provider, place));
    else this.answeredBy(provider, cloud);
    return listing;
  }

  private async listed(provider: string, instances: Instances, takenAt: number): Promise<Listed> {
    const names = this.namesAt(provider, takenAt);
    const identify = (providerID: string): string | undefined => this.identify(provider, providerID);
    const listed = indexed(await instances.list(), identify);
    const missing = [...names].filter(([identity]) => !listed.byIdentity.has(identity)).map(([, { providerID }]) => providerID);
    const more = missing.length === 0 ? [] : ((await instances.named?.(missing)) ?? []);
    indexed(more, identify).byIdentity.forEach((instance, identity) => listed.byIdentity.set(identity, instance));
    return { named: new Set(names.keys()), ...listed };
  }

  private async listedAt(provider: string, instances: Instances, place: string): Promise<Listed> {
    return { named: new Set(), ...indexed(await instances.list(place), (providerID) => this.identify(provider, providerID)) };
  }

  /** Nodes that have named them are gone, or name others. */
  private forgetOldPlaces(now: number): void {
    for (const [key, { takenAt }] of this.listings) if (key.includes(' ') && now - takenAt > NAMED_FOR_MS) this.listings.delete(key);
    for (const [key, { at }] of this.problems) if (key.includes(' ') && now - at > NAMED_FOR_MS) this.problems.delete(key);
  }

  private answeredBy(provider: string, cloud: Cloud): void {
    const first = this.answered.get(provider) !== cloud;
    this.answered.set(provider, cloud);
    this.judge(provider, undefined, first);
  }

  /** Without those for which nobody has asked for long. */
  private namesAt(provider: string, now: number): Map<string, { providerID: string }> {
    const names = this.names.get(provider) ?? new Map<string, { providerID: string; askedAt: number }>();
    for (const [identity, { askedAt }] of names) if (now - askedAt > NAMED_FOR_MS) names.delete(identity);
    return new Map(names);
  }

  private judge(provider: string, problem: OperatorError | undefined, first = false): void {
    const before = this.problem(provider);
    if (problem === undefined) this.problems.delete(keyOf(provider));
    else this.problems.set(keyOf(provider), { problem, at: this.clock.monotonic() });
    if (first || before?.message !== problem?.message) this.onHealth(provider);
  }
}

/** Thousands of Nodes ask one listing. Of several with one key, the first counts. */
function indexed(instances: readonly Instance[], identify: (providerID: string) => string | undefined): Omit<Listed, 'named'> {
  const byIdentity = new Map<string, Instance>();
  const byName = new Map<string, Instance>();
  for (const instance of instances) {
    const identity = identify(instance.providerID) ?? instance.providerID;
    if (!byIdentity.has(identity)) byIdentity.set(identity, instance);
    if (instance.state === 'Terminated') continue;
    for (const name of instance.names) if (!byName.has(name)) byName.set(name, instance);
  }
  return { byIdentity, byName };
}

/** Names of CloudProviders have no blanks. @param place absent = where the settings say */
function keyOf(provider: string, place?: string): string {
  return place === undefined ? provider : `${provider} ${place}`;
}

function describe(provider: string, instance: Instance | undefined, absence: Absence): Lookup {
  if (instance === undefined) return { state: 'Missing', provider, ...absence };
  // Of what is listed as gone there is no doubt.
  if (instance.state === 'Terminated') return { state: 'Missing', provider, ...absence, lateMs: 0 };
  const metadata = {
    providerID: instance.providerID,
    instanceType: instance.type,
    zone: instance.zone,
    region: instance.region,
    addresses: instance.addresses,
    additionalLabels: instance.additionalLabels ?? {},
  };
  return { state: 'Found', provider, instance, shutdown: instance.state === 'Stopped', metadata };
}

/** Of those that have the machine. */
function claimsIn(answers: readonly PromiseSettledResult<Answer>[]): Answer[] {
  return answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value.instance !== undefined ? [answer.value] : []));
}
