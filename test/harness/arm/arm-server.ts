import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import type { CloudEndpoints } from '../../../providers/azure/client/clouds';
import { parseResourceID } from '../../../providers/azure/client/resource-id';
import { bodyOf, LoopbackServer } from '../loopback-server';
import { ArmCloud, type CloudOptions } from './cloud';
import { Identity, type Application } from './identity';
import { collectionOf, listed } from './list';
import { refusal, type Answer, type ArmRequest, type CallVerb } from './request';
import { Throttle } from './throttle';

export interface ArmServerOptions extends CloudOptions {
  applications?: Application[];
  /** Items of a list in one answer. */
  pageSize?: number;
  /** Milliseconds before each answer. */
  latencyMs?: number;
}

/** A call that came in, and the status of its answer. */
export interface RecordedCall {
  verb: CallVerb;
  method: string;
  path: string;
  /** What a PUT asked for. */
  body?: JsonObject;
  status?: number;
}

/**
 * Azure Resource Manager as far as it is used here, with Microsoft Entra ID and a machine's metadata service beside it: networks, load balancers and
 * machines, paged lists, etags, operations that take time, limits, and refusals. Its rules are in rules/, one function each.
 */
export class ArmServer extends LoopbackServer {
  readonly cloud: ArmCloud;
  readonly identity: Identity;
  readonly throttle: Throttle;
  readonly calls: RecordedCall[] = [];
  /** Writes of which kind are carried out with their answer lost, and how many more. */
  lost: { verb: CallVerb; times: number } | undefined;
  failsLists = false;
  /** Resource groups, in lower case, whose lists nobody may read. */
  readonly unreadable = new Set<string>();
  /** Zones of the region of the scene; undefined = nobody may ask for them. */
  regionZones: string[] | undefined = [];
  /** Answers to everything with 503. */
  isDown = false;
  /** Takes requests and answers none. */
  isSilent = false;
  /** What somebody does just before a request is carried out. */
  meanwhile: ((call: RecordedCall) => void) | undefined;
  /** Writes ids into its answers in another letter case than they were asked for, as some of Azure's APIs do. */
  respells = false;
  /** What happens between a call that is carried out and its answer. */
  beforeAnswer: (call: RecordedCall) => Promise<void> = () => Promise.resolve();
  private readonly clock: Clock;

  constructor(private readonly options: ArmServerOptions) {
    super();
    this.clock = options.clock ?? systemClock;
    this.cloud = new ArmCloud(options);
    this.identity = new Identity(options.applications ?? []);
    this.throttle = new Throttle(this.clock);
  }

  get endpoints(): CloudEndpoints {
    return { resourceManager: this.url, login: this.url, audience: 'https://management.core.windows.net' };
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await bodyOf(request)).toString();
    if (!this.isSilent) await this.answer(request, text, response);
  }

  private async answer(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    const { method = '', headers } = request;
    const tokens = this.tokens({ method, path, query, headers, body: {} }, text);
    if (tokens !== undefined) return send(response, tokens);
    const asked: ArmRequest = { method, path, query, headers, body: text === '' ? {} : (JSON.parse(text) as JsonObject) };
    const record: RecordedCall = { verb: this.verbOf(asked), method, path, ...(method === 'PUT' && { body: asked.body }) };
    this.calls.push(record);
    this.meanwhile?.(record);
    const answer = this.limited(asked, record.verb);
    record.status = answer.status;
    await this.beforeAnswer(record);
    if (this.options.latencyMs !== undefined) await sleep(this.options.latencyMs);
    if (this.lost?.verb === record.verb && this.lost.times-- > 0) return void response.destroy();
    send(response, this.respells ? { ...answer, body: respelled(answer.body) } : answer);
  }

  private tokens({ method, path, query, headers }: ArmRequest, form: string): Answer | undefined {
    if (path === '/metadata/endpoints') {
      const authentication = { loginEndpoint: `${this.url}/`, audiences: [`${this.endpoints.audience}/`] };
      return { status: 200, body: [{ name: 'fake', resourceManager: `${this.url}/`, authentication }] };
    }
    if (path === '/metadata/identity/oauth2/token') return this.identity.metadata(query, headers.metadata as string | undefined);
    const tenant = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(path)?.[1];
    if (tenant === undefined || method !== 'POST') return undefined;
    return this.identity.login(tenant, new URLSearchParams(form), `${this.url}${path}`);
  }

  /** Every answer says what is left of the subscription's calls, and has an id by which Microsoft finds it again. */
  private limited(asked: ArmRequest, verb: CallVerb): Answer {
    if (this.isDown) return refusal(503, 'ServiceUnavailable', 'The service is unavailable now.');
    if (!this.identity.knows(asked.headers.authorization as string | undefined)) {
      return refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.');
    }
    const { refused, headers } = this.throttle.take(verb, /subscriptions\/([^/]+)/.exec(asked.path)?.[1] ?? '');
    const ofCompute = this.throttle.takeOfCompute(verb, asked.path);
    const answer = refused ?? ofCompute.refused ?? this.answered(asked, verb);
    const operation = answer.headers?.['azure-asyncoperation'];
    return {
      ...answer,
      headers: {
        ...headers,
        ...ofCompute.headers,
        ...answer.headers,
        ...(operation !== undefined && { 'azure-asyncoperation': `${this.url}${operation}` }),
        'x-ms-request-id': randomUUID(),
      },
    };
  }

  private answered(asked: ArmRequest, verb: CallVerb): Answer {
    const operation = /\/operations\/([^/]+)$/.exec(asked.path)?.[1];
    if (operation !== undefined) return this.progress(operation);
    if (/^\/subscriptions\/[^/]+\/providers\/Microsoft\.Compute$/i.test(asked.path)) return this.computeProvider();
    if (verb === 'list') return this.page(asked);
    const name = parseResourceID(asked.path);
    if (asked.method === 'GET') return this.cloud.get(name);
    if (asked.method === 'PUT') return this.cloud.put(name, asked);
    return asked.method === 'PATCH' ? this.cloud.patch(name, asked) : this.cloud.delete(name, asked);
  }

  private progress(id: string): Answer {
    const operation = this.cloud.operations.find(id);
    if (operation === undefined) return refusal(404, 'OperationNotFound', `Operation ${id} was not found.`);
    const { status, error } = operation;
    return { status: 200, body: { status, ...(error !== undefined && { error }) }, headers: { 'retry-after': '0' } };
  }

  /** What Microsoft.Compute can do where (learn.microsoft.com, "Providers - Get"). */
  private computeProvider(): Answer {
    const action = 'Microsoft.Resources/subscriptions/providers/read';
    if (this.regionZones === undefined) {
      return refusal(403, 'AuthorizationFailed', `The client does not have authorization to perform action '${action}'.`);
    }
    const zoneMappings = [{ location: 'West Europe', zones: this.regionZones }];
    return { status: 200, body: { namespace: 'Microsoft.Compute', resourceTypes: [{ resourceType: 'virtualMachines', zoneMappings }] } };
  }

  private page({ path, query }: ArmRequest): Answer {
    const [, group = ''] = /\/resourceGroups\/([^/]+)\//i.exec(path) ?? [];
    if (this.failsLists || this.unreadable.has(group.toLowerCase()))
      return refusal(403, 'AuthorizationFailed', "The client does not have authorization to perform action 'read'.");
    const collection = collectionOf(path);
    if (collection === undefined) return refusal(400, 'InvalidResourceType', `${path} is no list.`);
    const { pageSize: size = 100 } = this.options;
    const from = Number(query.get('$skiptoken') ?? 0);
    const found = listed(collection, query, this.cloud, { from, size });
    if (!('value' in found)) return found;
    const next = new URLSearchParams(query);
    next.set('$skiptoken', String(from + size));
    const nextLink = found.isMore ? `${this.url}${path}?${next.toString()}` : undefined;
    return { status: 200, body: { value: found.value, ...(nextLink !== undefined && { nextLink }) } };
  }

  private verbOf({ method, path }: ArmRequest): CallVerb {
    if (method === 'DELETE') return 'delete';
    if (method === 'GET') return collectionOf(path) !== undefined && !path.includes('/operations/') ? 'list' : 'get';
    return method === 'PUT' && !this.cloud.has(parseResourceID(path)) ? 'create' : 'update';
  }
}

function respelled<T>(body: T): T {
  const ids = /"\/subscriptions\/([^/"]+)\/resourceGroups\/([^/"]+)\/providers\/Microsoft\.Network/g;
  const other = (_id: string, subscription: string, group: string): string =>
    `"/subscriptions/${subscription.toUpperCase()}/resourcegroups/${group.toUpperCase()}/providers/microsoft.network`;
  return body === undefined ? body : (JSON.parse(JSON.stringify(body).replace(ids, other)) as T);
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
