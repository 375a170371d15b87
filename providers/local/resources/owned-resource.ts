import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { canonicalJson, hashJson, type Json, type JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { Tags } from '../api';
import { LocalCloudError } from '../api-error';
import type { LocalCloudClient, ResourceCollection, Resources } from '../client';
import type { CallOptions } from '../../client-options';
import { retry } from '../../retry';
import {
  holderOf,
  inputsOf,
  isUnowned,
  madeBy,
  outputsOf,
  RELEASED,
  tagsOf,
  type CommonInputs,
  type Maker,
  type ResourceDescription,
} from './description';

/**
 * Serves one described resource to the engine.
 *
 * Names are deterministic, so the new one of a replacement can't stand beside the old one: every replacement deletes first.
 */
export class OwnedResource<C extends ResourceCollection, Inputs extends CommonInputs> implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly description: ResourceDescription<C, Inputs>,
    private readonly client: LocalCloudClient,
    private readonly updateContext: UpdateContext,
  ) {
    this.token = description.token;
    this.replaceOn = description.replaceOn;
  }

  /** What was taken over stays as it is, also where the program doesn't know any more that it was; a replacement that is meant says that it takes the place. */
  keep(olds: JsonObject, news: JsonObject): Record<string, Json | undefined> {
    if (olds.adopted !== true || news.adopted === false) return {};
    return { ...Object.fromEntries(this.replaceOn.map((property) => [property, olds[property]])), adopted: true };
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
    const find = (): Promise<Resources[C]> => this.createOrFind(wanted, context);
    const found = await retry(this.client.retryPolicy, find, (error) => error instanceof NotListedYet, context.signal);
    const created = await this.bringTo(found, wanted, context);
    return { id: created.id, outputs: outputsOf(this.description, created) };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const resource = await this.client.get(this.description.collection, id, this.callOptions(context));
    if (resource === undefined) return undefined;
    return { inputs: inputsOf(this.description, resource), outputs: outputsOf(this.description, resource) };
  }

  /** @throws OperatorError Conflict naming the holder, where somebody else has taken it over meanwhile */
  async update(id: string, _olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    const wanted = this.parse(news);
    const updated = wanted.adopted === true ? await this.takeOver(id, wanted, context) : await this.patch(id, wanted, context);
    return { outputs: outputsOf(this.description, updated) };
  }

  /**
   * Deletes by id, after a look at the tags: an object that is no longer marked as ours is left alone.
   * @throws OperatorError Conflict naming the holder
   */
  async delete(id: string, context: ResourceContext): Promise<void> {
    const resource = await this.client.get(this.description.collection, id, this.callOptions(context));
    if (resource === undefined) return;
    if (!madeBy(this.maker(context), resource)) {
      throw this.fail('Conflict', context, `${id} is not deleted, because its tags say that it belongs to ${holderOf(resource)}`, {
        remedy: 'Restore its tags clusterID, stack and resource, or delete it by hand.',
      });
    }
    await this.client.remove(this.description.collection, id, this.callOptions(context));
  }

  /** The same owner, resource and name always send the same client token. */
  private createOnce(wanted: Inputs, context: ResourceContext): Promise<Resources[C]> {
    const { clusterID, stack, resource } = this.maker(context);
    const clientToken = `${wanted.ownerUID}/${resource}/${hashJson([clusterID, stack, wanted.name])}`;
    const spec = { name: wanted.name, tags: tagsOf(this.maker(context), wanted), ...this.description.fields(wanted) };
    return this.inSpecTerms(this.client.create(this.description.collection, spec, clientToken, this.callOptions(context)));
  }

  private async createOrFind(wanted: Inputs, context: ResourceContext): Promise<Resources[C]> {
    try {
      // The answer to a repeated client token may have been given to somebody else since.
      return this.ours(await this.createOnce(wanted, context), context);
    } catch (error) {
      if (existsAlready(error)) return this.findOurs(wanted, context);
      throw error;
    }
  }

  /**
   * The resource that holds our name.
   * @throws NotListedYet where the listing lags behind the answer that told us of it, or what holds the name is on its way out
   */
  private async findOurs(wanted: Inputs, context: ResourceContext): Promise<Resources[C]> {
    const listed = await this.client.list(this.description.collection, { name: wanted.name }, this.callOptions(context));
    const found = listed.find(({ state }) => state !== 'deleting');
    if (found === undefined)
      throw new NotListedYet(`${this.token} ${context.name}: the name ${wanted.name} is taken, but nothing of that name is listed`);
    return this.ours(found, context);
  }

  /** @throws OperatorError Conflict naming the holder when it is not of this stack and place */
  private ours(found: Resources[C], context: ResourceContext): Resources[C] {
    if (madeBy(this.maker(context), found)) return found;
    throw this.fail('Conflict', context, `the name ${found.name} belongs to ${holderOf(found)}`, {
      remedy: `Take it over (docs/operate/adopt.md), or delete ${found.id} in the cloud if nobody needs it.`,
    });
  }

  /** What was just created, or found again, may be of an older try with other inputs. */
  private async bringTo(found: Resources[C], wanted: Inputs, context: ResourceContext): Promise<Resources[C]> {
    const has = inputsOf(this.description, found);
    // A write that changes nothing waits for what the cloud has not carried out.
    if (canonicalJson(has) === canonicalJson(wanted) && found.state !== 'error') return found;
    const wants = wanted as Record<string, unknown>;
    if (this.replaceOn.every((property) => canonicalJson(has[property]) === canonicalJson(wants[property]))) {
      return this.patch(found.id, wanted, context);
    }
    await this.delete(found.id, context);
    return this.createOnce(wanted, context);
  }

  /** Marks of others stay; two objects may have been shown the same as nobody's. */
  private async takeOver(id: string, wanted: Inputs, context: ResourceContext): Promise<Resources[C]> {
    const resource = await this.client.get(this.description.collection, id, this.callOptions(context));
    if (resource === undefined) return this.patch(id, wanted, context);
    const { [RELEASED]: released, ...kept } = resource.tags;
    if (released === undefined && !isUnowned(resource)) this.ours(resource, context);
    return this.patch(id, wanted, context, kept);
  }

  private patch(id: string, wanted: Inputs, context: ResourceContext, kept: Tags = {}): Promise<Resources[C]> {
    const changeable = Object.entries(this.description.fields(wanted)).filter(([field]) => !this.replaceOn.includes(field));
    const fields = { ...Object.fromEntries(changeable), tags: { ...kept, ...tagsOf(this.maker(context), wanted) } };
    return this.inSpecTerms(this.client.update(this.description.collection, id, fields, this.callOptions(context)));
  }

  /** A field of the API says nothing to who wrote the spec. */
  private async inSpecTerms<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      const field = error instanceof LocalCloudError ? this.description.specFields?.[error.field ?? ''] : undefined;
      throw field === undefined ? error : (error as LocalCloudError).at(field);
    }
  }

  private parse(inputs: JsonObject): Inputs {
    const { data, error } = this.description.schema.safeParse(inputs);
    if (error === undefined) return data;
    const first = error.issues[0];
    throw new OperatorError('Invalid', `${this.token}: ${first?.path.join('.') ?? ''}: ${first?.message ?? 'invalid inputs'}`);
  }

  private maker(context: ResourceContext): Maker {
    return { clusterID: this.updateContext.clusterID, stack: this.updateContext.stack, resource: context.name };
  }

  private callOptions(context: ResourceContext): CallOptions {
    return { signal: context.signal, assertValid: () => this.updateContext.assertValid() };
  }

  private fail(code: ErrorCode, context: ResourceContext, what: string, detail: { remedy?: string } = {}): OperatorError {
    const message = `${this.token} ${context.name}: ${what}${detail.remedy === undefined ? '' : `. ${detail.remedy}`}`;
    return new OperatorError(code, message, { resource: context.urn, ...detail });
  }
}

/** Ends by itself, soon. */
class NotListedYet extends OperatorError {
  constructor(message: string) {
    super('Transient', message);
  }
}

/** A name that is taken, or a client token that made something with other inputs; NameTaken for another field is somebody else's thing. */
function existsAlready(error: unknown): boolean {
  if (!(error instanceof LocalCloudError)) return false;
  if (error.apiCode === 'TokenMismatch') return true;
  return error.apiCode === 'NameTaken' && (error.field === undefined || error.field === 'name');
}
