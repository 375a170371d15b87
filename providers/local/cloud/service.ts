import { sleep, type Clock } from '../../../operator/base/clock';
import type { Logger } from '../../../operator/base/log';
import type { Collection, Operation } from '../api';
import { ApiFailure, invalid, notFound, toApiFailure } from './api-failure';
import type { Calls } from './calls';
import type { Cloud, WriteOptions, Written } from './cloud';
import { withDigest } from './collections/pools';
import { isResourceCollection, type AnyResource, type ResourceCollection } from './entry';
import type { Faults, Verb, Verdict } from './faults';
import { listPage } from './list';
import type { Store } from './store';

/** One call of the API, without HTTP. */
export interface Call {
  verb: Verb;
  collection: Collection;
  id?: string;
  body?: unknown;
  query: URLSearchParams;
  ifMatch?: string;
  caller: string;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
  /** Close the connection instead of answering. */
  lost?: boolean;
}

export interface ServiceOptions {
  cloud: Cloud;
  store: Store;
  faults: Faults;
  calls: Calls;
  clock: Clock;
  logger: Logger;
  /** Ends the process for the fault crash. */
  kill: () => void;
}

/** Carries out calls: fault rules, the cloud's verbs, counts. An answer is given only when all that it tells is durable. */
export class Service {
  constructor(private readonly options: ServiceOptions) {}

  /** Never throws: a failure is an answer. */
  async answer(call: Call): Promise<Answer> {
    const { calls, faults, logger } = this.options;
    const name = this.nameOf(call);
    const { verb, collection, caller } = call;
    const verdict = faults.decide({ verb, collection, caller, ...(name === undefined ? {} : { name }) });
    const answer = await this.perform(call, verdict).catch((error: unknown) => {
      const failure = toApiFailure(error);
      if (failure.body.code === 'Internal') logger.error({ err: error, verb, collection, id: call.id }, 'a call failed unexpectedly');
      return failureAnswer(failure);
    });
    calls.count(verb, collection, answer.status, caller);
    return verdict.loseResponse === true ? { ...answer, lost: true } : answer;
  }

  private async perform(call: Call, verdict: Verdict): Promise<Answer> {
    if (verdict.delayMs !== undefined) await sleep(this.options.clock, verdict.delayMs);
    if (verdict.refusal !== undefined) throw verdict.refusal;
    const answer = call.collection === 'operations' ? this.operations(call) : await this.resources(call, call.collection, verdict);
    await this.durable();
    return answer;
  }

  private async resources(call: Call, collection: ResourceCollection, verdict: Verdict): Promise<Answer> {
    const { cloud } = this.options;
    const id = call.id ?? '';
    const options = this.writeOptions(call, verdict);
    switch (call.verb) {
      case 'list':
        return this.list(call, collection, verdict.listLagMs);
      case 'get': {
        const { resource } = cloud.entry(collection, id);
        const [shown] = await this.show([resource], call);
        return { status: 200, headers: { ETag: `"${resource.etag}"` }, body: shown };
      }
      case 'create': {
        const written = await cloud.create(collection, call.body, options);
        return this.written(call, written, written.fresh ? 201 : 200);
      }
      case 'update':
        return this.written(call, await cloud.update(collection, id, call.body, options), 200);
      case 'targets':
        return this.written(call, await cloud.setTargets(id, call.body, options), 200);
      case 'delete':
        return { status: 200, body: { operation: await cloud.remove(collection, id, options) } };
    }
  }

  /** @throws ApiFailure InvalidArgument for a view that there is not */
  private show(resources: AnyResource[], { query }: Call): Promise<unknown[]> | unknown[] {
    const view = query.get('view');
    if (view === null) return this.options.cloud.show(resources);
    if (view !== 'digest') throw invalid('view', 'must be digest, or absent');
    return resources.map((resource) => ('health' in resource ? withDigest(resource) : resource));
  }

  private async written(call: Call, { resource, operation }: Written, status: number): Promise<Answer> {
    const [shown] = await this.show([resource], call);
    return { status, headers: { ETag: `"${resource.etag}"` }, body: { resource: shown, operation } };
  }

  private async list(call: Call, collection: ResourceCollection, lagMs: number | undefined): Promise<Answer> {
    const { store } = this.options;
    const entries = lagMs === undefined ? store.state.all(collection) : store.history.asOf(collection, lagMs);
    const { items, nextPageToken } = listPage(
      entries.map(({ resource, order }) => ({ item: resource, order })),
      call.query,
    );
    return { status: 200, body: { items: await this.show(items, call), ...(nextPageToken === undefined ? {} : { nextPageToken }) } };
  }

  private operations(call: Call): Answer {
    const { state } = this.options.store;
    if (call.verb === 'list') {
      const operations = state.operations().map(({ operation, order }) => ({ item: operation, order }));
      return { status: 200, body: listPage<Operation>(operations, call.query) };
    }
    if (call.verb !== 'get') throw new ApiFailure('InvalidArgument', 'operations can only be read', { status: 405 });
    const operation = state.operation(call.id ?? '');
    if (operation === undefined) throw notFound('operations', call.id ?? '');
    return { status: 200, body: operation };
  }

  private writeOptions(call: Call, verdict: Verdict): WriteOptions {
    const { crash } = verdict;
    return {
      ...(call.ifMatch === undefined ? {} : { ifMatch: call.ifMatch }),
      ...(verdict.stuckPending === true ? { stuck: true } : {}),
      ...(verdict.quota === undefined ? {} : { quota: verdict.quota }),
      ...(crash === 'dataplane' ? { beforeRecord: this.options.kill } : {}),
      ...(crash === 'before-journal' ? { crash: 'before' } : {}),
      ...(crash === 'torn-journal' ? { crash: 'torn' } : {}),
      ...(crash === 'journal' ? { crash: 'after' } : {}),
    };
  }

  /** A caller must not learn of something that a crash could still undo. */
  private async durable(): Promise<void> {
    try {
      await this.options.store.durable();
    } catch (error) {
      throw new ApiFailure('Unavailable', error instanceof Error ? error.message : String(error));
    }
  }

  private nameOf({ verb, collection, id, body, query }: Call): string | undefined {
    if (verb === 'create') {
      const name: unknown = typeof body === 'object' && body !== null && 'name' in body ? body.name : undefined;
      return typeof name === 'string' ? name : undefined;
    }
    if (verb === 'list') return query.get('name') ?? undefined;
    return isResourceCollection(collection) ? this.options.store.state.get(collection, id ?? '')?.resource.name : undefined;
  }
}

/** The answer that tells a failure. */
export function failureAnswer({ status, body }: ApiFailure): Answer {
  if (body.retryAfterMs === undefined) return { status, body };
  return { status, headers: { 'Retry-After': String(Math.max(1, Math.ceil(body.retryAfterMs / 1000))) }, body };
}

/** The verb of a method and path, for `calls` and fault rules. */
export function verbOf(method: string, id: string | undefined, sub: string | undefined): Verb {
  if (sub === 'targets' && method === 'PUT') return 'targets';
  const verb = sub !== undefined ? undefined : id === undefined ? COLLECTION_VERBS[method] : RESOURCE_VERBS[method];
  if (verb === undefined) throw new ApiFailure('InvalidArgument', `${method} is not possible here`, { status: 405 });
  return verb;
}

const COLLECTION_VERBS: Record<string, Verb> = { GET: 'list', POST: 'create' };
const RESOURCE_VERBS: Record<string, Verb> = { GET: 'get', PATCH: 'update', DELETE: 'delete' };
