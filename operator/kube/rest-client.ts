import type { KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { systemClock, type Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import { silentLogger, type Logger } from '../base/log';
import { Connection } from './connection';
import { withoutUser } from './kube-config';
import { errorOfAnswer } from './status';
import type { ObservedRequest, RequestObserver } from './request-observer';
import { TokenBucket } from './token-bucket';
import type { TokenSource } from './token-source';
import { lines, SilenceTimer } from './watch';

export interface RestClientOptions {
  /** `cloud-operator/<version>`. */
  userAgent?: string;
  /** Requests a second on average, and at once; 0 = no limit. Default 50 and 100. */
  qps?: number;
  burst?: number;
  /** Deadline of one request, in milliseconds; watches have their own. Default 30 s. */
  timeoutMs?: number;
  /** Throws when nothing may be written any more: the last statement before every request but GET (design: Fencing). */
  assertWrite?: () => void;
  observer?: RequestObserver;
  clock?: Clock;
  logger?: Logger;
}

export type Query = Record<string, string | undefined>;

export interface RawRequest {
  body?: unknown;
  contentType?: string;
  /** Default `application/json`. */
  accept?: string | undefined;
  query?: Query;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

export interface StreamRequest {
  /** The request in words, for messages. */
  what: string;
  query: Query;
  signal?: AbortSignal | undefined;
  /** Milliseconds of silence after which the connection counts as broken. */
  idleTimeoutMs: number;
  /** Called once the API server has begun to answer. */
  onAnswer?: (() => void) | undefined;
}

/** Requests to one API server: one pool of kept connections, a rate limit, deadlines, and failed answers as OperatorErrors. Raw JSON both ways. */
export class RestClient {
  readonly kubeConfig: KubeConfig;
  private readonly options: RestClientOptions;
  private readonly connection: Connection;
  private readonly bucket: TokenBucket;
  private readonly clock: Clock;
  private readonly timeoutMs: number;

  /**
   * @param connection another client's, to share its pool
   * @throws OperatorError Invalid when the kubeconfig has no current cluster
   */
  constructor(kubeConfig: KubeConfig, options: RestClientOptions, connection?: Connection) {
    this.kubeConfig = kubeConfig;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.connection = connection ?? new Connection(kubeConfig, this.clock, options.logger ?? silentLogger);
    this.bucket = new TokenBucket(options.qps ?? 50, options.burst ?? 100, this.clock);
    this.timeoutMs = options.timeoutMs ?? 30_000;
  }

  /** A client with options of its own over the same connections. */
  withOptions(options: RestClientOptions): RestClient {
    return new RestClient(this.kubeConfig, { ...this.options, ...options }, this.connection);
  }

  /** The same client as somebody else than the kubeconfig's user, over connections of its own. */
  withTokens(tokens: TokenSource): RestClient {
    const kubeConfig = withoutUser(this.kubeConfig);
    return new RestClient(kubeConfig, this.options, new Connection(kubeConfig, this.clock, this.options.logger ?? silentLogger, tokens));
  }

  /**
   * One request and its answer.
   * @returns the parsed body; the text itself where it is not JSON, undefined where it is empty
   * @throws OperatorError with the code of the HTTP status, Transient when there was no answer
   */
  async send(method: Dispatcher.HttpMethod, path: string, request: RawRequest = {}): Promise<unknown> {
    const what = `${method} ${path}`;
    await this.admit(method, what, request.signal);
    const deadline = new AbortController();
    const timeoutMs = request.timeoutMs ?? this.timeoutMs;
    const expire = (): void => deadline.abort(new OperatorError('Transient', `${what}: no answer within ${timeoutMs / 1000} s`));
    const cancel = this.clock.after(timeoutMs, expire);
    try {
      const answer = await this.dispatch(method, path, request, anySignal(deadline.signal, request.signal));
      const text = await answer.body.text();
      this.options.observer?.received(this.observed(method), Buffer.byteLength(text));
      this.check(what, answer, text);
      return parseBody(text);
    } catch (thrown) {
      throw named(what, deadline.signal.aborted ? deadline.signal.reason : thrown);
    } finally {
      cancel();
    }
  }

  /**
   * Lines of an answer without an end, until the API server ends it (a normal return). Leaving the loop ends the request.
   * `heard` of the timer given to each line's consumer may change how much silence is borne.
   * @throws OperatorError as `send`; Transient for a broken connection or silence
   */
  async *stream(path: string, request: StreamRequest, onSilence?: (timer: SilenceTimer) => void): AsyncGenerator<string, void, undefined> {
    const { what } = request;
    await this.admit('GET', what, request.signal);
    const silence = new SilenceTimer(what, request.idleTimeoutMs, this.clock);
    const left = new AbortController();
    const late = (): void => left.abort(new OperatorError('Transient', `${what}: no answer within ${this.timeoutMs / 1000} s`));
    const cancel = this.clock.after(this.timeoutMs, late);
    onSilence?.(silence);
    try {
      const signal = anySignal(silence.signal, left.signal, request.signal);
      const answer = await this.dispatch('GET', path, { query: request.query }, signal);
      if (answer.statusCode !== 200) this.check(what, answer, await answer.body.text());
      cancel();
      request.onAnswer?.();
      yield* lines(heard(silence, answer.body));
    } catch (thrown) {
      throw named(what, [silence.signal, left.signal].find(({ aborted }) => aborted)?.reason ?? thrown);
    } finally {
      cancel();
      silence.stop();
      left.abort(new OperatorError('Canceled', `${what}: ended`));
    }
  }

  /** Closes all connections, also those of clients that share them. */
  async close(): Promise<void> {
    await this.connection.close();
  }

  private async admit(method: string, what: string, signal: AbortSignal | undefined): Promise<void> {
    const askedAt = this.clock.monotonic();
    try {
      signal?.throwIfAborted();
      await this.bucket.take(signal);
      this.options.observer?.waited(this.observed(method), this.clock.monotonic() - askedAt);
    } catch (thrown) {
      throw named(what, thrown);
    }
  }

  private async dispatch(
    method: Dispatcher.HttpMethod,
    path: string,
    request: RawRequest,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const headers: Record<string, string> = {
      accept: request.accept ?? 'application/json',
      'user-agent': this.options.userAgent ?? 'cloud-operator',
    };
    if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    if (body !== null) this.options.observer?.sent(this.observed(method), Buffer.byteLength(body));
    if (method !== 'GET') this.options.assertWrite?.();
    return this.measured(method, {
      method,
      path: path + queryString(request.query ?? {}),
      headers,
      body,
      signal,
      // Deadlines are kept by our own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  private async measured(method: string, request: Parameters<Connection['request']>[0]): Promise<Dispatcher.ResponseData> {
    const sentAt = this.clock.monotonic();
    let code = '<error>';
    try {
      const answer = await this.connection.request(request, method === 'GET' ? undefined : this.options.assertWrite);
      code = String(answer.statusCode);
      return answer;
    } finally {
      this.options.observer?.answered(this.observed(method), code, this.clock.monotonic() - sentAt);
    }
  }

  private observed(verb: string): ObservedRequest {
    return { verb, host: new URL(this.connection.origin).host };
  }

  private check(what: string, answer: Dispatcher.ResponseData, body: string): void {
    if (answer.statusCode >= 200 && answer.statusCode < 300) return;
    if (answer.statusCode === 401) this.connection.forgetCredentials();
    throw errorOfAnswer(what, answer.statusCode, body, answer.headers);
  }
}

async function* heard(timer: SilenceTimer, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    timer.heard();
    yield chunk;
  }
}

function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

function queryString(query: Query): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`;
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Discovery's health paths answer in plain text.
    return text;
  }
}

/** An OperatorError that says which request failed. */
function named(what: string, thrown: unknown): OperatorError {
  const error = toOperatorError(thrown);
  if (error.message.startsWith(what)) return error;
  const systemCode = (thrown as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (error.code === 'Unknown' && /CERT|SIGNATURE|ERR_TLS|ERR_SSL|ERR_OSSL/.test(systemCode)) {
    const remedy = 'check certificate-authority, client-certificate and server in the kubeconfig';
    return new OperatorError('Credentials', `${what}: TLS with the API server failed (${systemCode}: ${error.message}); ${remedy}`, {
      cause: thrown,
      remedy,
    });
  }
  return new OperatorError(error.code, `${what}: ${error.message}`, {
    cause: error,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  });
}
