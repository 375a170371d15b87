import type {
  CloudProviderSpec,
  CloudStackSpec,
  Condition,
  DeletionPolicy,
  MaintenanceWindow,
  ManagementPolicy,
  PlannedOperation,
} from '../../../crds';
import type { Adoption, DiscoveredResource, JsonObject, Problem, Replacement, TargetGroup } from '../../../providers/provider';
import type { OperatorError } from '../../base/errors';
import type { KubeObject } from '../../kube/object';
import type { StackState, UpdateResult } from '../../updates/update';
import type { Verdict } from '../conditions';
import type { MemberInput } from './member-input';
import type { Claim } from './port-conflicts';
import type { UpdatePolicy } from '../plan/approval';
import type { ConnectedCloud, RegisteredCloud } from '../providers/registry';

/** An object that stacks carry. */
export type Member = KubeObject & {
  spec: {
    provider: string;
    managementPolicy?: ManagementPolicy | undefined;
    deletionPolicy?: DeletionPolicy | undefined;
    driftInterval?: string | undefined;
    maintenanceWindows?: MaintenanceWindow[] | undefined;
  };
  status?: {
    observedGeneration?: number | undefined;
    conditions?: Condition[] | undefined;
    lastHandledReconcile?: string | undefined;
  };
};

/** What a status says besides its conditions. */
export type StatusFields = Record<string, unknown>;

/** The cloud is as the program says. */
export interface Settlement {
  stack: string;
  cloud: ConnectedCloud;
  result: UpdateResult;
}

/** How a member is after an update. */
export interface Settled {
  fields: StatusFields;
  verdict: Verdict;
  /** It is looked at again after so many milliseconds: what it waits for comes by itself. */
  againMs?: number;
}

/** What is left to do for one member. */
export interface MemberSettlement extends Settlement {
  /** False: a lever keeps its targets as they are. */
  targets: boolean;
}

/** Which stacks have what, for the choice of an object's stack. */
export interface Holdings {
  /** Those that have the object, or may: the one that it asked for last is the first. */
  held: readonly string[];
  /** CloudProvider of a stack by its record; undefined while it has none. */
  providerOf: (stack: string) => string | undefined;
  /** How many objects a stack has. */
  sizeOf: (stack: string) => number;
}

/** What differs between stacks of load balancers and stacks of routes. All but `adoption`, `render`, `settle`, `keep`, `follow` and `syncTargets` is pure. */
export interface StackKind<O extends Member, I extends MemberInput = MemberInput> {
  readonly kind: CloudStackSpec['kind'];
  /** Name of the members' CustomResourceDefinition. */
  readonly crd: string;
  /** What is new waits for no window of its CloudProvider; absent = it does. */
  readonly newAtOnce?: true;
  /** Name of the stack that carries the object; undefined while its provider is unknown. */
  stackOf(object: O, cloud: RegisteredCloud | undefined, holdings: Holdings): string | undefined;
  /** What policy and provider have against it. */
  problems(object: O, cloud: ConnectedCloud): Problem[];
  /** Why its spec must wait for something that comes by itself; absent = for nothing. */
  waiting?(object: O): Verdict | undefined;
  /** What the object takes over from others, asked before anything is made of it; absent = never anything. @throws OperatorError why it can't */
  adoption?(stack: string, object: O, cloud: ConnectedCloud): Promise<Adoption | undefined>;
  /** What the program gets of the object. */
  inputOf(object: O): I;
  /** How the object's changes reach the cloud; absent = at once. */
  updatePolicy?(object: O, provider: CloudProviderSpec | undefined): UpdatePolicy | undefined;
  /** What a change replaces that can't be changed in place; absent = never anything. */
  replacement?(accepted: I, wanted: I, cloud: ConnectedCloud): Replacement | undefined;
  /**
   * What the generation that serves was made from, by what the cloud has of the object's stack, where no state says it; undefined = none serves, or it can't be
   * told. Absent = there is only one generation ever.
   */
  inputFound?(object: O, found: readonly DiscoveredResource[], cloud: ConnectedCloud): I | undefined;
  /** What is said of a member that another stack has and that asks for this one; absent = it can't move. */
  move?(from: MovedFrom<I>, wanted: I, cloud: ConnectedCloud): Move;
  /** Brings the targets of one group up to date while an update that needs them runs. */
  syncTargets?(stack: string, group: TargetGroup, cloud: ConnectedCloud): Promise<void>;
  /** What only one member of a stack can have, in words. @param made what is known of the member in its stack */
  claims(input: I, cloud: ConnectedCloud | undefined, made?: Made<I>): Claim[];
  /** What is said to a member whose claim another one has: the condition's reason, and what its author can do instead of waiting. */
  conflict(claim: string): { reason: string; remedy: string };
  /** The program's inputs, with the Nodes of today where the cloud's stacks carry them. @throws OperatorError Transient while those are not known */
  render(stack: string, inputs: I[], cloud: ConnectedCloud): JsonObject;
  /** Rendered inputs without what comes of the Nodes; absent = nothing in them does. */
  withoutTargets?(rendered: JsonObject, cloud: ConnectedCloud): JsonObject;
  /** What an operation that no member asks for takes away from members, in words; undefined = nothing. Absent = never anything that somebody must be asked for. */
  lossBy?(operation: PlannedOperation, cloud: ConnectedCloud): string | undefined;
  /** UIDs of the members whose fault a failed update of `inputs` is; empty = the error does not say. */
  attribute(error: OperatorError, inputs: I[], cloud: ConnectedCloud): string[];
  /** What is left to do for one object, and what its status says then. `input` is what was rendered for it. */
  settle(settlement: MemberSettlement, object: O, input: I): Promise<Settled>;
  /** What is left to do for a member that has no object. */
  keep(settlement: Settlement, input: I): Promise<void>;
  /** Brings the targets of an object whose stack is left alone to the Nodes, by what is known; absent = it has none. */
  follow?(object: O, known: Knowledge): Promise<void>;
  /** The part of the object's status that stays true while work goes on or fails. */
  keptFields(object: O, known: Knowledge): StatusFields;
  /** Its earlier version works in the cloud. */
  serving(object: O, known: Knowledge): boolean;
}

/** What a stack has made of a member. */
export interface Made<I extends MemberInput> {
  /** Its accepted input. */
  input: I;
  /** The stack's. */
  outputs: JsonObject;
}

/** What the stack has that a member moves away from. */
export interface MovedFrom<I extends MemberInput> {
  /** Of the member. */
  input: I;
  /** Of the others there. */
  others: readonly MemberInput[];
  cloud?: ConnectedCloud | undefined;
}

/** A member that goes from one stack to another. */
export interface Move {
  /** The change that moves it: the beginning of a sentence. */
  why: string;
  /** It needs what the old stack has and what exists only once: that one deletes first. */
  gap?: boolean;
  /** Why it must stay where it is for now. */
  obstacle?: Verdict | undefined;
}

/** What is known of a stack without asking the cloud: its stored state is believed, a status is not. */
export interface Knowledge {
  stack?: string;
  /** Absent while the provider is not connected. */
  cloud?: ConnectedCloud | undefined;
  /** Absent while the stack was never updated. */
  state?: Pick<StackState, 'outputs' | 'incarnation' | 'resources'> | undefined;
  /** What the cloud has of the stack by our tags, where its state can't be read, or says nothing of its members. */
  found?: readonly DiscoveredResource[];
}
