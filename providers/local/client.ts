import { Pool } from 'undici';
import { systemClock } from '../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../operator/base/errors';
import { openGate, type CallGate, type CallOutcome } from '../call-gate';
import type { CallOptions, ClientOptions } from '../client-options';
import type { Address, Collection, Instance, LoadBalancer, PoolDigest, Resource, Route, RouteTable, TargetPool } from './api';
import { errorOfAnswer, LocalCloudError } from './api-error';
import { parseEndpoint } from './endpoint';
import { retry, type RetryPolicy } from '../retry';
import { whenSent } from '../when-sent';

/** The most that the API gives. */
const PAGE_SIZE = 10_000;
const DIGEST = 'view=digest';
const CONNECTIONS = 8;
const ANSWER_TIMEOUT_MS = 10_000;
const DEFAULT_BUDGET_MS = 20_000;

/** What each collection holds. */
export interface Resources {
  instances: Instance;
  addresses: Address;
  loadbalancers: LoadBalancer;
  pools: TargetPool;
  routetables: RouteTable;
  routes: Route;
}
export type ResourceCollection = keyof Resources & Collection;

export interface LocalCloudClientOptions extends ClientOptions<string> {
  endpoint: string;
  /** The token of today; asked again after an answer 401, so that a rotated one works without a restart. */
  token: () => Promise<string>;
  /** Who calls, for the cloud's call counts. */
  caller: string;
}

/** Which resources to list; all of them when empty. */
export interface ListFilter {
  cluster?: string;
  stack?: string;
  name?: string;
  /** Pools without `targets` and `health`, for who reads neither of them. */
  view?: 'digest';
}

interface Call extends CallOptions {
  verb: 'create' | 'get' | 'list' | 'update' | 'delete' | 'targets';
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: object | string;
}

/** What was seen of an answer, whatever became of it. */
interface SeenAnswer {
  requestID?: string;
}

/** As JSON: a thousand pools get one list of thousands of instances. */
const listsAsJson = new WeakMap<readonly string[], string>();

/**
 * Client of the local cloud's API (`api.ts`). Connections are kept. Throttled answers, unavailability and lost answers are retried within one
 * budget, honouring the API's `retryAfterMs`; that is safe for writes because creates carry client tokens and the others set whole values.
 * Every method throws LocalCloudError or OperatorError with the failure's class.
 */
export class LocalCloudClient {
  readonly retryPolicy: RetryPolicy;
  private readonly pool: Pool;
  private readonly gate: CallGate;
  private token: string | undefined;

  /** @throws OperatorError Invalid when the endpoint can't be one */
  constructor(private readonly options: LocalCloudClientOptions) {
    const { origin, socketPath } = parseEndpoint(options.endpoint);
    this.pool = new Pool(origin, {
      connections: CONNECTIONS,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      ...(socketPath !== undefined && { socketPath }),
    });
    this.gate = options.calls ?? openGate;
    const { clock = systemClock, random = Math.random, budgetMs = DEFAULT_BUDGET_MS } = options;
    this.retryPolicy = { clock, random, budgetMs };
  }

  /** Everything that the filter lets through, all pages; a page that fails fails the whole list. */
  list<C extends ResourceCollection>(collection: C, filter: ListFilter = {}, options: CallOptions = {}): Promise<Resources[C][]> {
    return this.pages<Resources[C]>(collection, { ...filter }, options);
  }

  private async pages<T>(collection: ResourceCollection, filter: Record<string, string>, options: CallOptions): Promise<T[]> {
    const found: T[] = [];
    let pageToken: string | undefined;
    do {
      const query = new URLSearchParams({ ...filter, pageSize: String(PAGE_SIZE), ...(pageToken !== undefined && { pageToken }) });
      const path = `/v1/${collection}?${query.toString()}`;
      const page = await this.call<{ items?: T[]; nextPageToken?: string }>({ ...options, verb: 'list', method: 'GET', path });
      if (!Array.isArray(page.items)) throw new OperatorError('Unknown', `local cloud, GET ${path}: the answer has no items`);
      for (const item of page.items) found.push(item);
      pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
    } while (pageToken !== undefined);
    return found;
  }

  /** undefined = it is not there, or it is being deleted. */
  get<C extends ResourceCollection>(collection: C, id: string, options: CallOptions = {}): Promise<Resources[C] | undefined> {
    return this.one<Resources[C]>(pathOf(collection, id), options);
  }

  private async one<T extends Pick<Resource, 'state'>>(path: string, options: CallOptions): Promise<T | undefined> {
    const resource = await this.call<T>({ ...options, verb: 'get', method: 'GET', path }).catch(undefinedWhenGone);
    return resource?.state === 'deleting' ? undefined : resource;
  }

  /** @param clientToken the same one again gives the same resource, so that a lost answer makes no second one */
  async create<C extends ResourceCollection>(
    collection: C,
    spec: object,
    clientToken: string,
    options: CallOptions,
  ): Promise<Resources[C]> {
    const call: Call = { ...options, verb: 'create', method: 'POST', path: `/v1/${collection}`, body: { ...spec, clientToken } };
    return (await this.call<{ resource: Resources[C] }>(call)).resource;
  }

  /** Merges the given fields. */
  async update<C extends ResourceCollection>(collection: C, id: string, fields: object, options: CallOptions): Promise<Resources[C]> {
    const call: Call = { ...options, verb: 'update', method: 'PATCH', path: pathOf(collection, id), body: fields };
    return (await this.call<{ resource: Resources[C] }>(call)).resource;
  }

  /** Gone already = done. Waits within the budget while something that is also going still refers to it. */
  async remove(collection: ResourceCollection, id: string, options: CallOptions): Promise<void> {
    await this.call({ ...options, verb: 'delete', method: 'DELETE', path: pathOf(collection, id) }).catch(undefinedWhenGone);
  }

  /** Sets the whole target set of a pool: these instances, all by one port. @param instanceIDs a list that is not changed later */
  async setTargets(poolID: string, instanceIDs: readonly string[], port: number, options: CallOptions): Promise<PoolDigest> {
    const path = `${pathOf('pools', poolID)}/targets?${DIGEST}`;
    const list = listsAsJson.get(instanceIDs) ?? JSON.stringify(instanceIDs);
    listsAsJson.set(instanceIDs, list);
    const call: Call = { ...options, verb: 'targets', method: 'PUT', path, body: `{"port":${port},"instanceIDs":${list}}` };
    return (await this.call<{ resource: PoolDigest }>(call)).resource;
  }

  /** As `list` of pools. */
  poolDigests(filter: ListFilter = {}): Promise<PoolDigest[]> {
    return this.pages<PoolDigest>('pools', { ...filter, view: 'digest' }, {});
  }

  /** As `get` of a pool. */
  poolDigest(id: string): Promise<PoolDigest | undefined> {
    return this.one<PoolDigest>(`${pathOf('pools', id)}?${DIGEST}`, {});
  }

  /** The next request reads the token anew. */
  forgetToken(): void {
    this.token = undefined;
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async call<T>(call: Call): Promise<T> {
    return retry(
      this.retryPolicy,
      (extend) => this.admitted<T>(call, extend),
      (error) => worthRetrying(call, error),
      call.signal,
    );
  }

  /** One request, when the account's limits allow it; a token that has been rotated since the last one costs a second request. */
  private async admitted<T>(call: Call, extend: (ms: number) => void): Promise<T> {
    const { clock } = this.retryPolicy;
    const queuedAt = clock.monotonic();
    const settle = await this.gate.acquire(call.verb, call.signal);
    extend(clock.monotonic() - queuedAt);
    let used: string | undefined;
    const seen: SeenAnswer = {};
    try {
      used = await this.currentToken();
      const result = await this.send<T>(call, used, seen);
      settle({ kind: 'Answered', ...seen });
      return result;
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error instanceof LocalCloudError && error.apiCode === 'Unauthorized' && (await this.isRotated(used))) {
        settle({ kind: 'Unanswered', ...seen });
        return this.admitted(call, extend);
      }
      settle({ ...outcomeOf(error), ...seen });
      throw error;
    }
  }

  private async send<T>({ verb, method, path, body, signal, assertValid }: Call, token: string, seen: SeenAnswer): Promise<T> {
    const authorization = `Bearer ${token}`;
    const headers = { authorization, 'x-caller': this.options.caller, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const started = whenSent(() => {
      if (method !== 'GET') assertValid?.();
      this.options.onCall?.(verb);
    });
    try {
      const sent = this.pool.compose(started).request({ method, path, headers, ...payload, ...(signal !== undefined && { signal }) });
      const answer = await sent;
      const requestID = answer.headers['x-request-id'];
      if (typeof requestID === 'string') seen.requestID = requestID;
      const parsed = parseJson(await answer.body.text());
      if (answer.statusCode < 300) return parsed as T;
      throw errorOfAnswer(`${method} ${path}`, answer.statusCode, parsed, retryAfter(answer.headers['retry-after']));
    } catch (thrown) {
      throw this.describe(thrown, `${method} ${path}`);
    }
  }

  /** True when there is another token now than the one that was refused. */
  private async isRotated(used: string | undefined): Promise<boolean> {
    this.token = await this.options.token();
    return this.token !== used;
  }

  private async currentToken(): Promise<string> {
    this.token ??= await this.options.token();
    return this.token;
  }

  /** Says which call to which endpoint failed, where the API itself said nothing. */
  private describe(thrown: unknown, call: string): OperatorError {
    const error = toOperatorError(thrown);
    if (error instanceof LocalCloudError) return error;
    const remedy = error.code === 'Transient' ? `Check that the local cloud runs at ${this.options.endpoint}.` : undefined;
    return new OperatorError(error.code, `local cloud, ${call}: ${error.message}${remedy === undefined ? '' : `. ${remedy}`}`, {
      cause: thrown,
      ...(remedy !== undefined && { remedy }),
    });
  }
}

/** What an error says about the account. A refusal by right alone (Forbidden) is about one thing, not about the credentials. */
function outcomeOf(error: OperatorError): CallOutcome {
  if (error.code === 'Throttled') {
    return { kind: 'Throttled', ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }) };
  }
  const unsaid = !(error instanceof LocalCloudError) || error.code === 'Transient';
  if (unsaid) return { kind: 'Unanswered' };
  const unauthorized = error.apiCode === 'Unauthorized' || (error.apiCode === undefined && error.code === 'Credentials');
  return unauthorized ? { kind: 'Refused', message: error.message } : { kind: 'Answered' };
}

function pathOf(collection: ResourceCollection, id: string): string {
  return `/v1/${collection}/${encodeURIComponent(id)}`;
}

/** Conflicts are decided by the caller, except that a thing on its way out may be in the way for a moment. */
function worthRetrying(call: Call, error: OperatorError): boolean {
  if (error.code === 'Throttled' || error.code === 'Transient') return true;
  const inUse = error instanceof LocalCloudError && error.apiCode === 'InUse';
  return inUse && (call.verb === 'delete' || error.retryAfterMs !== undefined);
}

function undefinedWhenGone(error: unknown): undefined {
  if (error instanceof OperatorError && error.code === 'NotFound') return undefined;
  throw error;
}

function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OperatorError('Transient', `the answer is not JSON: ${text.slice(0, 100)}`, { cause });
  }
}

/** The header's seconds, in milliseconds. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const seconds = Number(header);
  return typeof header === 'string' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
