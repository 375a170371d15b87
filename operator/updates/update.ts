import type { Drift, StackResource } from '../../crds';
import type { JsonObject } from '../base/json';
import type { LoadBalancer } from '../../extensions';
import type { DiscoveredResource, TargetGroup } from '../../providers/provider';
import type { ExtensionModule } from './extension-module';
import type { StateHold } from './held-writes';
import type { Plan, ShownOperations } from './plan';

/** What a stack should be, as operator/cloud/ asks for it. */
export interface StackUpdate {
  /** Name of the CloudStack, the Pulumi stack and the state object. */
  stack: string;
  project: string;
  /** The queue, the worker settings and the account's limits are per CloudProvider. */
  providerName: string;
  /** Which `providers/<kind>/worker` module runs the program. */
  providerKind: string;
  programVersion: string;
  /** Who is to serve the cloud's types where the stack is made: later ones go on with what it was made with. Absent = our own provider. */
  plugin?: 'Official';
  clusterID: string;
  /** Inputs of the program; an emptied stack is destroyed, then its state removed. `undefined` = destroy. */
  inputs: JsonObject | undefined;
  /** The members' own inputs, from which `inputs` were rendered, by UID: opaque here, stored when the update has succeeded. */
  accepted?: JsonObject;
  /** Cloud.workerSettings(): credentials of today; never stored. */
  settings: JsonObject;
  /** Deadline of the run in milliseconds. */
  deadlineMs?: number;
  /** Run even when the hash is the stored one (found drift). */
  force?: boolean;
  /** Hash of the plan that a person has approved: it is made again, and nothing is done when it has become another (Conflict, reason `PlanOutdated`). */
  approved?: string;
  /** What tells, while the update is open, that another one is the same (StackState.begun, `underway`); absent = its updateHash. Asked for only where it runs. */
  begun?: () => string;
  /** UpdateContext.replaces: whose own resources may be replaced. Absent = everything. */
  replaces?: readonly string[];
  /** The stack was made before: where it has no state, that was lost, and the cloud is asked first what there is. */
  mayExist?: boolean;
  /** It takes over what others have made, which serves already: the cloud is asked first (UpdateHooks.discover), also where the state is in order. */
  adopts?: true;
  /** What the operator's extension in code does in this stack; absent = nothing. */
  extension?: ExtensionUse;
}

/** The part of an extension in a stack (docs/extend.md). */
export type ExtensionUse =
  /** The provider's program runs, its resources transformed. */
  | { role: 'transform'; module: ExtensionModule; loadBalancers: LoadBalancer[] }
  /** The extension's own program runs, on the stack's inputs (StackOutputs). Without a module the stack can only be destroyed. */
  | { role: 'extra'; module?: ExtensionModule };

/** How an update ended. */
export interface UpdateResult {
  /** `Unchanged`: the hash was the stored one and nothing ran. */
  result: 'Unchanged' | 'Updated' | 'Destroyed';
  outputs: JsonObject;
  resources: StackResource[];
  changes: ChangeCounts;
  cloudCalls: number;
  durationMs: number;
  inputsHash: string;
  incarnation: string;
  epoch: number;
  /** Of the program that made it what it is; absent where nothing is left of it. */
  programVersion?: string;
  /** The stack is made with the cloud's official plugin. */
  plugin?: 'Official';
}

export interface ChangeCounts {
  create: number;
  update: number;
  replace: number;
  delete: number;
  same: number;
}

/** What a listing tells of a stack. */
export interface StackSummary {
  stack: string;
  project: string;
  /** UID of the namespace kube-system of the cluster that made it. */
  clusterID: string;
  inputsHash: string;
  programVersion: string;
  incarnation: string;
  epoch: number;
  /** Raised in every write of the state. */
  revision: number;
  /** An update began and did not end: the cloud must be discovered first. */
  open: boolean;
  resourceCount: number;
}

/** What is known of a stack without running anything. */
export interface StackState extends StackSummary {
  /** StackUpdate.inputs of the last update that succeeded, or failed of deletions alone; absent where none has. */
  inputs?: JsonObject;
  /** StackUpdate.accepted of the same; absent where it was not said. */
  accepted?: JsonObject;
  /** No update of it has ever succeeded: what it has serves nobody. */
  neverMade?: true;
  /** It was made with the cloud's official plugin. */
  plugin?: 'Official';
  /** Digest of the extension whose `transform` it was made with; absent = none, or not known. */
  transform?: string;
  /** StackUpdate.begun of the update that was approved, began and did not end. */
  underway?: string;
  /** The same of the one that is open, whether or not it was approved; absent = not known. */
  begun?: string;
  /** StackRecord.departures: absent = none. */
  departures?: number;
  outputs: JsonObject;
  resources: StackResource[];
}

/** Runs updates: queue, workers, state, recovery (design section 4). */
export interface Updates {
  /** All stacks that have state, for start-up and sweeps; opens none of them. */
  states(): Promise<StackSummary[]>;
  state(stack: string): Promise<StackState | undefined>;
  /**
   * Brings a stack to `update`; calls for one stack run one after another, and a newer waiting one replaces an older waiting one
   * (both promises settle with the newer one's result).
   * @param discover asked first when the stack is found open
   * @throws OperatorError with the failure's class; `resource` names the URN at fault, `undeleted` what is left where only deletions failed
   */
  run(update: StackUpdate, hooks: UpdateHooks): Promise<UpdateResult>;
  /**
   * What `run` would do now. Nothing is written, neither to the cloud nor to the state.
   * @throws OperatorError as `run`
   */
  preview(update: StackUpdate, hooks: UpdateHooks): Promise<Plan>;
  /** A moment between updates, to be taken before the cloud is asked what it has: `since` of what it answers. */
  moment(): number;
  /**
   * Compares what the state says with what the cloud has; changes nothing.
   * @param since when that was asked; absent = after all updates of the stack
   * @returns undefined when an update of the stack has run since then, or runs now: what was found says nothing of it
   */
  compare(stack: string, found: DiscoveredResource[], since?: number): Promise<Drift[] | undefined>;
  /** The same, and writes what was found into the checkpoint as a refresh would, so that the next forced run heals it. */
  adoptFindings(stack: string, found: DiscoveredResource[], since?: number): Promise<Drift[] | undefined>;
  /**
   * Stores what the members of a stack at rest have been brought to with a change of it that no program sees; an unknown stack, and equal inputs, are left.
   * @param change what it had → what it has; pure
   * @throws OperatorError Conflict while an update of the stack runs
   */
  amend(stack: string, change: (accepted: JsonObject) => JsonObject): Promise<void>;
  /**
   * Drops a stack's state, and nothing else: what it has in the cloud is then nobody's.
   * @throws OperatorError Conflict while an update of the stack runs
   */
  forget(stack: string): Promise<void>;
  /** Steps in flight have a grace to end and be stored, what waits is refused, and nothing begins any more. @returns once no worker is left; may be called again */
  close(): Promise<void>;
}

export interface UpdateHooks {
  /** What exists in the cloud for the stack; asked before an update of a stack that is open. */
  discover?: () => Promise<DiscoveredResource[]>;
  /** False = lease lost: no more cloud writes. */
  isValid: () => boolean;
  /** True = no update may begin, and one that runs ends after the steps in flight. */
  isFrozen?: () => boolean;
  /** `StackUpdate.settings` of the moment: asked when a worker is there, for all but what is only rendered; absent = those hold. @throws OperatorError what the update then fails with */
  settings?: () => Promise<JsonObject>;
  onStart?: () => void;
  /** What people should know of it though it goes on, such as that somebody else writes the same. */
  onRemark?: (text: string) => void;
  /** What the update did to the cloud, or had begun to do when it failed: told before it settles, and not where that is nothing. */
  onOperations?: (done: ShownOperations) => void;
  /** How many calls to the cloud it has made so far. */
  onCalls?: (total: number) => void;
  /** The update waits for some seconds because its state can't be stored; undefined = it goes on. */
  onHeld?: (hold: StateHold | undefined) => void;
  /** Registers the members of a new target group while the update waits for them. */
  syncTargets?: (group: TargetGroup) => Promise<void>;
}

/** What an update that has nothing to do would give. Pure. */
export function resultOf({ outputs, resources, inputsHash, incarnation, epoch, programVersion, plugin }: StackState): UpdateResult {
  const changes = { create: 0, update: 0, replace: 0, delete: 0, same: 0 };
  const made = { inputsHash, incarnation, epoch, programVersion, ...(plugin && { plugin }) };
  return { result: 'Unchanged', outputs, resources, ...made, changes, cloudCalls: 0, durationMs: 0 };
}
