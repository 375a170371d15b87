import { OperatorError, toOperatorError, type ErrorCode, type ErrorDetail } from '../../../operator/base/errors';
import { canonicalJson, type Json, type JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import { retry } from '../../retry';
import type { UpdateContext } from '../../worker-module';
import { AwsError, namesUnknownGroup } from '../client/aws-error';
import { hasMoved, holderOf, isTakenOver, madeBy, TAG, tagsKept, type Maker, type Tags } from '../tags';
import type { Api, CommonInputs, Described, Listed, Made, ResourceDescription } from './description';
import { withFigures } from './region-figures';

/** AWS takes minutes to let go of what was used by something that is deleted; the next try of the update goes on from here. */
const IN_USE_RETRY_MS = 15_000;

/** What a create is answered where its name or place is taken. */
const EXISTS = new Set([
  'DuplicateLoadBalancerName',
  'DuplicateAccessPointName',
  'DuplicateTargetGroupName',
  'DuplicateListener',
  'InvalidGroup.Duplicate',
  'InvalidPermission.Duplicate',
]);
const IN_USE = new Set(['ResourceInUse', 'DependencyViolation']);

/**
 * Serves one official resource type to the engine through the AWS SDK: no call that isn't needed, and no wait for readiness.
 * Names are deterministic, so the new one of a replacement can't stand beside the old one: every replacement deletes first.
 */
export class OwnedResource<Inputs extends CommonInputs, Raw> implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly replaceOnPresence: readonly string[];
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly description: ResourceDescription<Inputs, Raw>,
    private readonly clients: Omit<Api, 'options'>,
    private readonly updateContext: UpdateContext,
  ) {
    this.token = description.token;
    this.replaceOn = description.replaceOn;
    this.replaceOnPresence = description.replaceOnPresence ?? [];
  }

  /**
   * Figures that can't become less stay. What was taken over keeps what can't be changed in place, and the tags of others; also where the program doesn't know any more that it was: after an
   * update that did not end, or with lost state, it would be replaced otherwise. A replacement that is meant has another name, or says that it takes the place.
   */
  keep(olds: JsonObject, news: JsonObject): Record<string, Json | undefined> {
    const grown = this.grown(olds, news);
    const has = (olds.tags ?? {}) as Tags;
    const wanted = (news.tags ?? {}) as Tags;
    if (!isTakenOver(has) || wanted[TAG.adopted] === 'false') return grown;
    const kept = Object.fromEntries(this.replaceOn.map((property) => [property, olds[property]]));
    return { ...grown, ...kept, tags: tagsKept(has, wanted) };
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(this.description.schema, inputs);
  }

  /**
   * Creates. Whatever an earlier try of ours left (its answer was lost) is adopted and brought to `inputs`.
   * @throws OperatorError Conflict naming the holder when the name belongs to somebody else
   */
  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = this.parse(inputs);
    const attempt = (): Promise<Adopted> => this.createOrAdopt(wanted, context);
    const made = retry(this.clients.elb.retryPolicy, attempt, isNotThereYet, context.signal).catch(async (thrown: unknown) => {
      throw await withFigures(toOperatorError(thrown), this.api(context));
    });
    const { id, observed } = await this.orMissingGroup(this.orHeld(made, wanted, context), wanted, context);
    return { id, outputs: outputsOf(wanted, observed) };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const api = this.api(context);
    const listed = await this.description.byID(id, api);
    if (listed === undefined) return undefined;
    const { inputs, observed } = await this.description.describe(listed, api);
    return { inputs, outputs: outputsOf(inputs, observed) };
  }

  /** Sets all that differs from what is there now, whoever changed it. */
  async update(id: string, _olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    const wanted = this.parse(news);
    const listed = await this.description.byID(id, this.api(context));
    if (listed === undefined) {
      throw this.fail('NotFound', context, `${id} is not in AWS any more; the drift pass makes it again`);
    }
    const owned = mayTakeOver(listed.tags, wanted.tags) ? listed : this.ours(listed, context, 'changed');
    const { inputs: has, observed } = await this.described(owned, context);
    await this.orMissingGroup(this.change(id, has, wanted, context), wanted, context);
    return { outputs: outputsOf(wanted, observed) };
  }

  /**
   * Deletes by id, after a look at the tags: what is no longer marked as ours is left alone.
   * @throws OperatorError Conflict naming the holder, or while something else still uses it
   */
  async delete(id: string, context: ResourceContext): Promise<void> {
    const api = this.api(context);
    const tags = await (this.description.tagsOf?.(id, api) ?? this.description.byID(id, api).then((listed) => listed?.tags));
    if (tags === undefined || this.mayMove(tags, context)) return;
    this.ours({ id, tags }, context, 'deleted');
    const remove = (): Promise<void> => this.description.remove(id, api);
    const isAwaited = (error: OperatorError): boolean => this.description.inUseForMinutes !== true && isInUse(error);
    try {
      await retry(this.clients.elb.retryPolicy, remove, isAwaited, context.signal);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code === 'NotFound') return;
      throw isInUse(error) || isProtected(error) ? await this.stillInUse(id, context, error) : error;
    }
  }

  private async createOrAdopt(wanted: Inputs, context: ResourceContext): Promise<Adopted> {
    const api = this.api(context);
    try {
      const made = await this.description.create(wanted, api);
      if (made.existed !== true) return made;
      const listed = await this.description.byID(made.id, api);
      if (listed === undefined) throw new NotFoundYet(`${this.token} ${context.name}: ${made.id} was there a moment ago`);
      return await this.adopt(listed, wanted, context);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error instanceof NotFoundYet || !(error.code === 'Transient' || alreadyExists(error))) throw error;
      const listed = await this.description.find(wanted, api);
      if (listed === undefined) throw new NotFoundYet(error.message, error);
      return this.adopt(listed, wanted, context);
    }
  }

  /** What an earlier try left may be of other inputs; what can't be changed of it is made anew. */
  private async adopt(listed: Listed<Raw>, wanted: Inputs, context: ResourceContext): Promise<Adopted> {
    const owned = this.mayMove(listed.tags, context) ? listed : this.ours(listed, context, 'taken over');
    const { inputs: has, observed } = await this.described(owned, context);
    const wants = wanted as unknown as JsonObject;
    const isSame = this.replaceOn.every((property) => canonicalJson(has[property]) === canonicalJson(wants[property]));
    if (isSame && this.replaceOnPresence.every((property) => (has[property] === undefined) === (wants[property] === undefined))) {
      await this.change(listed.id, has, wanted, context);
      return { id: listed.id, observed };
    }
    await this.delete(listed.id, context);
    return this.description.create(wanted, this.api(context));
  }

  private change(id: string, has: JsonObject, wanted: Inputs, context: ResourceContext): Promise<void> {
    const reachable = { ...wanted, ...this.grown(has, wanted as unknown as JsonObject) };
    return this.description.change(id, has as unknown as Inputs, reachable, this.api(context));
  }

  /** The figures of `olds` that are greater, and can't become less. */
  private grown(olds: JsonObject, news: JsonObject): JsonObject {
    const greater = (this.description.growOnly ?? []).filter((property) => Number(olds[property] ?? 0) > Number(news[property] ?? 0));
    return Object.fromEntries(greater.map((property) => [property, olds[property] ?? null]));
  }

  private mayMove(tags: Tags, context: ResourceContext): boolean {
    return this.description.movable === true && hasMoved(this.maker(context), tags);
  }

  private described(listed: Listed<Raw>, context: ResourceContext): Promise<Described> {
    return this.description.describe(listed, this.api(context));
  }

  /** @throws OperatorError Conflict naming the holder when it is not of this stack and place */
  private ours<T extends Pick<Listed<Raw>, 'id' | 'tags'>>(listed: T, context: ResourceContext, done: string): T {
    if (madeBy(this.maker(context), listed.tags)) return listed;
    throw this.fail('Conflict', context, `${listed.id} is not ${done}, because by its tags it belongs to ${holderOf(listed.tags)}`, {
      remedy: `Restore its tags ${TAG.clusterID}, ${TAG.stack} and ${TAG.resource} if it is ours, or delete it by hand.`,
    });
  }

  /**
   * A call that names a security group which somebody has deleted says so in other words for each API, and some do not say which.
   * @throws OperatorError NotFound naming it: the next pass looks for what else is gone
   */
  private async orMissingGroup<T>(work: Promise<T>, wanted: Inputs, context: ResourceContext): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      const cause = toOperatorError(thrown);
      if (!namesUnknownGroup(cause)) throw cause;
      const named = groupsIn(wanted);
      const found = await this.clients.ec2.securityGroups([{ Name: 'group-id', Values: named }], { signal: context.signal });
      const missing = named.filter((id) => !found.some(({ GroupId }) => GroupId === id));
      if (missing.length === 0) throw cause;
      const remedy = 'One of ours is made again by itself; in place of one that spec.aws.securityGroups names, name another.';
      throw this.fail('NotFound', context, `security group ${missing.join(', ')} is not in AWS any more (${cause.message})`, {
        cause,
        remedy,
      });
    }
  }

  /**
   * A load balancer that is deleted keeps its addresses for a minute or two, and no worker waits for that.
   * @throws OperatorError Conflict naming them, to be tried again soon
   */
  private async orHeld<T>(work: Promise<T>, wanted: Inputs, context: ResourceContext): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      const cause = toOperatorError(thrown);
      const held = isInUse(cause) ? this.description.onlyOnce?.(wanted) : undefined;
      if (held === undefined) throw cause;
      const remedy =
        'AWS takes a minute or two to let go of the addresses of a load balancer that is deleted; if it lasts, see in the console what has them.';
      const detail = { cause, retryAfterMs: IN_USE_RETRY_MS, remedy };
      throw this.fail('Conflict', context, `it can't be made yet, because ${held} is still in use (${cause.message})`, detail);
    }
  }

  /** Where it can't be found out what uses it, AWS's refusal is told as it is. */
  private async stillInUse(id: string, context: ResourceContext, error: OperatorError): Promise<OperatorError> {
    const found = await this.description.inUseBy?.(id, this.api(context)).catch(() => undefined);
    const {
      why = `something still uses it (${error.message})`,
      remedy = 'AWS takes some minutes to let go of it; if it lasts, find what uses it in the console.',
    } = found ?? {};
    const detail = { cause: error, retryAfterMs: IN_USE_RETRY_MS, remedy };
    return this.fail('Conflict', context, `${id} can't be deleted yet, because ${why}`, detail);
  }

  private parse(inputs: JsonObject): Inputs {
    const { data, error } = this.description.schema.safeParse(inputs);
    if (error === undefined) return data;
    const [first] = error.issues;
    throw new OperatorError('Invalid', `${this.token}: ${first?.path.join('.') ?? ''}: ${first?.message ?? 'invalid inputs'}`);
  }

  private maker({ name: resource }: ResourceContext): Maker {
    const { clusterID, stack } = this.updateContext;
    return { clusterID, stack, resource };
  }

  private api({ signal }: ResourceContext): Api {
    return { ...this.clients, options: { signal, assertValid: () => this.updateContext.assertValid() } };
  }

  private fail(code: ErrorCode, context: ResourceContext, what: string, detail: ErrorDetail = {}): OperatorError {
    const remedy = detail.remedy === undefined ? '' : `. ${detail.remedy}`;
    return new OperatorError(code, `${this.token} ${context.name}: ${what}${remedy}`, { resource: context.urn, ...detail });
  }
}

/** True for what a stack takes over: whether it may was found out before it came into its state (Cloud.adoptable). */
function mayTakeOver(has: Tags, wanted: Tags): boolean {
  return isTakenOver(wanted) && (has[TAG.released] !== undefined || has[TAG.clusterID] === undefined);
}

/** Security groups that the inputs of a load balancer or a rule name. */
function groupsIn(inputs: object): string[] {
  const {
    securityGroups = [],
    securityGroupId,
    referencedSecurityGroupId,
  } = inputs as {
    securityGroups?: string[];
    securityGroupId?: string;
    referencedSecurityGroupId?: string;
  };
  return [...securityGroups, securityGroupId, referencedSecurityGroupId].filter((id) => id !== undefined);
}

type Adopted = Pick<Made, 'id' | 'observed'>;

/** All outputs, as create, update, refresh and discovery record them. Pure. */
export function outputsOf(inputs: object, observed: JsonObject): JsonObject {
  return { ...(inputs as JsonObject), ...observed };
}

/** Ends by itself, soon: the listing lags behind the answer that told us of it, or a lost create has made nothing. */
class NotFoundYet extends OperatorError {
  constructor(message: string, cause?: OperatorError) {
    super('Transient', message, { ...(cause !== undefined && { cause }) });
  }
}

/** A group that was made a moment ago is as unknown as one that never was; so that is tried again too, within the budget of a call. */
function isNotThereYet(error: OperatorError): boolean {
  return error instanceof NotFoundYet || namesUnknownGroup(error);
}

function alreadyExists(error: OperatorError): boolean {
  return error instanceof AwsError && EXISTS.has(error.awsCode);
}

function isInUse(error: OperatorError): boolean {
  return error instanceof AwsError && IN_USE.has(error.awsCode);
}

/** Against its deletion: that doesn't pass by itself. */
function isProtected(error: OperatorError): boolean {
  return error instanceof AwsError && error.awsCode === 'OperationNotPermitted';
}
