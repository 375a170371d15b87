import type { z } from 'zod';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { Json, JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import { retry } from '../../retry';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient } from '../client/arm-client';
import type { CallOptions } from '../../client-options';
import { classForUsers, refusesToken } from '../client/arm-error';
import { hasFailed, isChanging } from '../client/provisioning';
import { sameID } from '../client/resource-id';
import { readingAgain } from './reading-again';

/** A resource of Azure's, as far as it is the same for all. */
export interface Whole {
  etag: string;
  location?: string;
  sku?: JsonObject;
  tags?: Record<string, string>;
  properties: JsonObject;
}

/** Our part of a resource that is not ours alone. */
export interface PartDescription<Inputs> {
  readonly token: string;
  readonly schema: z.ZodType<Inputs>;
  /** The id of the resource that it is a part of. Pure. */
  idOf(inputs: Inputs): string;
  /** Names the input that `idOf` is of. */
  readonly idProperty: string;
  /** It is there for those alone who name the whole: that it is not there, or may not be written, is said to them. Absent = everybody's. */
  readonly ofUsers?: { /** What they can do. */ remedy: string };
  /** The resource to make where there is none; undefined = somebody else has to. Pure. */
  empty?(inputs: Inputs): JsonObject;
  /**
   * Properties of the whole with our part as it is wanted, and everything else as it is; undefined = they have it already. Pure.
   * @param wanted absent = our part is taken out
   * @param owned what was written before, which may be there still; @param kept `observed` of that
   */
  merged(properties: JsonObject, wanted: Inputs | undefined, owned: readonly Inputs[], kept?: JsonObject): JsonObject | undefined;
  /**
   * A part that goes, and what was kept with it, without what other parts of the program have in the same resource: that stays. Absent = they can't have the
   * same. Pure.
   * @param others as the program has them now
   */
  without?(part: Inputs, kept: JsonObject, others: readonly Inputs[]): { part: Inputs; kept: JsonObject };
  /**
   * What is kept beside the inputs; undefined = nothing. Pure.
   * @param had properties of the whole before it was written
   */
  observed?(wanted: Inputs, had: JsonObject, before: Before<Inputs>): JsonObject | undefined;
  /**
   * What is still to be done of what was kept with a part, where another resource of the program does that. Absent = all of it. Pure.
   * @param stored the state's inputs of such another one, by type and name
   */
  outstanding?(kept: JsonObject, part: Inputs, stored: NonNullable<UpdateContext['stored']>): JsonObject;
  /** True where it asks for nothing: the whole is not even read. Absent = false. Pure. */
  isIdle?(wanted: Inputs | undefined): boolean;
}

interface Before<Inputs> {
  /** What was kept before. */
  olds: JsonObject;
  /** What was written before. */
  owned: readonly Inputs[];
  /** Wall clock, milliseconds. */
  now: number;
}

interface Part<Inputs> {
  wanted: Inputs | undefined;
  owned: readonly Inputs[];
  kept: JsonObject;
}

/**
 * Serves such a part to the engine: it reads, merges and writes under the etag, and takes out only what is its own. What it has written is in the state.
 */
export class PartOfResource<Inputs> implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly computed: readonly string[];
  /** All such parts that the program of this update has, in whatever resource. */
  private readonly asked: Inputs[] = [];

  constructor(
    private readonly description: PartDescription<Inputs>,
    private readonly arm: ArmClient,
    private readonly updateContext: UpdateContext,
  ) {
    this.token = description.token;
    this.replaceOn = [description.idProperty];
    this.computed = description.observed === undefined ? [] : ['observed'];
  }

  /** Another spelling of an id names no other resource: replaced, the part would be taken out again of where it was just made. */
  keep(olds: JsonObject, news: JsonObject): Record<string, Json | undefined> {
    const { idProperty } = this.description;
    const [had, wanted] = [olds[idProperty], news[idProperty]];
    const isSame = typeof had === 'string' && typeof wanted === 'string' && sameID(had, wanted);
    return isSame ? { [idProperty]: had } : {};
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(this.description.schema, inputs);
  }

  noted(inputs: JsonObject): void {
    const { data } = this.description.schema.safeParse(inputs);
    if (data !== undefined) this.asked.push(data);
  }

  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = this.description.schema.parse(inputs);
    const id = this.description.idOf(wanted);
    return { id, outputs: await this.written(id, inputs, { wanted, owned: [], kept: {} }, context) };
  }

  read(_id: string): Promise<{ inputs: JsonObject; outputs: JsonObject }> {
    return Promise.resolve({ inputs: {}, outputs: {} });
  }

  async update(id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    const wanted = this.description.schema.parse(news);
    return { outputs: await this.written(id, news, { wanted, ...this.known(olds) }, context) };
  }

  /** What another part of the program has there by now stays: a newer program may give a part another name. */
  async delete(id: string, context: ResourceContext, outputs: JsonObject): Promise<void> {
    const { owned, kept } = this.known(outputs);
    const others = this.asked.filter((part) => sameID(this.description.idOf(part), id));
    const [part] = owned;
    const left = part === undefined || others.length === 0 ? undefined : this.description.without?.(part, kept, others);
    const going = left === undefined ? { owned, kept } : { owned: [left.part], kept: left.kept };
    await this.write(id, { wanted: undefined, ...going }, context);
  }

  /** What a state has may be of an older program; what can't be read of it is nothing that could be taken out. */
  private known(outputs: JsonObject): Pick<Part<Inputs>, 'owned' | 'kept'> {
    const { observed, ...inputs } = outputs;
    const kept = (observed ?? {}) as JsonObject;
    const { data } = this.description.schema.safeParse(inputs);
    if (data === undefined) return { owned: [], kept };
    const stored = (type: string, name: string): JsonObject | undefined => this.updateContext.stored?.(type, name);
    return { owned: [data], kept: this.description.outstanding?.(kept, data, stored) ?? kept };
  }

  /** @returns the outputs */
  private async written(
    id: string,
    inputs: JsonObject,
    part: Part<Inputs> & { wanted: Inputs },
    context: ResourceContext,
  ): Promise<JsonObject> {
    const had = await this.write(id, part, context);
    const { wanted, owned, kept: olds } = part;
    const observed = this.description.observed?.(wanted, had, { olds, owned, now: this.arm.retryPolicy.clock.now() });
    return observed === undefined ? inputs : { ...inputs, observed };
  }

  /** @returns the properties of the whole as they were before the first try */
  private async write(id: string, part: Part<Inputs>, context: ResourceContext): Promise<JsonObject> {
    if (this.description.isIdle?.(part.wanted) === true) return {};
    const { signal } = context;
    const options: CallOptions = { signal, assertValid: () => this.updateContext.assertValid() };
    let before: JsonObject | undefined;
    const attempt = (): Promise<void> => this.attempt(id, part, options, (properties) => (before ??= properties));
    await retry(this.arm.retryPolicy, attempt, readingAgain(id, this.updateContext), signal).catch((thrown: unknown) => {
      throw this.described(thrown, context);
    });
    return before ?? {};
  }

  private async attempt(
    id: string,
    { wanted, owned, kept }: Part<Inputs>,
    options: CallOptions,
    note: (properties: JsonObject) => void,
  ): Promise<void> {
    const whole = await this.arm.get<Whole>(id, options);
    note(whole?.properties ?? {});
    if (whole === undefined) {
      if (wanted === undefined) return;
      await this.arm.put(id, this.made(id, wanted), { ...options, only: 'absent' });
      return;
    }
    const merged = this.description.merged(whole.properties, wanted, owned, kept);
    if (merged === undefined && isChanging(whole)) {
      // What it comes to is looked at when it is there.
      await this.arm.settled(whole, id, options);
      return this.attempt(id, { wanted, owned, kept }, options, note);
    }
    if (merged === undefined && !hasFailed(whole)) return;
    const properties = merged ?? whole.properties;
    const { etag, location, tags } = whole;
    const body = { ...(location !== undefined && { location }), ...(tags !== undefined && { tags }), properties };
    await this.arm.put(id, body, { ...options, only: { etag } });
  }

  private made(id: string, wanted: Inputs): JsonObject {
    const empty = this.description.empty?.(wanted);
    if (empty === undefined) {
      if (this.description.ofUsers !== undefined) throw new OperatorError('NotFound', `${id} is not there`);
      const remedy = 'Make it, or correct its name in the settings of the CloudProvider.';
      throw new OperatorError('NotFound', `${id} is not there. ${remedy}`, { remedy });
    }
    const properties = (empty.properties ?? {}) as JsonObject;
    return { ...empty, properties: this.description.merged(properties, wanted, []) ?? properties };
  }

  private described(thrown: unknown, { name, urn }: ResourceContext): OperatorError {
    const error = toOperatorError(thrown);
    const { retryAfterMs, field } = error;
    const theirs = this.remedyOfUsers(error);
    const { code, reason } =
      theirs === undefined ? classForUsers(error, { isShared: true }) : { code: 'Invalid' as const, reason: undefined };
    const remedy = theirs ?? error.remedy;
    return new OperatorError(code, `${this.token} ${name}: ${error.message}${theirs === undefined ? '' : `. ${theirs}.`}`, {
      cause: error,
      resource: urn,
      ...(reason !== undefined && { reason }),
      ...(field !== undefined && { field }),
      ...(remedy !== undefined && { remedy }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  /** What those can do about it who name the whole; undefined = it is not about that. */
  private remedyOfUsers(error: OperatorError): string | undefined {
    const isTheirs = error.code === 'NotFound' || (error.code === 'Credentials' && !refusesToken(error));
    return isTheirs ? this.description.ofUsers?.remedy : undefined;
  }
}
