import type { OperatorError } from '../operator/base/errors';
import type { Json, JsonObject } from '../operator/base/json';
import type { Labels, LabelSelector } from '../operator/base/label-selector';
import type { CallGate } from './call-gate';
import type {
  CloudLoadBalancerSpec,
  CloudLoadBalancerSpecInput,
  CloudProviderSpec,
  CloudRouteSpec,
  FormerOwner,
  Ingress,
  IPFamily,
  NamingList,
  PlannedOperation,
} from '../crds';

/**
 * The cloud provider interface. A provider has two halves in two processes:
 * - `ProviderModule` (this file, `providers/<kind>/index.ts`) is loaded by the operator and must not import Pulumi;
 * - `WorkerModule` (`providers/worker-module.ts`, `providers/<kind>/worker.ts`) is loaded by the worker processes, which run Pulumi.
 */
export interface ProviderModule {
  /** Name of the cloud, and of its typed block in CloudProvider.spec and CloudLoadBalancer.spec: `local`, `aws`, … */
  readonly kind: string;
  /** What stands before `://` in the Nodes' spec.providerID. */
  readonly providerIDScheme: string;
  /** Takes other forms of providerID for its own as well, such as that of old kubelets. Pure. */
  knowsProviderID?(providerID: string): boolean;
  /** Raised only when the program gives other resources for the same inputs. */
  readonly programVersion: string;
  /**
   * The controller that made load balancers of this cloud before, for Services that bear the same finalizer as ours: such as `cloud-provider-aws`.
   * Absent = there was none. What it has made is told by `Cloud.leftFor`.
   */
  readonly predecessor?: string;
  /**
   * Compiles annotations of a Service into the typed block of CloudLoadBalancer.spec. Pure.
   * Annotations without the cloud's prefix are ignored; an unknown one with it is a Warning.
   * @param service what else of the Service decides how they read; absent = a Service of no class, whose ports are not known
   * @param settings of the CloudProvider that takes the Service: what its annotations leave open; absent = nothing is set
   */
  compile(annotations: Record<string, string>, service?: ServiceFacts, settings?: CloudProviderSpec): Compiled;
  /**
   * By what the cloud counts calls, such as subscription and credentials: CloudProviders with the same one share what it says of its limits.
   * Absent, or undefined = each by itself. Pure.
   */
  accountOf?(settings: CloudProviderSpec): string | undefined;
  /** Opens a connection. Makes no cloud call but to find out what the settings leave open; throws OperatorError Invalid on settings that can't work. */
  connect(settings: CloudProviderSpec, context: ConnectContext): Promise<Cloud>;
}

/** What of a Service, beside its annotations, decides how they read. */
export interface ServiceFacts {
  loadBalancerClass?: string;
  ports: { name?: string; port: number; protocol?: string }[];
  /** By which a cloud's selectors choose it; they are never copied. */
  labels?: Labels;
  namespace?: string;
  /** Labels of the namespace; absent while it is not known yet. */
  namespaceLabels?: Labels;
  /** Families of its addresses, and the address that its spec asks for. */
  ipFamilies?: IPFamily[];
  addresses?: string[];
  /** What it has been given so far. */
  current?: CloudLoadBalancerSpec;
  /** The others of its CloudProvider. Who asks is asked again when they change. */
  neighbors?: () => readonly Neighbor[];
}

/** Another load balancer of a CloudProvider. */
export interface Neighbor {
  uid: string;
  ownerUID: string;
  /** namespace/name. */
  key: string;
  /** RFC 3339. */
  createdAt: string;
  spec: CloudLoadBalancerSpec;
  /** Where it is served; empty = it is not, as far as is known. */
  addresses: readonly string[];
}

export interface Compiled {
  block: JsonObject;
  problems: Problem[];
  /** Fields of the portable core that the annotations set. */
  core?: Pick<CloudLoadBalancerSpecInput, 'scheme'>;
  /** The annotations leave the Service to another controller: which, and by what. It is let alone, like one of a foreign class. */
  leftTo?: string;
}

/** Something wrong with an input, in words for its author. */
export interface Problem {
  severity: 'Error' | 'Warning';
  /** An annotation's key or a field's path. */
  field: string;
  value: string;
  /** What is wrong, and what to write instead. */
  message: string;
}

export interface ConnectContext {
  /**
   * UID of the namespace kube-system: the id of this cluster in cloud tags. Empty while the API server refuses it: then only `instances`
   * is asked, which lists whatever may be this cluster's, and throws where that can't be told apart.
   */
  clusterID: string;
  /** Name of the CloudProvider object. */
  providerName: string;
  /**
   * Reads keys of a Secret in the operator's own namespace.
   * @returns their values, in the order of the keys; of one that is no text (UTF-8) each character is a byte
   * @throws OperatorError with reason SecretMissing when it is not there or lacks one; throw it on
   */
  readSecret(name: string, keys: readonly string[]): Promise<string[]>;
  /** The account's limits: passed before each cloud call. Absent where no operator is at the other end. */
  calls?: CallGate;
}

/** A connected cloud. Every absent capability is reported to the user as absent. */
export interface Cloud {
  /** What its CloudProvider asks for in vain, in words with what to do: a warning there. Absent = nothing. */
  readonly withoutEffect?: readonly string[];
  readonly loadBalancers?: LoadBalancers;
  readonly members?: Members;
  readonly instances?: Instances;
  readonly routes?: Routes;
  readonly volumes?: Volumes;
  /**
   * What exists in the cloud for the named stacks of this cluster (all stacks when `stacks` is absent), by bulk reads.
   * A stack without anything in the cloud has no entry.
   * @param but stacks that nobody asks for: what takes a call for each of their resources can be left out
   */
  discover?(stacks?: string[], but?: ReadonlySet<string>): Promise<Map<string, DiscoveredResource[]>>;
  /** For clouds whose bulk reads do not tell all of load balancers: what they tell, by which most stacks need no closer look. Absent = `discover` costs no more. */
  glance?(): Promise<Glance>;
  /**
   * What was made for this cluster in things that are others', bears no stack's marks, and is accounted for by nothing: by the stacks that it is told as.
   * `discover` gives it where it is asked for these, and not else. Absent = there is no such thing.
   * @param known asked once the cloud has answered: what has come meanwhile accounts for its own
   */
  leftBehind?(known: () => KnownOwners): Promise<Map<string, DiscoveredResource[]>>;
  /**
   * Load balancers that are made and not in service, or not as they should be, by the points of entry that `LoadBalancers.results` gives: in one bulk read.
   * Others' may be among them. Absent = one that is made is in service.
   */
  notInService?(): Promise<Map<string, NotInService>>;
  /**
   * What stands where a load balancer is to be made, and may be taken over for it; undefined = nothing does. Reads only, and nothing where neither
   * `from` nor the spec's names or addresses ask for it. What is of this stack already is told with no resources.
   * @param from whose it may be; absent = nobody's. Itself = the stack had something before, and its state is gone: what was taken over is recognised by
   * this stack's marks, and given with what it keeps
   * @param id of the one that is meant, which goes before names and addresses; only with a former owner
   * @throws OperatorError Taken naming the holder, when it is somebody else's; Invalid where the id is of something else than such a load balancer
   */
  adoptable?(stack: string, input: LoadBalancerInput, from?: AdoptableFrom, id?: string): Promise<Adoption | undefined>;
  /**
   * What stands that `ProviderModule.predecessor` has made for a Service, by the name that this gives, and that nobody has taken over: its id and its
   * maker, in words. Undefined = nothing. Reads only.
   */
  leftFor?(serviceUID: string): Promise<string | undefined>;
  /**
   * Marks everything of a stack as released: `discover` doesn't give it any more, and no update adopts or deletes it. A provider with `discover`
   * has it, or what was released is taken for a leftover one day.
   * @param isValid asked as the last statement before each write (OperatorError Canceled)
   */
  release?(stack: string, isValid: () => boolean): Promise<void>;
  /** What the worker needs to reach this cloud, credentials included; never stored, never logged. */
  workerSettings(): JsonObject;
  /**
   * Brings `workerSettings` up to date, with credentials that hold for an update: awaited before each one. Absent = they always are.
   * @throws OperatorError what the update then fails with, such as Credentials when there are none
   */
  prepareUpdate?(): Promise<void>;
  /**
   * Reads the credentials anew from where the settings say (a file, a Secret); `workerSettings()` then has today's. Asked every second while the
   * cloud refuses them, so that repaired ones are used at once.
   * @param sessions before a probe: what is made anew for every asking, such as the session of a role, is asked for too. Without it no session is made, and
   *   no cloud is called, but for others than before.
   * @returns true when they are others than before; another session is none
   * @throws OperatorError Credentials with what is wrong with them, which is told in place of the cloud's refusal
   */
  renewCredentials?(sessions: boolean): Promise<boolean>;
  close(): Promise<void>;
}

/** What a cloud's bulk reads tell. */
export interface Glance {
  /** By stack: while it stays the same, nothing of the stack was seen to change. Of one that it does not have, nothing is told. */
  marks: ReadonlyMap<string, string>;
  /** As `Cloud.discover`, by the same bulk reads. */
  discover(stacks: string[]): Promise<Map<string, DiscoveredResource[]>>;
}

/** What accounts for things in the cloud. */
export interface KnownOwners {
  /** Stacks with a record or members. */
  stacks: ReadonlySet<string>;
  /** Of what lives (LoadBalancerInput.ownerUID). */
  owners: ReadonlySet<string>;
  /**
   * Specs of the load balancers that live, as they are asked for and as they were last accepted: read when this is called, and not before.
   * Undefined = one that was accepted can't be read.
   */
  specs: () => Promise<readonly CloudLoadBalancerSpec[] | undefined>;
}

/** Why clients may not reach a load balancer that is made. */
export interface NotInService {
  /** Provisioning: that ends by itself. Failed and Impaired: a person is needed. */
  reason: 'Provisioning' | 'Failed' | 'Impaired';
  /** In words, with what to do. */
  message: string;
}

/** One load balancer as a stack's program gets it: everything that decides the cloud's resources, and nothing else. */
export interface LoadBalancerInput {
  /** UID of the CloudLoadBalancer. */
  uid: string;
  namespace: string;
  name: string;
  /** UID of the Service that owns it, or its own UID: the base of cloud names. */
  ownerUID: string;
  spec: CloudLoadBalancerSpec;
  /** Raised by every replacement, and part of the cloud names; absent = the first generation, whose names are upstream's. */
  generation?: number;
  /** The generation before, which stays in the cloud beside this one for now. */
  retiring?: { input: LoadBalancerInput; until?: string };
  /** This generation was taken over from another owner: what the program must know of it (Adoption.kept). Absent = it was made for this input. */
  adopted?: JsonObject;
  /** It was made for this input, but in the place of one that was taken over, and has its names in the program: what of that can't be changed in place goes. */
  inPlaceOfAdopted?: true;
}

/** Whose it may be that a load balancer takes over. */
export type AdoptableFrom = FormerOwner | 'Itself';

/** What a load balancer takes over that somebody else has made or had (CloudLoadBalancer.spec.adopt). */
export interface Adoption {
  /** Who had it, in words. */
  from: string;
  /**
   * What does not bear this stack's marks yet, as `discover` would give it: by its name in this stack's program, and marked as adopted, so that its
   * properties which can't be changed in place stay as they are.
   */
  resources: DiscoveredResource[];
  /** What of it decides what the program makes, and stays as it is; absent = it is of this stack already, and was made for it. */
  kept?: JsonObject;
}

/** A change that the cloud can't make in place to what carries traffic. */
export interface Replacement {
  /** What is replaced, and because of what: the beginning of a sentence. */
  why: string;
  /** It needs what exists only once, such as an address that was asked for: the old one goes first, with a gap in traffic. */
  gap: boolean;
  /** With a gap: yet what takes its place has names of its own, those of the next generation, since parts of the old one can only go when the new one is there. */
  renamed?: true;
  /** Why it can't be made at all, and what its author can do: what serves stays as it is. */
  refused?: string;
}

/** What a load balancer that was taken over keeps, because it can't be changed in place, though its spec asks for something else. */
export interface KeptDifference {
  /** Path in the CloudLoadBalancer. */
  field: string;
  wanted: string;
  kept: string;
}

/** Something of the account that a load balancer's settings name, such as a subnet. */
export interface Named {
  /** The list of the policy that judges it. */
  list: NamingList;
  /** Path of the field that names it. */
  field: string;
  value: string;
}

export interface LoadBalancers {
  /** The placement of a load balancer that names none: its own, which is its UID (AWS, local), or one that it shares with others (Azure). Pure. */
  defaultPlacement(input: LoadBalancerInput): string;
  /** What the CRD can't check: limits, contradictions, addresses outside the pool. Pure. */
  validate(spec: CloudLoadBalancerSpec): Problem[];
  /**
   * What of the account its settings name, as it is written there: judged by the lists of `CloudProvider.spec.policy`. Absent = they name nothing; the kind
   * then has rules that allow no such list. Pure.
   */
  named?(spec: CloudLoadBalancerSpec): Named[];
  /**
   * Inputs of the program for one stack. Pure and deterministic: its hash decides whether the engine runs.
   * @param targets the Nodes that may take traffic, for a cloud without `members`: its stacks carry them, and a Node more is an update. Absent = none
   */
  render(stack: string, inputs: LoadBalancerInput[], targets?: TargetsOf): JsonObject;
  /**
   * What `render` gave, without what comes of the Nodes: where that is the same, nothing but Nodes has changed. Absent = nothing in it does. Pure.
   * @param rendered maybe by an older program
   */
  withoutTargets?(rendered: JsonObject): JsonObject;
  /**
   * What an operation that no spec asks for, but other settings or a newer program, takes away of a load balancer that serves, besides what is replaced and
   * load balancers that are deleted: an address, or who is connected. The end of "the update …"; undefined = nothing. Absent = never anything. Pure.
   */
  lossBy?(operation: PlannedOperation): string | undefined;
  /**
   * What of a load balancer must be replaced for a change; undefined = the change is made in place. Absent = never. Pure.
   * Without a gap, `render` gets an input with a higher generation and the old one as `retiring`: both are to be made, under names of their own.
   */
  replacement?(accepted: LoadBalancerInput, wanted: LoadBalancerInput): Replacement | undefined;
  /** Where an input that was taken over asks for something else than what it keeps; empty where it was made here. Absent = it can't be told. Pure. */
  keptDifferences?(input: LoadBalancerInput): KeptDifference[];
  /**
   * What of a load balancer only one can have at a time, in words, such as addresses that were asked for: a move to another stack then deletes the old
   * one first. Absent = spec.addresses. Pure.
   */
  exclusive?(spec: CloudLoadBalancerSpec): string[];
  /**
   * Where only one load balancer of a stack can have a port, in words, such as an address that several may ask for. Absent = spec.addresses, else the
   * address that all of the placement and scheme share. Pure.
   * @param given what it has been given and keeps, as far as that is known: an address that others may ask for
   */
  places?(input: LoadBalancerInput, given?: readonly string[]): string[];
  /** What else only one load balancer of a stack can have, in words, such as the settings of what several share. Absent = nothing. Pure. */
  sole?(spec: CloudLoadBalancerSpec): string[];
  /**
   * Addresses that those of a stack have together which are one load balancer in the cloud, and no others: `by` is the same for these. Absent, or
   * undefined = none. Pure.
   */
  together?(input: LoadBalancerInput): { addresses: string[]; by: string } | undefined;
  /**
   * Types of the resources that points of entry are of: a stack whose state has none of them serves nobody, as between the deletion and the creation of one
   * that is replaced. Absent = they are there as long as the outputs are.
   */
  readonly entries?: readonly string[];
  /** Reads one load balancer's results from the stack's outputs; undefined when they are not there. Pure. */
  results(outputs: JsonObject, uid: string): LoadBalancerResult | undefined;
  /**
   * What `results` would give, by what `discover` found of the stack: for while nobody can read the stack's state, and where it was lost. What the cloud
   * doesn't say is taken from the input's spec, or left out. Undefined when there is nothing of it. Absent = it can't be told. Pure.
   */
  recognize?(found: readonly DiscoveredResource[], input: LoadBalancerInput): RecognizedLoadBalancer | undefined;
  /**
   * The input's spec, but with what only a replacement can change as the input's generation has it in the cloud, where its state was lost. What the cloud
   * doesn't say is the spec's. Absent = it can't be told: a changed spec then replaces what serves in one step. Pure.
   */
  madeFrom?(found: readonly DiscoveredResource[], input: LoadBalancerInput): CloudLoadBalancerSpec;
  /**
   * Whose fault a failed update is, by UID: of those whose resource the error names, else of those whose part of a shared resource it names.
   * Empty = the error names nobody; then the candidates are bisected. Pure.
   * @param inputs what the failed update rendered
   */
  attribute?(error: OperatorError, inputs: LoadBalancerInput[]): string[];
}

export interface LoadBalancerResult {
  /** Points of entry of the newest generation. */
  ingress: Ingress[];
  /** Those of all generations. */
  targetGroups: TargetGroup[];
}

/** A load balancer by what the cloud has of it. */
export interface RecognizedLoadBalancer extends LoadBalancerResult {
  /** The newest generation with a point of entry; where none has any, the newest one. */
  generation: number;
}

/** Where members go. */
export interface TargetGroup {
  /** The cloud's id of the target group or pool. */
  id: string;
  /** Node port that the targets listen on. */
  port: number;
  /** The stack that made it. What bears the mark of another stack or cluster is not written to (OperatorError Conflict). */
  stack?: string;
  /** Only Nodes with all these labels are its targets; absent = all. */
  nodeLabels?: NodeLabels;
  /** Its update has made it a moment ago: nothing is registered, and there is no doubt whose it is. */
  fresh?: true;
  /** What else the provider's members path needs to know of it, in the provider's own terms. */
  access?: JsonObject;
}

/** Labels of Nodes, by key. */
export type NodeLabels = Labels;

/** One Node as a member. */
export interface Target {
  nodeName: string;
  providerID: string;
  addresses: string[];
}

/** Told the name of a Node. */
export type LeftOut = (nodeName: string) => void;

/** Nodes that may take traffic, in the order of their names. @param selector only those that it takes */
export type TargetsOf = (selector?: LabelSelector) => readonly Target[];

/** The direct path for membership (design: Members). A cloud without it has its targets in its stacks (LoadBalancers.render). */
export interface Members {
  /**
   * Brings the whole target set of one group to `targets`, with the fewest batch calls; none when it is right already.
   * @param signalValid is asked as the last statement before each write; when it gives false, nothing more is written (OperatorError Canceled).
   * @param left is told the name of each Node that can't be a target now, since its machine does not run: it is tried again when the Node is ready
   * @returns how many cloud writes were made
   */
  sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number>;
  /** Hash of what `sync` would register: equal hashes need no call. Pure. */
  hash(group: TargetGroup, targets: Target[]): string;
  /**
   * What is registered now, in the fewest reads: group id → hash as above.
   * @param inTurn where it takes a call for each group, some are read, others at the next times, and these are as they were known
   */
  observe(inTurn?: boolean): Promise<Map<string, string>>;
  /**
   * Takes it as known, without a call, that exactly `targets` are registered in the group, by an earlier process. A provider has it where
   * `observe` takes a call for each group: a restart then goes by what was recorded, and `observe` is left to the drift interval.
   */
  assume?(group: TargetGroup, targets: Target[]): void;
  /** Targets that `sync` leaves out, and why (a providerID of another cloud, or none). Pure. */
  skipped?(targets: Target[]): Problem[];
  /**
   * What keeps some of the targets out of the group, since its cloud has no room for all: each limit in words, with the figures. `sync` registers
   * as many as there is room for, always the same ones. Absent = there is always room. Pure.
   */
  limits?(group: TargetGroup, targets: Target[]): string[];
}

export interface NodeAddress {
  type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';
  address: string;
}

/** A machine as the cloud describes it. */
export interface Instance {
  providerID: string;
  id: string;
  /** Names under which a Node may have registered. */
  names: string[];
  state: 'Running' | 'Stopped' | 'Terminated';
  type: string;
  zone: string;
  region: string;
  addresses: NodeAddress[];
  additionalLabels?: Record<string, string>;
}

/** What a Node says of where its machine is. */
export interface NodePlace {
  /** Absent while it has none. */
  providerID?: string;
  labels: Readonly<Record<string, string>>;
}

export interface Instances {
  /**
   * Every machine that could be a Node of this cluster, in bulk reads. An incomplete answer is an error, never a short list.
   * @param place absent = where the settings say that the cluster's machines are; else one that `placeOf` gave
   */
  list(place?: string): Promise<Instance[]>;
  /**
   * Where a Node's machine is, if it is none of those that `list` gives without a place; undefined = it is one of those. Such a place is listed by
   * itself, for the Nodes that name it, so that one which can't be read holds up no other Node. Absent = there are none. Pure.
   */
  placeOf?(node: NodePlace): string | undefined;
  /** Why a Node is no machine of this cloud though it is in its cluster, by its labels, in words: it is let alone. Undefined = it may be one. Pure. */
  unmanaged?(labels: Readonly<Record<string, string>>): string | undefined;
  /**
   * How long a listing is good for, in milliseconds, so that listings take no more than their share of the account's calls. Absent = as long as who
   * asks says.
   * @param place as of `list`
   */
  restMs?(place?: string): number;
  /** How long after a machine was made the cloud's listings may not have it, in milliseconds: no younger Node is deleted for that. Absent = not at all. */
  readonly lateMs?: number;
  /**
   * What of a Node's providerID tells its machine from others; undefined = this cloud can't say of it that it is gone, and its Node is left
   * alone. Absent = the whole text. Pure.
   */
  identify?(providerID: string): string | undefined;
  /**
   * Those of the named machines that exist, in bulk reads: asked for Nodes whose machine `list` doesn't give. Absent = `list` gives all.
   */
  named?(providerIDs: readonly string[]): Promise<Instance[]>;
  /**
   * Brings the tags that the settings ask for on the machines of Nodes to what is wanted, and takes them off machines that are no Node's any more: bulk
   * reads in, batch writes out, and none where all is right. Absent = the settings ask for nothing.
   * @param isValid asked as the last statement before each write (OperatorError Canceled)
   * @returns how many writes were made
   */
  tagNodes?(machines: NodeMachines, isValid: () => boolean): Promise<number>;
}

/** providerIDs of Nodes. */
export interface NodeMachines {
  /** Of those that are this cloud's. */
  own: readonly string[];
  /** Of all, also where it is not known yet whose they are. */
  all: readonly string[];
}

/** Of a cloud that knows in which zones its disks are. */
export interface Volumes {
  /**
   * Where the volume of a PersistentVolume lies, by its spec; undefined = it is none of this cloud's. What names something of this cloud that
   * isn't there is an error (NotFound), as is a cloud that can't be asked.
   */
  place(spec: JsonObject): Promise<VolumePlace | undefined>;
}

export interface VolumePlace {
  /** One, or all that hold a copy; none where the whole region can have it. */
  zones: string[];
  region: string;
}

export interface RouteInput {
  /** Name of the CloudRoute. */
  name: string;
  uid: string;
  spec: CloudRouteSpec;
}

export interface Routes {
  /**
   * Names the shard of a new route: its stack is made of that. The caller records it, and the route keeps it. Pure.
   * @param sizeOf how many routes a shard has by now
   */
  shard(input: RouteInput, sizeOf: (shard: string) => number): string;
  /** What can't work with the spec. `providerID` is the Node's where the object does not say it; absent while the Node has none: the route then waits. Pure. */
  validate(spec: CloudRouteSpec): Problem[];
  /** Inputs of the program for one stack of routes. Pure. */
  render(stack: string, inputs: RouteInput[]): JsonObject;
  /** As LoadBalancers.attribute. */
  attribute?(error: OperatorError, inputs: RouteInput[]): string[];
  /** When a route that the stack has begins to work, by the stack's outputs: wall clock, milliseconds; undefined = it does. Absent = at once. Pure. */
  worksAt?(outputs: JsonObject, input: RouteInput): number | undefined;
}

/** Ids in whose letter case a cloud makes no difference. */
export interface CaselessIDs {
  /** What ids among the properties begin with, in lower case. */
  prefix: string;
  /** Properties of which the id is made. */
  properties: readonly string[];
}

/** A resource found in the cloud for a stack. */
export interface DiscoveredResource {
  /** Pulumi type token, for example `local:index:LoadBalancer`. */
  type: string;
  /** Name in the program, from our tag; with the type it gives the URN. */
  name: string;
  id: string;
  /** The properties that the program sets, as they are now. */
  inputs: JsonObject;
  /** All properties, as a refresh would record them. */
  outputs: JsonObject;
  /** Id of what takes it along when that is deleted (Pulumi's option of that name): it is not deleted before. */
  deletedWith?: string;
  /** The cloud says that it is recorded but does not work, and why. It is drift, and the next update calls the resource's `update`. */
  failure?: string;
  /** It bears no mark: only where a state has it, by type and id, it is what that says, and is not gone. Elsewhere it is nothing of ours. */
  unmarked?: true;
  /**
   * Lists among its `inputs` in which others have items too, each with the property that names an item. Where a state has it, the items that the state
   * has are compared, and no others; of an item's own `lists` of values the same.
   */
  sharedLists?: Record<string, string | { key: string; lists: readonly string[] }>;
  /** Where the letter case of ids means nothing: one that a state has in another case is the same. */
  caselessIDs?: CaselessIDs;
  /** Inputs that the cloud's official plugin fills in by itself, and that no program sets: not compared. */
  filledIn?: readonly string[];
}

export type { Json, JsonObject };
