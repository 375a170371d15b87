import type { Json, JsonObject } from '../../operator/base/json';

/** One type of resource, served to the Pulumi engine by our own gRPC provider. All methods may throw OperatorError. */
export interface ResourceType {
  /** Type token, for example `local:index:Address`. */
  readonly token: string;
  /** Properties whose change needs a replacement. */
  readonly replaceOn: readonly string[];
  /** Those that a resource has from the beginning or never: it is replaced where one of them comes or goes, not where it changes. */
  readonly replaceOnPresence?: readonly string[];
  /** True: the old one must go before the new one can be made (an address, a route's destination). */
  readonly deleteBeforeReplace?: boolean;
  /**
   * What stays as it is of something that was taken over: the properties of `olds` that stand before those of `news`, undefined = it is left out. Pure.
   * Absent = nothing.
   */
  keep?(olds: JsonObject, news: JsonObject): Record<string, Json | undefined>;
  /** Problems with the inputs, by property. Pure. */
  check?(inputs: JsonObject): { property: string; reason: string }[];
  /**
   * The program has it in this update, made before or not: told of each before what the program no longer has is deleted. Absent = nobody need know.
   * @param inputs all of them known
   */
  noted?(inputs: JsonObject): void;
  /**
   * Before it is replaced, also where that is only planned. Absent = it always may be.
   * @param properties those of `replaceOn` that differ
   * @throws OperatorError where nobody has agreed to that
   */
  assertReplaceable?(olds: JsonObject, properties: readonly string[], context: Pick<ResourceContext, 'urn' | 'name'>): void;
  /** Creates, or adopts what a lost answer left: idempotent by deterministic name or client token. */
  create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }>;
  /**
   * Outputs that a write alone can tell, and may tell otherwise each time, though no input says so: in a preview they are unknown. Other outputs that are
   * no inputs stay as they are in an update. Absent = none.
   */
  readonly computed?: readonly string[];
  /**
   * What a write would give beside the inputs, or in place of them, for previews: what can be told of it. Reads only; not asked while an input is unknown.
   * Absent = nothing.
   * @param olds outputs of before; absent = it would be made
   */
  foresee?(inputs: JsonObject, context: ResourceContext, olds?: JsonObject): Promise<JsonObject>;
  /** undefined = it is gone. `inputs` = the properties that a program sets, as they are in the cloud. */
  read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined>;
  update(id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }>;
  /** Gone already = done. @param outputs what the state has of it */
  delete(id: string, context: ResourceContext, outputs: JsonObject): Promise<void>;
}

export interface ResourceContext {
  urn: string;
  /** Name in the program. */
  name: string;
  /** Aborted some seconds after the engine cancels, and at the update's end: a write in flight gets the time to finish and be stored. */
  signal: AbortSignal;
}

/** One Pulumi package (`local`) with its resource types. */
export interface ResourceProvider {
  readonly package: string;
  readonly version: string;
  readonly types: readonly ResourceType[];
}
