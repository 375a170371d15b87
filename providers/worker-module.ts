import type { JsonObject } from '../operator/base/json';
import type { TargetGroup } from './provider';
import type { CallGate } from './call-gate';
import type { ResourceProvider } from './resource-provider/resource-provider';

/** The half of a provider that runs in a worker process, beside the Pulumi engine. */
export interface WorkerModule {
  /** The Pulumi program of a stack: registers resources for `inputs` and gives the stack's outputs. Runs inside the Automation API. */
  program(inputs: JsonObject): Promise<Record<string, unknown>>;
  /** Our own resource providers for one update, attached to the engine; `settings` are Cloud.workerSettings(). */
  resourceProviders(settings: JsonObject, context: UpdateContext): ResourceProvider[];
  /** True where the package has an official plugin: stacks of extensions use that one, and ours is not attached to them. */
  readonly hasOfficialPlugin?: boolean;
  /**
   * How an official plugin reaches the account of these settings (Cloud.workerSettings()): environment variables of the plugins that an extension's
   * own stack uses. Credentials go this way alone, so that they are in no input and not in the state. Absent = plugins get none. Pure.
   */
  pluginVariables?(settings: JsonObject): PluginVariable[];
  /**
   * The same where a plugin takes no variable that has what it needs, but asks somebody for it: opened for one update, in the worker. Absent = none does.
   * @throws OperatorError when the settings have nothing to give
   */
  pluginEndpoint?(settings: JsonObject): Promise<PluginEndpoint>;
  /**
   * UIDs of the load balancers that a resource of the program serves, for extensions; empty or absent = all of the stack. Pure.
   * @param inputs what the program runs on
   */
  loadBalancersOf?(resource: { type: string; name: string; args: Record<string, unknown> }, inputs: JsonObject): string[];
}

/** An environment variable of official plugins. */
export interface PluginVariable {
  name: string;
  value: string;
  /** Its value is taken out of messages. */
  secret?: true;
}

/** Where the official plugins of one update get what no variable can hold. */
export interface PluginEndpoint {
  /** By which they find it. */
  variables: PluginVariable[];
  /** What it gives them: taken out of messages as well. */
  secrets: readonly string[];
  close(): void;
}

/** What the resource providers of one update get from the operator. */
export interface UpdateContext {
  /** The stack's name, for tags. */
  stack: string;
  clusterID: string;
  /** Throws OperatorError Canceled when this update may not write any more: the last statement before each cloud write. */
  assertValid(): void;
  /**
   * Has the members path register the members of a new target group, and waits for it. Absent where nothing keeps members.
   * @throws OperatorError when they can't be registered
   */
  syncTargets?(group: TargetGroup): Promise<void>;
  /** Says what people should know though the update goes on, such as that somebody else writes the same: a sentence. Absent = nobody listens. */
  remark?(text: string): void;
  /**
   * Inputs of a resource of the stack as its state had them when the update began; undefined = it had none. Secret values are as they are stored. Absent where no
   * state stands behind the update.
   */
  stored?(type: string, name: string): JsonObject | undefined;
  /**
   * UIDs of the owners whose own resources may be replaced, since they are new or that was agreed to; what many share may not. Absent = everything may: it
   * was planned and approved, all have said so beforehand, or this is only a plan.
   */
  replaces?: readonly string[];
  /** Counts one cloud call, for the attempt's record. */
  countCall(verb: string): void;
  /** The account's limits: passed before each cloud call. Absent where no operator is at the other end. */
  calls?: CallGate;
}
