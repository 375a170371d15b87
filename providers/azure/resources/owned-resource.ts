import type { z } from 'zod';
import { OperatorError, toOperatorError, type ErrorCode, type ErrorDetail } from '../../../operator/base/errors';
import { canonicalJson, type Json, type JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import { retry } from '../../retry';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient } from '../client/arm-client';
import type { CallOptions } from '../../client-options';
import { classForUsers, isInUse, isWorthReadingAgain } from '../client/arm-error';
import { hasFailed, isChanging } from '../client/provisioning';
import { isSameInOneCase, sameID } from '../client/resource-id';
import {
  bookkeeping,
  foreignTags,
  holderOf,
  isUnmarked,
  leftToUsers,
  madeBy,
  mergedTags,
  TAG,
  type Tags,
  usersOf,
  withKeys,
  withUsers,
} from '../tags';
import type { Whole } from './part-of-resource';
import { readingAgain } from './reading-again';

/** What still uses it is going too; the next try of the update goes on from here. */
const IN_USE_RETRY_MS = 15_000;

/** Properties that every resource of a program has beside its own. */
export interface CommonInputs {
  /** With our marks in them (tags.ts). */
  tags: Record<string, string>;
}

/** One official resource type: how its inputs and Azure's API map onto each other. */
export interface OwnedDescription<Inputs extends CommonInputs> {
  /** The official one, for example `azure-native:network:PublicIPAddress`. */
  readonly token: string;
  /** Properties that Azure can't change in place. */
  readonly replaceOn: readonly string[];
  /** Those of them that follow the program also in what was taken over. Absent = none. */
  readonly follows?: readonly string[];
  /** ResourceType.computed. */
  readonly computed?: readonly string[];
  /** Of those, what can be told of a write before it. Absent = nothing. @param olds outputs of before; absent = it would be made. Pure. */
  foreseen?(inputs: Inputs, olds: JsonObject | undefined): JsonObject;
  /** The properties that are served; others are refused. */
  readonly schema: z.ZodType<Inputs>;
  /** Those of which its id is made. */
  readonly idProperties: readonly string[];
  /** Pure. */
  idOf(inputs: Inputs): string;
  /** The body of a PUT, whatever tags it has. Pure. */
  body(inputs: Inputs): JsonObject;
  /**
   * The same over what is there: parts of others, and what others have set of it, stay. Absent = it is ours as a whole. Pure.
   * @param olds properties in Azure's terms that were written before: parts that are not wanted any more go
   */
  merged?(found: Found, inputs: Inputs, olds: JsonObject): JsonObject;
  /** What stays of it without ours; undefined = nothing, so that it goes. Absent = it is ours as a whole. @param joined it was there before. Pure. */
  remains?(found: Found, olds: JsonObject, joined: boolean): JsonObject | undefined;
  /** Nothing of it is ours: an earlier delete has taken that out, and left the rest. Pure. */
  isRid?(found: Found, olds: JsonObject): boolean;
  /** It may be somebody else's that bears no mark: ours are then only its parts, and it is never deleted. Absent = what isn't ours is let alone. */
  readonly joins?: true;
  /**
   * The inputs that would give what is there, and what Azure adds. Pure.
   * @param of of one that has parts of others: properties in Azure's terms whose parts are ours; absent = the names say it
   */
  describe(found: Found, of?: readonly JsonObject[]): { inputs: Inputs; observed: JsonObject };
  /**
   * What is said of it at its making where the program doesn't, and what nobody can change later: zones. Absent = nothing.
   * @throws OperatorError when it can't be found out
   */
  saidAtMaking?(inputs: Inputs, options: CallOptions): Promise<Partial<Inputs>>;
  /** Properties of which that holds: where a program does not say them, they are what is there. */
  readonly unsaid?: readonly string[];
  /** Ids of what others have below it, and what goes before it. Absent = nothing. Pure. */
  below?(found: Found): string[];
  /** Lists among its inputs in which others have parts too (DiscoveredResource.sharedLists). */
  readonly sharedLists?: Record<string, string>;
}

/** As Azure gives it. */
export type Found = Whole & { id: string };

/**
 * Serves one official resource type to the engine: made by its deterministic name in one call, changed and deleted under the etag. Tags that others
 * have added stay. A name is there once, so every replacement deletes first.
 */
export class OwnedResource<Inputs extends CommonInputs> implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly computed: readonly string[];
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly description: OwnedDescription<Inputs>,
    private readonly arm: ArmClient,
    private readonly updateContext: UpdateContext,
  ) {
    this.token = description.token;
    this.replaceOn = description.replaceOn;
    this.computed = description.computed ?? [];
  }

  /**
   * What was taken over stays so, and as it is where it can't be changed; so do ids where only their letter case is another one, and lists of parts with
   * names where only their order is.
   */
  keep(olds: JsonObject, news: JsonObject): Record<string, Json | undefined> {
    const spelled = Object.fromEntries(Object.entries(olds).filter(([property, old]) => this.isSame(property, old, news[property])));
    const [had, wanted] = [olds.tags, news.tags].map((tags) => (tags ?? {}) as Tags);
    const adopted = had?.[TAG.adopted];
    const unsaid = this.unsaid(olds, news);
    if (adopted === undefined) return { ...spelled, ...unsaid };
    const { follows = [] } = this.description;
    const fixed = Object.fromEntries(this.replaceOn.filter((one) => !follows.includes(one)).map((property) => [property, olds[property]]));
    return { ...spelled, ...unsaid, ...fixed, tags: { ...wanted, [TAG.adopted]: adopted } };
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(this.description.schema, inputs);
  }

  foresee(inputs: JsonObject, _context: ResourceContext, olds?: JsonObject): Promise<JsonObject> {
    return Promise.resolve(this.description.foreseen?.(this.description.schema.parse(inputs), olds) ?? {});
  }

  /**
   * What serves is replaced only by consent (docs/decisions/0023): the operator asks for it before an update, and what it did not foresee is refused here.
   * What follows the program is part of a replacement that was asked for.
   */
  assertReplaceable(olds: JsonObject, properties: readonly string[], { urn, name }: Pick<ResourceContext, 'urn' | 'name'>): void {
    const { replaces } = this.updateContext;
    const { follows = [] } = this.description;
    const unforeseen = properties.filter((property) => !follows.includes(property));
    const owner = (olds.tags as Tags | undefined)?.[TAG.ownerUID] ?? '';
    if (replaces === undefined || replaces.includes(owner) || unforeseen.length === 0) return;
    const remedy =
      'Take back what has changed, in the settings of the CloudProvider or in Azure, or set spec.updatePolicy.replace to Allow on all CloudLoadBalancers that it serves.';
    const what = `a change of ${unforeseen.join(', ')} replaces it, and nobody whom that would cut has agreed: it stays as it is`;
    throw new OperatorError('Invalid', `${this.token} ${name}: ${what}. ${remedy}`, {
      resource: urn,
      reason: 'ReplacementRefused',
      remedy,
    });
  }

  /**
   * Creates. Whatever an earlier try of ours left (its answer was lost) is adopted and brought to `inputs`.
   * @throws OperatorError Conflict naming the holder when the name belongs to somebody else
   */
  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = this.description.schema.parse(inputs);
    const id = this.description.idOf(wanted);
    const made = await this.again(id, () => this.createOrAdopt(id, wanted, context), context);
    return { id, outputs: outputsOf(wanted, this.described(made, wanted).observed) };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const found = await this.found(id, context);
    if (found === undefined) return undefined;
    const { inputs, observed } = this.description.describe(found);
    return { inputs: inputs as unknown as JsonObject, outputs: outputsOf(inputs, observed) };
  }

  /** Sets all that differs from what is there now, whoever changed it. */
  async update(id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    const wanted = this.description.schema.parse(news);
    const made = await this.again(
      id,
      async () => {
        const found = await this.found(id, context);
        if (found === undefined) throw this.fail('NotFound', context, `${id} is not in Azure any more; the drift pass makes it again`);
        const own = mayTakeOver(found.tags, wanted.tags) ? unclaimed(found) : this.ours(found, context, 'changed');
        return this.change(own, { wanted, olds }, context);
      },
      context,
    );
    return { outputs: outputsOf(wanted, this.described(made, wanted).observed) };
  }

  /**
   * Deletes under the etag, after a look at the tags: what is no longer marked as ours is left alone.
   * @throws OperatorError Conflict naming the holder, or while something else still uses it
   */
  async delete(id: string, context: ResourceContext, outputs: JsonObject): Promise<void> {
    await this.again(id, () => this.remove(id, outputs, context), context);
  }

  /** What the program does not say of it, and is so. */
  private unsaid(has: JsonObject, wanted: JsonObject): Record<string, Json | undefined> {
    const { unsaid = [] } = this.description;
    return Object.fromEntries(unsaid.filter((property) => wanted[property] === undefined).map((property) => [property, has[property]]));
  }

  private filled(wanted: Inputs, has: Inputs): Inputs {
    const unsaid = Object.entries(this.unsaid(has as unknown as JsonObject, wanted as unknown as JsonObject));
    return { ...wanted, ...Object.fromEntries(unsaid.filter(([, value]) => value !== undefined)) };
  }

  /** What is there, by the id that was asked for: Azure may write it in another letter case. */
  private async found(id: string, context: ResourceContext): Promise<Found | undefined> {
    const found = await this.arm.get<Found>(id, this.options(context));
    return found === undefined ? undefined : { ...found, id };
  }

  /** True where a property says the same as before, in whatever letter case and order. */
  private isSame(property: string, old: Json | undefined, wanted: Json | undefined): boolean {
    if (old === undefined || wanted === undefined) return false;
    const { idProperties, sharedLists } = this.description;
    if (idProperties.includes(property) && typeof old === 'string' && typeof wanted === 'string') return sameID(old, wanted);
    const key = sharedLists?.[property];
    return isSameInOneCase(inOrder(old, key), inOrder(wanted, key));
  }

  /** What somebody else may have made is looked for first: an If-None-Match that is not kept would write over all that is theirs. */
  private async createOrAdopt(id: string, wanted: Inputs, context: ResourceContext): Promise<Found> {
    const there = this.description.joins === true ? await this.found(id, context) : undefined;
    if (there !== undefined) return this.adoptFound(there, wanted, context);
    try {
      return await this.make(id, wanted, context);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (!isWorthReadingAgain(error)) throw error;
      const found = await this.found(id, context);
      if (found === undefined) throw error;
      return this.adoptFound(found, wanted, context);
    }
  }

  private adoptFound(found: Found, wanted: Inputs, context: ResourceContext): Promise<Found> {
    return this.adopt(this.joinable(found) ? joined(found) : this.ours(found, context, 'taken over'), wanted, context);
  }

  /** What an earlier try left may be of other inputs; what can't be changed of it is made anew. */
  private async adopt(found: Found, wanted: Inputs, context: ResourceContext): Promise<Found> {
    const { inputs } = this.description.describe(found);
    const has = inputs as unknown as JsonObject;
    const wants = this.filled(wanted, inputs) as unknown as JsonObject;
    const isKept = (property: string): boolean =>
      has[property] === wants[property] || this.isSame(property, has[property], wants[property]);
    if (this.replaceOn.every(isKept)) {
      return this.change(found, { wanted, olds: {} }, context);
    }
    await this.remove(found.id, has, context);
    return this.make(found.id, wanted, context);
  }

  /** What is as it should be is not written, unless the operation that has made it so has failed; one that goes on is waited for. */
  private async change(found: Found, asked: { wanted: Inputs; olds: JsonObject }, context: ResourceContext): Promise<Found> {
    const written = this.written(asked.olds);
    const has = this.described(found, asked.wanted, written).inputs;
    const wanted = this.filled(asked.wanted, has);
    const isRight = isSameResource(has, wanted);
    if (isRight && isChanging(found)) return this.change(await this.settled(found, context), asked, context);
    if (isRight && !hasFailed(found)) return found;
    const tags = withUsers(
      mergedTags({ ...bookkeeping(found.tags), ...withKeys(wanted.tags) }, foreignTags(found.tags)),
      usersOf(found.tags),
    );
    const options = { ...this.options(context), only: { etag: found.etag } };
    // What carries traffic is not written for the sake of its tags.
    const isMarked = isSameResource({ ...has, tags }, { ...wanted, tags }) && !hasFailed(found);
    if (isMarked) return this.arm.patch<Found>(found.id, { tags }, options);
    const body = this.description.merged?.(found, wanted, written) ?? this.description.body(wanted);
    // Azure writes more into a SKU than anybody asked for, and takes it for a change where it is left out.
    const sku = found.sku === undefined ? {} : { sku: found.sku };
    return this.arm.put<Found>(found.id, { ...body, ...sku, tags }, options);
  }

  /** @throws OperatorError Transient when it was being deleted, so that all is looked at again */
  private async settled(found: Found, context: ResourceContext): Promise<Found> {
    const now = await this.arm.settled<Found>(found, found.id, this.options(context));
    if (now === undefined) throw new OperatorError('Transient', `${found.id} was being deleted, and is gone now`);
    return { ...now, id: found.id, tags: marksOf(found, now) };
  }

  /** Of one that has parts of others, the parts that are wanted, and those that were. */
  private described(found: Found, wanted: Inputs, written: JsonObject = {}): { inputs: Inputs; observed: JsonObject } {
    return this.description.describe(found, [(this.description.body(wanted).properties ?? {}) as JsonObject, written]);
  }

  /** What a state has in Azure's terms; what can't be read of an older program's is nothing that could be told apart. */
  private written(outputs: JsonObject): JsonObject {
    const known = Object.fromEntries(Object.entries(outputs).filter(([key]) => !key.startsWith('__')));
    return (this.description.body(known as unknown as Inputs).properties ?? {}) as JsonObject;
  }

  private async make(id: string, wanted: Inputs, context: ResourceContext): Promise<Found> {
    const options = this.options(context);
    const whole = { ...wanted, ...(await this.description.saidAtMaking?.(wanted, options)) };
    return this.arm.put<Found>(id, { ...this.description.body(whole), tags: withKeys(wanted.tags) }, { ...options, only: 'absent' });
  }

  private async remove(id: string, outputs: JsonObject, context: ResourceContext): Promise<void> {
    const found = await this.found(id, context);
    const olds = this.written(outputs);
    if (found === undefined || (isUnmarked(found.tags ?? {}) && this.description.isRid?.(found, olds) === true)) return;
    const { tags } = this.ours(found, context, 'deleted');
    const etag = await this.cleared(found, context);
    if (usersOf(tags).length > 0) {
      await this.arm.patch(id, { tags: leftToUsers(tags ?? {}) }, { ...this.options(context), only: { etag } });
      return;
    }
    const others = this.description.remains?.(found, olds, tags?.[TAG.joined] !== undefined);
    if (others !== undefined) {
      await this.arm.put(id, { ...others, tags: foreignTags(found.tags) }, { ...this.options(context), only: { etag } });
      return;
    }
    await this.arm.remove(id, { ...this.options(context), only: { etag } }).catch((thrown: unknown) => {
      const cause = toOperatorError(thrown);
      if (!isInUse(cause)) throw cause;
      const remedy = 'Find what uses it in the portal if it lasts.';
      const what = `it can't be deleted yet, because something still uses it (${cause.message})`;
      throw this.fail('Conflict', context, what, { cause, retryAfterMs: IN_USE_RETRY_MS, remedy });
    });
  }

  /** Without what others have below it. @returns the etag that it then has */
  private async cleared(found: Found, context: ResourceContext): Promise<string> {
    const below = this.description.below?.(found) ?? [];
    for (const id of below) await this.arm.remove(id, this.options(context));
    return below.length === 0 ? found.etag : ((await this.found(found.id, context))?.etag ?? found.etag);
  }

  private again<T>(id: string, attempt: () => Promise<T>, context: ResourceContext): Promise<T> {
    return retry(this.arm.retryPolicy, attempt, readingAgain(id, this.updateContext), context.signal).catch((thrown: unknown) => {
      const error = toOperatorError(thrown);
      if (error.resource === context.urn) throw error;
      const { code, reason } = classForUsers(error, { isShared: this.description.joins === true });
      throw this.fail(code, context, error.message, { ...kept(error), ...(reason !== undefined && { reason }), cause: error });
    });
  }

  private joinable({ tags = {} }: Found): boolean {
    return this.description.joins === true && isUnmarked(tags);
  }

  /** @throws OperatorError Conflict naming the holder when it is not of this stack and place */
  private ours(found: Found, context: ResourceContext, done: string): Found {
    const { clusterID, stack } = this.updateContext;
    if (madeBy({ clusterID, stack, resource: context.name }, found.tags ?? {})) return found;
    const what = `${found.id} is not ${done}, because by its tags it belongs to ${holderOf(found.tags ?? {})}`;
    const remedy = `Restore its tags ${TAG.clusterID}, ${TAG.stack} and ${TAG.resource} if it is ours, or delete it by hand.`;
    throw this.fail('Conflict', context, what, { remedy });
  }

  private options({ signal }: ResourceContext): CallOptions {
    return { signal, assertValid: () => this.updateContext.assertValid() };
  }

  private fail(code: ErrorCode, context: ResourceContext, what: string, detail: ErrorDetail = {}): OperatorError {
    const remedy = detail.remedy === undefined || what.includes(detail.remedy) ? '' : `. ${detail.remedy}`;
    return new OperatorError(code, `${this.token} ${context.name}: ${what}${remedy}`, { resource: context.urn, ...detail });
  }
}

/** A list whose items have a key, by that key. */
function inOrder(value: Json, key: string | undefined): Json {
  if (key === undefined || !Array.isArray(value)) return value;
  const nameOf = (item: Json): string => canonicalJson((item as JsonObject | null)?.[key]);
  return [...value].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function isSameResource(has: CommonInputs, wanted: CommonInputs): boolean {
  return isSameInOneCase(has as unknown as Json, wanted as unknown as Json);
}

/** Tags as they are now, with what was found out of those that stood there (joined, unclaimed). */
function marksOf({ tags: before = {} }: Found, { tags: now = {} }: Found): Record<string, string> {
  const noted = [TAG.joined, TAG.keys].flatMap((key) => (before[key] === undefined ? [] : [[key, before[key]] as const]));
  return { ...now, ...Object.fromEntries(noted) };
}

/** As if we had marked it: none of its tags are ours. */
function joined(found: Found): Found {
  return unclaimed({ ...found, tags: { ...found.tags, [TAG.joined]: 'true' } });
}

function unclaimed(found: Found): Found {
  return { ...found, tags: { ...found.tags, [TAG.keys]: '' } };
}

/** True for what a stack takes over: whether it may was found out before it came into its state (Cloud.adoptable). */
function mayTakeOver(has: Tags = {}, wanted: Tags): boolean {
  return wanted[TAG.adopted] !== undefined && (isUnmarked(has) || has[TAG.released] !== undefined);
}

function kept({ remedy, retryAfterMs }: OperatorError): ErrorDetail {
  return { ...(remedy !== undefined && { remedy }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** All outputs, as create, update, refresh and discovery record them. Pure. */
export function outputsOf(inputs: object, observed: JsonObject): JsonObject {
  return { ...(inputs as JsonObject), ...observed };
}
