import { Agent } from 'undici';
import { sleep, systemClock } from '../../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { openGate, type CallGate, type CallOutcome } from '../../call-gate';
import type { CallOptions, ClientOptions } from '../../client-options';
import { retry, type RetryPolicy } from '../../retry';
import { whenSent } from '../../when-sent';
import { apiVersionOf } from './api-versions';
import { callsLeft, callsLeftOfResource, errorIn, headerOf, parseBody, retryAfterMs, type ArmAnswer } from './arm-answer';
import { ArmError, armFailure, isBusy, refusesToken, type ArmCall } from './arm-error';
import { wordsOf } from './no-answer';
import { isOver, operationIn, type Operation } from './operation';
import { isChanging, type Provisioned } from './provisioning';
import { parseResourceID, resourceTypeOf, typeIn } from './resource-id';
import { TokenError } from './token-error';

const CONNECTIONS = 8;
const ANSWER_TIMEOUT_MS = 30_000;
const DEFAULT_BUDGET_MS = 20_000;
/** Where an operation doesn't say when to look again. */
const POLL_MS = 1_000;
/** However soon Azure says to come again: an account's reads are limited. */
const SHORTEST_POLL_MS = 50;
/** How often a resource is read to which something happens that is not ours to follow. */
const SETTLING_POLL_MS = 500;
/** The longest that an operation is followed. */
const OPERATION_MS = 10 * 60_000;

export type Verb = 'create' | 'get' | 'list' | 'update' | 'delete';

export interface ArmClientOptions extends ClientOptions<Verb> {
  /** CloudEndpoints.resourceManager. */
  resourceManager: string;
  /** The token of today. @param path of the call: subscriptions may be of different tenants */
  token: (path: string) => Promise<string>;
  /** Told of a token that Azure has refused; `token` then gives another one, if there is one. */
  refused?: (token: string) => void;
  /** The longest that an answer may take, in milliseconds; absent = 30 s. */
  answerMs?: number;
  /** How the operator calls itself; absent = cloud-operator. */
  userAgent?: string;
}

/** What must hold for a write to be carried out. */
export interface WriteOptions extends CallOptions {
  /** The resource still is the one that was read; `absent` = there is none. Otherwise the write fails with Conflict. */
  only?: { etag: string } | 'absent';
}

interface Call extends CallOptions {
  verb: Verb;
  method: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  /** For messages. */
  path: string;
  body?: object;
  headers?: Record<string, string>;
}

/**
 * Calls to Azure Resource Manager. Each request passes the account's limits, is counted, and asks for the right to write as its bytes go out.
 * Operations are followed to their end. Throttled and busy answers are tried again within one budget, unavailability and lost answers too,
 * except of writes that depend on what is there: whether those have happened is for the caller to find out.
 * Every method throws OperatorError with the failure's class.
 */
export class ArmClient {
  readonly retryPolicy: RetryPolicy;
  private readonly agent: Agent;
  private readonly gate: CallGate;
  private readonly origin: string;

  constructor(private readonly options: ArmClientOptions) {
    this.gate = options.calls ?? openGate;
    this.origin = new URL(options.resourceManager).origin;
    const { clock = systemClock, random = Math.random, budgetMs = DEFAULT_BUDGET_MS, answerMs = ANSWER_TIMEOUT_MS } = options;
    this.agent = new Agent({ connections: CONNECTIONS, headersTimeout: answerMs, bodyTimeout: answerMs });
    this.retryPolicy = { clock, random, budgetMs };
  }

  /** undefined = it is not there. */
  async get<T>(id: string, options: CallOptions = {}): Promise<T | undefined> {
    const answer = await this.call<T>({ ...options, verb: 'get', method: 'GET', ...this.place(id) }).catch(undefinedWhenGone);
    return answer?.body;
  }

  /** What is no resource in a group, such as what a provider of resources can do. @param path below the resource manager @param version of the API */
  async read<T>(path: string, version: string, options: CallOptions = {}): Promise<T> {
    const url = `${this.options.resourceManager}${path}?api-version=${version}`;
    return (await this.call<T>({ ...options, verb: 'get', method: 'GET', url, path })).body;
  }

  /**
   * Everything on all pages; a page that fails fails the whole list.
   * @param path such as `/subscriptions/<id>/resourceGroups/<name>/providers/Microsoft.Network/loadBalancers`
   * @param type of what is listed, by which the API version is chosen
   * @param options `query`: what the list takes beside the version, such as `$expand`; `onPage`: called for each page
   */
  async list<T>(
    path: string,
    type: string,
    options: CallOptions & { query?: Record<string, string>; onPage?: () => void } = {},
  ): Promise<T[]> {
    const { query: more, onPage, ...rest } = options;
    const query = new URLSearchParams({ 'api-version': apiVersionOf(type), ...more });
    const found: T[] = [];
    let next: string | undefined = `${this.options.resourceManager}${path}?${query.toString()}`;
    while (next !== undefined) {
      const { body }: ArmAnswer<{ value?: T[]; nextLink?: string }> = await this.call({
        ...rest,
        verb: 'list',
        method: 'GET',
        url: next,
        path,
      });
      onPage?.();
      if (!Array.isArray(body?.value)) throw new OperatorError('Unknown', `Azure, GET ${path}: the answer has no list of values`);
      for (const item of body.value) found.push(item);
      next = body.nextLink === undefined || body.nextLink === '' ? undefined : this.ownURL(body.nextLink, path);
    }
    return found;
  }

  /**
   * The same when nothing happens to it any more: what an operation of somebody's, or of an earlier try of ours, comes to.
   * @throws OperatorError Transient when it has not ended within the time of the longest
   */
  async settled<T extends Provisioned>(found: T, id: string, options: CallOptions = {}): Promise<T | undefined> {
    const { clock } = this.retryPolicy;
    const deadline = clock.monotonic() + OPERATION_MS;
    for (let now: T | undefined = found; ;) {
      if (now === undefined || !isChanging(now)) return now;
      if (clock.monotonic() > deadline) throw this.endless(id);
      await this.rest(SETTLING_POLL_MS, options.signal);
      now = await this.get<T>(id, options);
    }
  }

  /** Makes the resource, or sets all of it. @returns it as it is when the operation is over */
  async put<T>(id: string, body: object, options: WriteOptions = {}): Promise<T> {
    return this.write<T>('PUT', id, body, options);
  }

  /** Merges the given properties, such as tags. @returns it as it is when the operation is over */
  async patch<T>(id: string, body: object, options: WriteOptions = {}): Promise<T> {
    return this.write<T>('PATCH', id, body, options);
  }

  /**
   * Gone already = done.
   * @throws OperatorError Transient when nobody knows any more what has become of it, and it is there
   */
  async remove(id: string, options: WriteOptions = {}): Promise<void> {
    const call: Call = { ...options, verb: 'delete', method: 'DELETE', ...this.place(id), headers: conditionOf(options) };
    const answer = await this.call(call).catch(undefinedWithItsGroup);
    if (answer === undefined) return;
    const followed = await this.follow(answer, call).catch(undefinedWithItsGroup);
    if (followed === undefined) await this.assertGone(id, options);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async write<T>(method: 'PUT' | 'PATCH', id: string, body: object, options: WriteOptions): Promise<T> {
    const verb = options.only === 'absent' ? 'create' : 'update';
    const call: Call = { ...options, verb, method, ...this.place(id), body, headers: conditionOf(options) };
    const answer = await this.call<T>(call);
    if (!(await this.follow(answer, call))) return answer.body;
    const made = await this.get<T>(id, options);
    if (made === undefined) throw new OperatorError('Conflict', `Azure, ${method} ${id}: somebody has deleted it at the same time`);
    return made;
  }

  /** Waits for the end of what an answer has begun; false = it was done already. */
  private async follow(begun: ArmAnswer, { path, signal }: Call): Promise<boolean> {
    const operation = operationIn(begun);
    if (operation === undefined) return false;
    const { clock } = this.retryPolicy;
    const deadline = clock.monotonic() + OPERATION_MS;
    for (let answer = begun; ;) {
      await this.rest(Math.max(retryAfterMs(answer, clock.now()) ?? POLL_MS, SHORTEST_POLL_MS), signal);
      answer = await this.look(operation, path, signal);
      if (isOver(operation, answer, path)) return true;
      if (clock.monotonic() > deadline) throw this.endless(path);
    }
  }

  /** Of a delete whose operation is not known any more: that may have ended either way, or the resource group with it. */
  private async assertGone(id: string, options: CallOptions): Promise<void> {
    const found = await this.get<Provisioned>(id, options).catch(undefinedWithItsGroup);
    const there = found && (await this.settled(found, id, options).catch(undefinedWithItsGroup));
    if (there === undefined) return;
    throw new OperatorError('Transient', `Azure, DELETE ${id}: the operation is not known any more, and the resource is there still`);
  }

  private endless(path: string): OperatorError {
    return new OperatorError('Transient', `Azure, ${path}: the operation has not ended within ${OPERATION_MS / 60_000} minutes`);
  }

  private rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return sleep(this.retryPolicy.clock, ms, signal).catch((reason: unknown) => {
      throw toOperatorError(reason);
    });
  }

  private look({ url }: Operation, path: string, signal: AbortSignal | undefined): Promise<ArmAnswer> {
    return this.call({ verb: 'get', method: 'GET', url: this.ownURL(url, path), path, ...(signal !== undefined && { signal }) });
  }

  private place(id: string): { url: string; path: string } {
    const version = apiVersionOf(resourceTypeOf(parseResourceID(id)));
    return { url: `${this.options.resourceManager}${id}?api-version=${version}`, path: id };
  }

  /** Tokens go to the resource manager and to nobody else, whatever an answer says. */
  private ownURL(url: string, path: string): string {
    if (URL.parse(url)?.origin === this.origin) return url;
    throw new OperatorError('Unknown', `Azure, ${path}: the answer leads to ${url}, which is not below ${this.options.resourceManager}`);
  }

  private call<T>(call: Call): Promise<ArmAnswer<T>> {
    return retry(
      this.retryPolicy,
      (extend) => this.admitted<T>(call, extend),
      (error) => worthRetrying(call, error),
      call.signal,
    );
  }

  /** One request, when the account's limits allow it; a token that has been renewed since it was got costs a second request. */
  private async admitted<T>(call: Call, extend: (ms: number) => void, used?: string): Promise<ArmAnswer<T>> {
    const { clock } = this.retryPolicy;
    const queuedAt = clock.monotonic();
    const settle = await this.gate.acquire(call.verb, call.signal, typeIn(call.path));
    extend(clock.monotonic() - queuedAt);
    let token: string | undefined;
    let seen: Pick<CallOutcome, 'requestID'> = {};
    let isOfPart = false;
    try {
      token = await this.options.token(call.path);
      const answer = await this.send<T>(call, token);
      seen = requestIDOf(answer);
      isOfPart = callsLeftOfResource(answer) === 0;
      if (answer.status >= 400) throw this.failureOf(answer, call);
      settle({ ...outcomeOfAnswer(answer), ...seen });
      return answer;
    } catch (thrown) {
      const error = this.described(thrown, call);
      const renewed = refusesToken(error) && used === undefined ? await this.renewed(call, token, error) : error;
      settle({ ...(renewed === 'Renewed' ? ({ kind: 'Unanswered' } as const) : outcomeOfFailure(renewed, isOfPart)), ...seen });
      if (renewed === 'Renewed') return this.admitted(call, extend, token);
      throw renewed;
    }
  }

  /** Asks for another token in place of one that was refused. @returns why there is none: what Entra says of the credentials, else the refusal */
  private async renewed({ path }: Call, token: string | undefined, refusal: OperatorError): Promise<'Renewed' | OperatorError> {
    if (token === undefined) return refusal;
    this.options.refused?.(token);
    try {
      return (await this.options.token(path)) === token ? refusal : 'Renewed';
    } catch (thrown) {
      const error = toOperatorError(thrown);
      return error instanceof TokenError && error.code === 'Credentials' ? error : refusal;
    }
  }

  private async send<T>({ verb, method, url, body, headers, signal, assertValid }: Call, token: string): Promise<ArmAnswer<T>> {
    const { origin, pathname, search } = new URL(url);
    const started = whenSent(() => {
      if (method !== 'GET') assertValid?.();
      this.options.onCall?.(verb);
    });
    const { statusCode: status, ...answer } = await this.agent.compose(started).request({
      origin,
      path: pathname + search,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'user-agent': this.options.userAgent ?? 'cloud-operator',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    return { status, headers: answer.headers, body: parseBody(await answer.body.text(), status) as T };
  }

  private failureOf(answer: ArmAnswer, { method, path }: Call): ArmError {
    const about: ArmCall = { method, path, ...requestIDOf(answer) };
    return armFailure(errorIn(answer), answer.status, about, retryAfterMs(answer, this.retryPolicy.clock.now()));
  }

  /** Says which call to which endpoint failed, where Azure itself said nothing. */
  private described(thrown: unknown, { method, path }: Call): OperatorError {
    const error = toOperatorError(thrown);
    if (thrown instanceof OperatorError) return error;
    const remedy = error.code === 'Transient' ? `Check the way to ${this.options.resourceManager}.` : undefined;
    return new OperatorError(
      error.code,
      `Azure, ${method} ${path}: ${wordsOf(thrown, error)}${remedy === undefined ? '' : `. ${remedy}`}`,
      {
        cause: thrown,
        ...(remedy !== undefined && { remedy }),
      },
    );
  }
}

function conditionOf({ only }: WriteOptions): Record<string, string> {
  if (only === undefined) return {};
  return only === 'absent' ? { 'if-none-match': '*' } : { 'if-match': only.etag };
}

function requestIDOf(answer: ArmAnswer): { requestID?: string } {
  const requestID = headerOf(answer, 'x-ms-request-id');
  return requestID === undefined ? {} : { requestID };
}

function outcomeOfAnswer(answer: ArmAnswer): CallOutcome {
  const left = callsLeft(answer);
  const leftOfPart = callsLeftOfResource(answer);
  return { kind: 'Answered', ...(left !== undefined && { left }), ...(leftOfPart !== undefined && { leftOfPart }) };
}

/** What an error says about the account. One action that is not allowed, or a resource that is busy, says nothing against it. */
function outcomeOfFailure(error: OperatorError, isOfPart: boolean): CallOutcome {
  if (error.code === 'Throttled') {
    return {
      kind: 'Throttled',
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
      ...(isOfPart && { ofPart: true }),
    };
  }
  if (refusesToken(error) || (error instanceof TokenError && error.code === 'Credentials'))
    return { kind: 'Refused', message: error.message };
  return { kind: error instanceof ArmError && error.code !== 'Transient' ? 'Answered' : 'Unanswered' };
}

function worthRetrying({ headers = {} }: Call, error: OperatorError): boolean {
  if (error.code === 'Throttled' || isBusy(error)) return true;
  const depends = 'if-match' in headers || 'if-none-match' in headers;
  return error.code === 'Transient' && !depends;
}

function undefinedWhenGone(error: unknown): undefined {
  if (error instanceof OperatorError && error.code === 'NotFound') return undefined;
  throw error;
}

/** With a resource group everything in it is gone. */
function undefinedWithItsGroup(error: unknown): undefined {
  if (error instanceof ArmError && error.armCode === 'ResourceGroupNotFound') return undefined;
  return undefinedWhenGone(error);
}
