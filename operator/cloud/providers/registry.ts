import { cloudProviderSpec, DEFAULT_SERVICE_LEVERS, type CloudProviderSpec, type DeletionPolicy, type ServiceLever } from '../../../crds';
import type { Cloud, ProviderModule, ServiceFacts } from '../../../providers/provider';
import { systemClock } from '../../base/clock';
import { parseDuration } from '../../base/duration';
import { OperatorError, toOperatorError } from '../../base/errors';
import { hashJson } from '../../base/json';
import { Turns } from '../../base/turns';
import type { AccountLimits } from '../../updates/limits/account-limits';
import { Accounts } from '../../updates/limits/accounts';
import { NodeOwners, type NodeIdentity } from '../instances/node-owners';
import { heldSpec } from './held-spec';
import { chooseProvider, rivalriesOf, type Candidate, type ServiceChoice } from './service-choice';

/** A CloudProvider as far as it could be brought up. */
export interface RegisteredCloud {
  name: string;
  kind: string;
  spec: CloudProviderSpec;
  module: ProviderModule;
  /** Absent while `problem` says why there is no connection. */
  cloud?: Cloud;
  problem?: OperatorError;
}

/** A RegisteredCloud that is connected. */
export type ConnectedCloud = RegisteredCloud & { cloud: Cloud };

export function isConnected(cloud: RegisteredCloud | undefined): cloud is ConnectedCloud {
  return cloud?.cloud !== undefined;
}

export interface CloudRegistryOptions {
  loadModule(kind: string): Promise<ProviderModule>;
  /** Absent while it can't be read; see `know`. */
  clusterID?: string | undefined;
  readSecret(name: string, keys: readonly string[]): Promise<string[]>;
  /** Whose a Node was found to be before a restart. */
  recordedOwner?: (nodeName: string) => { provider: string; providerID: string } | undefined;
  /** Limits of the clouds' accounts, shared with the updates; absent = the registry's own. */
  accounts?: Accounts;
}

type Compiled = { blockName: string } & ReturnType<ProviderModule['compile']>;

/** Every CloudProvider that is known, with its connection. Answers the loops' questions from memory. */
export class CloudRegistry {
  private readonly clouds = new Map<string, RegisteredCloud>();
  private readonly hashes = new Map<string, string>();
  /** What each CloudProvider asks for by now, also before it is connected so. */
  private readonly asked = new Map<string, CloudProviderSpec>();
  private readonly listeners = new Set<(name: string) => void>();

  /** Value of the annotation `cloud-operator.dev/pause`, by CloudProvider. */
  private readonly pauses = new Map<string, string>();
  private readonly retiring = new Set<string>();
  /** What is asked of one CloudProvider is done in the order in which it was asked. */
  private readonly turns = new Turns();
  private clusterID: string | undefined;

  /** Limits and credentials of each cloud's account. */
  readonly accounts: Accounts;
  /** Whose each Node is. */
  readonly owners: NodeOwners;

  constructor(private readonly options: CloudRegistryOptions) {
    this.accounts = options.accounts ?? new Accounts(systemClock);
    this.clusterID = options.clusterID;
    this.owners = new NodeOwners(
      () => this.list(),
      (name) => options.recordedOwner?.(name),
    );
  }

  /**
   * Has a CloudProvider known, with what its spec says of Nodes and of what may be written, before it is connected: that can take long.
   * @throws OperatorError Invalid when no such kind of cloud exists
   */
  declare(name: string, stored: CloudProviderSpec): Promise<void> {
    return this.turns.run(name, async () => {
      if (this.clouds.has(name)) return;
      const spec = withDefaults(stored);
      const kind = kindOf(spec);
      this.clouds.set(name, { name, kind, spec, module: await this.options.loadModule(kind) });
    });
  }

  /**
   * Brings a CloudProvider's connection up to its spec; equal specs keep the connection.
   * @returns the entry, with `problem` set when it could not be connected
   * @throws OperatorError Invalid when no such kind of cloud exists
   */
  set(name: string, stored: CloudProviderSpec): Promise<RegisteredCloud> {
    this.hold(name, stored);
    return this.turns.run(name, () => this.connect(name, withDefaults(stored)));
  }

  /** Puts in force at once what a CloudProvider's newest spec keeps out of the cloud, also while a connection is being made. */
  hold(name: string, stored: CloudProviderSpec): void {
    this.asked.set(name, withDefaults(stored));
    const known = this.clouds.get(name);
    if (known !== undefined && this.holdBack(known) !== known) this.listeners.forEach((listener) => listener(name));
  }

  /** @returns what is known of it from now on: the same where nothing more is to be held than is */
  private holdBack(known: RegisteredCloud): RegisteredCloud {
    const { name } = known;
    const spec = heldSpec(known.spec, this.asked.get(name) ?? known.spec);
    if (spec === known.spec) return known;
    const held = { ...known, spec };
    this.clouds.set(name, held);
    // It is connected by no spec that anybody has asked for.
    this.hashes.delete(name);
    return held;
  }

  private async connect(name: string, spec: CloudProviderSpec): Promise<RegisteredCloud> {
    const { clusterID = '' } = this;
    const hash = hashJson({ spec, clusterID });
    const known = this.clouds.get(name);
    if (known?.cloud !== undefined && this.hashes.get(name) === hash) return known;
    const kind = kindOf(spec);
    const module = await this.options.loadModule(kind);
    const entry: RegisteredCloud = { name, kind, spec, module };
    this.accounts.configure(name, limitsOf(spec), module.accountOf?.(spec));
    await this.open(entry, clusterID);
    // Listeners try again what they look after, this too: told of each failed try, they would try without end.
    const failedAgain = known !== undefined && known.cloud === undefined && entry.cloud === undefined && this.hashes.get(name) === hash;
    this.hashes.set(name, hash);
    this.clouds.set(name, entry);
    const held = this.holdBack(entry);
    await known?.cloud?.close();
    if (!failedAgain) this.listeners.forEach((listener) => listener(name));
    return held;
  }

  /** Gives the entry its connection, or says in it why there is none. */
  private async open(entry: RegisteredCloud, clusterID: string): Promise<void> {
    const { name, spec, module } = entry;
    try {
      entry.cloud = await module.connect(spec, {
        clusterID,
        providerName: name,
        readSecret: (secret, keys) => this.options.readSecret(secret, keys),
        calls: this.accounts.of(name),
      });
    } catch (thrown) {
      entry.problem = toOperatorError(thrown);
    }
  }

  /** The cluster's id can be read now: every cloud is connected anew, under it. */
  async know(clusterID: string): Promise<void> {
    if (clusterID === this.clusterID) return;
    this.clusterID = clusterID;
    // Also those that are being set for the first time, which began without it.
    const names = new Set([...this.clouds.keys(), ...this.turns.keys]);
    await Promise.all([...names].map((name) => this.turns.run(name, () => this.reconnect(name))));
  }

  private async reconnect(name: string): Promise<void> {
    const known = this.clouds.get(name);
    if (known !== undefined) await this.connect(name, known.spec);
  }

  remove(name: string): Promise<void> {
    return this.turns.run(name, () => this.disconnect(name));
  }

  private async disconnect(name: string): Promise<void> {
    const known = this.clouds.get(name);
    this.clouds.delete(name);
    this.hashes.delete(name);
    this.asked.delete(name);
    this.pauses.delete(name);
    this.retiring.delete(name);
    this.accounts.remove(name);
    await known?.cloud?.close();
    if (known !== undefined) this.listeners.forEach((listener) => listener(name));
  }

  get(name: string): RegisteredCloud | undefined {
    return this.clouds.get(name);
  }

  /** Keys of a Secret with credentials. @throws OperatorError when it lacks one, or can't be read */
  readSecret(name: string, keys: readonly string[]): Promise<string[]> {
    return this.options.readSecret(name, keys);
  }

  /** @throws OperatorError that says why the cloud can't be used now */
  connected(name: string): ConnectedCloud {
    const entry = this.clouds.get(name);
    if (entry === undefined) {
      throw new OperatorError('Invalid', `there is no CloudProvider "${name}"`, {
        reason: 'ProviderNotFound',
        field: 'spec.provider',
        remedy: `Create it, or name another one; known are ${this.names()}.`,
      });
    }
    if (isConnected(entry)) return entry;
    throw entry.problem ?? new OperatorError('Transient', `CloudProvider "${name}" is not connected yet`);
  }

  /** No cloud writes at all: `CloudProvider.spec.freeze`, or it is only observed. */
  isFrozen(name: string): boolean {
    return this.clouds.get(name)?.spec.freeze === true || this.observes(name);
  }

  /** `CloudProvider.spec.managementPolicy: Observe`: nothing is written to its cloud, nor to the Services and Nodes that are its own. */
  observes(name: string): boolean {
    return this.clouds.get(name)?.spec.managementPolicy === 'Observe';
  }

  /** Value of the annotation `cloud-operator.dev/pause` of the CloudProvider; undefined = it has none. */
  pauseOf(name: string): string | undefined {
    return this.pauses.get(name);
  }

  /** `CloudProvider.spec.deletionPolicy`: of its objects that have none of their own. */
  deletionPolicyOf(name: string): DeletionPolicy | undefined {
    return this.clouds.get(name)?.spec.deletionPolicy;
  }

  /** Notes that annotation. @param value undefined = there is none */
  pauseBy(name: string, value: string | undefined): void {
    if (this.pauses.get(name) === value) return;
    if (value === undefined) this.pauses.delete(name);
    else this.pauses.set(name, value);
    if (this.clouds.has(name)) this.listeners.forEach((listener) => listener(name));
  }

  /** `CloudProvider.spec.policy.serviceLevers`, with its default. */
  serviceLevers(name: string): readonly ServiceLever[] {
    return this.clouds.get(name)?.spec.policy?.serviceLevers ?? DEFAULT_SERVICE_LEVERS;
  }

  /** The Node's CloudProvider is only observed; where it is not known, all are. */
  observesNode(node: NodeIdentity): boolean {
    const owner = this.forNode(node);
    const names = owner === undefined ? this.providers() : [owner];
    return names.length > 0 && names.every((name) => this.observes(name));
  }

  /** Names of all that are known. */
  providers(): string[] {
    return [...this.clouds.keys()].sort();
  }

  list(): RegisteredCloud[] {
    return [...this.clouds.values()];
  }

  /** Called with a provider's name after it was connected, changed or removed. */
  onChange(listener: (name: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  forService(service: { loadBalancerClass?: string; annotations: Record<string, string> }): ServiceChoice {
    return chooseProvider(
      this.candidates(),
      service,
      this.list().filter(({ name }) => this.retiring.has(name)),
    );
  }

  /** The CloudProvider is being deleted: it goes on with what it has, and takes nothing new. */
  retire(name: string): void {
    this.retiring.add(name);
  }

  /** What this CloudProvider and another one both say they are, in words. */
  rivalriesOf(name: string): string[] {
    return rivalriesOf(this.candidates(), name);
  }

  forNode(node: NodeIdentity): string | undefined {
    const ownership = this.owners.of(node);
    return typeof ownership === 'string' ? undefined : ownership.owner;
  }

  compile(provider: string, annotations: Record<string, string>, service: ServiceFacts): Compiled {
    const entry = this.clouds.get(provider);
    if (entry === undefined) throw new OperatorError('NotFound', `there is no CloudProvider "${provider}"; known are ${this.names()}`);
    return { blockName: entry.kind, ...entry.module.compile(annotations, service, entry.spec) };
  }

  /** Why a CloudProvider is not connected; undefined = it is, or it is not known at all. */
  whyNotConnected(name: string): OperatorError | undefined {
    const entry = this.clouds.get(name);
    if (entry === undefined || isConnected(entry)) return undefined;
    return entry.problem ?? new OperatorError('Transient', 'its cloud has not answered yet');
  }

  supports(provider: string, capability: 'loadBalancers' | 'routes' | 'instances'): boolean {
    return this.clouds.get(provider)?.cloud?.[capability] !== undefined;
  }

  /**
   * What a controller before us has made for a Service: in the cloud that takes the Service, or where none does, in any.
   * @throws OperatorError when a cloud can't be asked in which there may be something
   */
  async leftFor(
    service: { loadBalancerClass?: string; annotations: Record<string, string> } & { uid: string },
  ): Promise<{ what: string; by: string } | undefined> {
    const choice = this.forService(service);
    const names = choice.kind === 'Chosen' ? [choice.provider] : [...this.clouds.keys()];
    for (const name of choice.kind === 'Foreign' ? [] : names) {
      const by = this.clouds.get(name)?.module.predecessor;
      const what = by === undefined ? undefined : await this.connected(name).cloud.leftFor?.(service.uid);
      if (by !== undefined && what !== undefined) return { what, by };
    }
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all(this.list().map((cloud) => this.disconnect(cloud.name)));
  }

  private candidates(): Candidate[] {
    return this.list().filter(({ name }) => !this.retiring.has(name));
  }

  private names(): string {
    return this.providers().join(', ') || 'none';
  }
}

/** The CRDs in the cluster may be older than this program, and know nothing of its newest fields. */
function withDefaults(spec: CloudProviderSpec): CloudProviderSpec {
  const { success, data } = cloudProviderSpec.safeParse(spec);
  return success ? data : spec;
}

/** The kind of cloud that a CloudProvider's typed block says. */
export function kindOf(spec: CloudProviderSpec): string {
  if (spec.aws !== undefined) return 'aws';
  if (spec.azure !== undefined) return 'azure';
  if (spec.local !== undefined) return 'local';
  if (spec.custom !== undefined) return spec.custom.kind;
  throw new OperatorError('Invalid', 'CloudProvider has no block that says which cloud it is', {
    field: 'spec',
    remedy: 'Set spec.aws, spec.azure or spec.local.',
  });
}

function limitsOf({ limits }: CloudProviderSpec): Partial<AccountLimits> {
  if (limits === undefined) return {};
  const { updateDeadline, ...rest } = limits;
  return { ...rest, ...(updateDeadline === undefined ? {} : { updateDeadlineMs: parseDuration(updateDeadline) }) };
}
