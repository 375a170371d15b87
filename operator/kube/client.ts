import type { KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { OperatorError } from '../base/errors';
import type { ApplyOptions, KubeApi, ListOptions, PatchOptions, PatchType, RemoveOptions } from './api';
import type { KubeObject, ObjectKey, ResourcePath } from './object';
import { apiVersionOf, collectionPath, objectPath, resourceName } from './resource-url';
import { RestClient, type Query, type RawRequest, type RestClientOptions } from './rest-client';
import type { TokenSource } from './token-source';
import { isExpired, isFailedTest, isObjectNotFound } from './status';
import { parseWatchEvent, type SilenceTimer, type WatchEvent } from './watch';

export type { RawRequest };
export type KubeClientOptions = RestClientOptions;

/** A page of a collection. */
export interface Page<T extends KubeObject> {
  items: T[];
  /** Version of the collection, to watch from. */
  resourceVersion: string;
  /** The pages before this one are void: it holds the whole collection. */
  restart: boolean;
}

export interface WatchOptions extends ListOptions {
  /** Events after this version. */
  resourceVersion: string;
  /** The API server ends the watch after this many seconds. */
  timeoutSeconds: number;
  /** Silence longer than this many milliseconds is a broken connection; default timeoutSeconds and a minute. */
  idleTimeoutMs?: number;
  /** The same once a bookmark has come: an API server that sends them does so about every minute. */
  bookmarkTimeoutMs?: number;
  /** Called once the API server has begun to answer. */
  onAnswer?: () => void;
  signal?: AbortSignal;
}

/** What a reflector needs of a client. */
export interface ListWatchApi {
  pages<T extends KubeObject>(resource: ResourcePath, options?: ListOptions, signal?: AbortSignal): AsyncIterable<Page<T>>;
  watch<T extends KubeObject>(resource: ResourcePath, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}

/** One request of any kind, for what KubeApi doesn't cover. */
export interface RawApi {
  /**
   * Discovery, subresources such as a ServiceAccount's token, the PUT of a Lease.
   * @returns the parsed body; the text itself where it is not JSON
   * @throws OperatorError with the code of the HTTP status, Transient when there was no answer
   */
  raw(method: Dispatcher.HttpMethod, path: string, request?: RawRequest): Promise<unknown>;
}

const PAGE_SIZE = 500;
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const CONTENT_TYPES: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** The API of one cluster, in raw JSON both ways: fields that we don't know stay. */
export class KubeClient implements KubeApi, ListWatchApi, RawApi {
  private readonly rest: RestClient;

  /** @throws OperatorError Invalid when the kubeconfig has no current cluster */
  constructor(kubeConfig: KubeConfig, options?: KubeClientOptions);
  constructor(rest: RestClient);
  constructor(from: KubeConfig | RestClient, options: KubeClientOptions = {}) {
    this.rest = from instanceof RestClient ? from : new RestClient(from, options);
  }

  get kubeConfig(): KubeConfig {
    return this.rest.kubeConfig;
  }

  /** A client with limits of its own over the same connections, for what must not wait behind others (lease renewal). */
  withOptions(options: KubeClientOptions): KubeClient {
    return new KubeClient(this.rest.withOptions(options));
  }

  /** The same client as whoever the tokens are of, over connections of its own: to be closed by itself. */
  withTokens(tokens: TokenSource): KubeClient {
    return new KubeClient(this.rest.withTokens(tokens));
  }

  async get<T extends KubeObject>(resource: ResourcePath, key: ObjectKey): Promise<T | undefined> {
    try {
      return (await this.rest.send('GET', objectPath(resource, key))) as T;
    } catch (thrown) {
      if (isObjectNotFound(thrown)) return undefined;
      throw thrown;
    }
  }

  async list<T extends KubeObject>(resource: ResourcePath, options: ListOptions = {}): Promise<T[]> {
    let found: T[] = [];
    for await (const page of this.pages<T>(resource, options)) found = page.restart ? page.items : found.concat(page.items);
    return found;
  }

  /** Pages of a consistent list; where a `continue` token has expired, the whole collection once more in one page. */
  async *pages<T extends KubeObject>(resource: ResourcePath, options: ListOptions = {}, signal?: AbortSignal): AsyncGenerator<Page<T>> {
    const path = collectionPath(resource, options.namespace);
    const accept = options.metadataOnly === true ? METADATA_ONLY : undefined;
    let next = '';
    do {
      const query = { ...selection(options), limit: String(PAGE_SIZE), continue: next };
      const answer = await this.page<T>(path, { query, signal, accept });
      if (answer === 'Expired') {
        const whole = (await this.rest.send('GET', path, { query: selection(options), signal, accept })) as ListAnswer<T>;
        yield { ...toPage(resource, whole), restart: true };
        return;
      }
      next = answer.metadata.continue ?? '';
      yield toPage(resource, answer);
    } while (next !== '');
  }

  async create<T extends KubeObject>(resource: ResourcePath, namespace: string | undefined, body: object): Promise<T> {
    return (await this.rest.send('POST', collectionPath(resource, namespace), { body: withKind(resource, body) })) as T;
  }

  async apply<T extends KubeObject>(resource: ResourcePath, key: ObjectKey, body: object, options: ApplyOptions): Promise<T> {
    const path = objectPath(resource, key, options.subresource);
    const query = { fieldManager: options.fieldManager, force: options.force === true ? 'true' : undefined };
    return (await this.rest.send('PATCH', path, {
      body: withKind(resource, body),
      contentType: 'application/apply-patch+yaml',
      query,
    })) as T;
  }

  // Five parameters: KubeApi has them.
  // eslint-disable-next-line max-params
  async patch<T extends KubeObject>(
    resource: ResourcePath,
    key: ObjectKey,
    type: PatchType,
    body: object,
    options: PatchOptions = {},
  ): Promise<T> {
    const path = objectPath(resource, key, options.subresource);
    const query = { fieldManager: options.fieldManager };
    try {
      return (await this.rest.send('PATCH', path, { body, contentType: CONTENT_TYPES[type], query })) as T;
    } catch (thrown) {
      throw type === 'json' && hasTest(body) && isFailedTest(thrown) ? changedMeanwhile(resource, key, thrown) : thrown;
    }
  }

  async remove(resource: ResourcePath, key: ObjectKey, options: RemoveOptions = {}): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: options.uid, resourceVersion: options.resourceVersion } };
    try {
      await this.rest.send('DELETE', objectPath(resource, key), { body });
    } catch (thrown) {
      if (!isObjectNotFound(thrown)) throw thrown;
    }
  }

  async raw(method: Dispatcher.HttpMethod, path: string, request: RawRequest = {}): Promise<unknown> {
    return this.rest.send(method, path, request);
  }

  /**
   * Events of one watch, until the API server ends it (a normal return) or something breaks (a throw). Leaving the loop ends the request.
   * @throws OperatorError; isExpired(error) tells that the resourceVersion is too old
   */
  async *watch<T extends KubeObject>(resource: ResourcePath, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const what = `watch ${resourceName(resource)}`;
    const idleTimeoutMs = options.idleTimeoutMs ?? (options.timeoutSeconds + 60) * 1000;
    const query = { ...selection(options), ...watchQuery(options) };
    let silence: SilenceTimer | undefined;
    const request = { what, query, idleTimeoutMs, onAnswer: options.onAnswer, signal: options.signal };
    for await (const line of this.rest.stream(collectionPath(resource, options.namespace), request, (timer) => (silence = timer))) {
      const event = parseWatchEvent<T>(what, line);
      if (event.type === 'BOOKMARK') silence?.heard(options.bookmarkTimeoutMs);
      yield event;
    }
  }

  /** Closes all connections; clients made by withOptions share them. */
  async close(): Promise<void> {
    await this.rest.close();
  }

  private async page<T extends KubeObject>(path: string, request: RawRequest & { query: Query }): Promise<ListAnswer<T> | 'Expired'> {
    try {
      return (await this.rest.send('GET', path, request)) as ListAnswer<T>;
    } catch (thrown) {
      if (request.query.continue !== '' && isExpired(thrown)) return 'Expired';
      throw thrown;
    }
  }
}

interface ListAnswer<T extends KubeObject> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[] | null;
}

/** Items of a built-in kind come without apiVersion and kind. */
function toPage<T extends KubeObject>(resource: ResourcePath, answer: ListAnswer<T>): Page<T> {
  const items = (answer.items ?? []).map((item) => withKind(resource, item) as T);
  return { items, resourceVersion: answer.metadata.resourceVersion, restart: false };
}

function hasTest(body: object): boolean {
  return Array.isArray(body) && body.some((operation: { op?: unknown }) => operation.op === 'test');
}

function changedMeanwhile(resource: ResourcePath, key: ObjectKey, cause: unknown): OperatorError {
  return new OperatorError('Conflict', `${resource.kind} ${key} has changed since it was read: a test of the patch did not hold`, {
    cause,
  });
}

function withKind(resource: ResourcePath, body: object): object {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...body };
}

function selection(options: ListOptions): Query {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
}

function watchQuery(options: WatchOptions): Query {
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: options.resourceVersion,
    timeoutSeconds: String(options.timeoutSeconds),
  };
}
