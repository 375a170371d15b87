import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import type { Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import { unlessAborted } from '../base/unless-aborted';
import type { Logger } from '../base/log';
import { withoutMemory, type KubeConfig } from './kube-config';
import type { TokenSource } from './token-source';

/** How long credentials are used before their files are read again, in milliseconds. */
const CREDENTIALS_FOR = 10_000;
/** The API server closes connections that are idle for 90 s; ours go earlier, so that no request meets a closing one. */
const KEEP_ALIVE_TIMEOUT = 60_000;
const CONNECT_TIMEOUT = 10_000;

interface Credentials {
  headers: Record<string, string>;
  dispatcher: Dispatcher;
  readAt: number;
}

type ConnectionRequest = Omit<Dispatcher.RequestOptions, 'origin' | 'signal'> & { signal: AbortSignal };

/**
 * The one pool of connections to an API server. Credentials come from the kubeconfig's files and plugins and are read again every ten
 * seconds, or after `forgetCredentials`; the pool is rebuilt only when a certificate, key or CA has changed.
 */
export class Connection {
  /** Scheme, host and port. */
  readonly origin: string;
  /** What stands before `/api` where the API server is behind a path. */
  readonly basePath: string;
  private current: { dispatcher: Dispatcher; fingerprint: string } | undefined;
  private credentials: Promise<Credentials> | undefined;
  private closed = false;

  /**
   * @param tokens goes before a token of the kubeconfig
   * @throws OperatorError Invalid when the kubeconfig has no current cluster
   */
  constructor(
    private kubeConfig: KubeConfig,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly tokens?: TokenSource,
  ) {
    const cluster = kubeConfig.getCurrentCluster();
    if (cluster === null) throw new OperatorError('Invalid', 'the kubeconfig names no current cluster');
    const url = new URL(cluster.server);
    this.origin = url.origin;
    this.basePath = url.pathname.replace(/\/$/, '');
  }

  /**
   * Sends one request with today's credentials.
   * @param assertMaySend throws when nothing may be sent any more: to ask for credentials may have taken long
   * @throws OperatorError Credentials when they can't be had, else the transport's error as it is
   */
  async request(options: ConnectionRequest, assertMaySend?: () => void): Promise<Dispatcher.ResponseData> {
    // A plugin that hangs is not waited for beyond the deadline of who asks.
    const { dispatcher, headers } = await unlessAborted(this.authenticate(), options.signal);
    assertMaySend?.();
    return dispatcher.request({
      ...options,
      origin: this.origin,
      path: this.basePath + options.path,
      headers: { ...(options.headers as Record<string, string>), ...headers },
    });
  }

  /** The API server refused them: the next request reads files and runs plugins anew. */
  forgetCredentials(): void {
    this.tokens?.forget();
    this.kubeConfig = withoutMemory(this.kubeConfig);
    this.credentials = undefined;
  }

  /** Ends what is still going on and closes all connections. */
  async close(): Promise<void> {
    this.closed = true;
    await this.current?.dispatcher.destroy();
  }

  private async authenticate(): Promise<Credentials> {
    if (this.closed) throw new OperatorError('Canceled', 'the connection to the API server was closed');
    const askedAt = this.clock.monotonic();
    for (;;) {
      const reading = this.credentials;
      const known = await reading;
      // However long the reading took: who waited for it has the newest.
      if (known !== undefined && (known.readAt >= askedAt || this.clock.monotonic() - known.readAt < CREDENTIALS_FOR)) return known;
      // Of all that have waited, one reads them anew.
      if (this.credentials === reading) this.readAnew();
    }
  }

  private readAnew(): void {
    const reading = this.readCredentials();
    this.credentials = reading;
    reading.catch(() => {
      // Whoever waits gets the error; only the memory of a failed reading goes, so that the next request tries again.
      if (this.credentials === reading) this.credentials = undefined;
    });
  }

  private async readCredentials(): Promise<Credentials> {
    const options: RequestOptions = {};
    const readAt = this.clock.monotonic();
    try {
      await this.kubeConfig.applyToHTTPSOptions(options);
    } catch (thrown) {
      const user = this.kubeConfig.getCurrentUser()?.name ?? '';
      const { message } = toOperatorError(thrown);
      throw new OperatorError('Credentials', `credentials of the kubeconfig's user "${user}" can't be read: ${message.trim()}`, {
        cause: thrown,
      });
    }
    const token = await this.tokens?.token();
    const headers = { ...headersOf(options), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    return { headers, dispatcher: this.dispatcherFor(options), readAt };
  }

  private dispatcherFor(options: RequestOptions): Dispatcher {
    const fingerprint = fingerprintOf(options);
    if (this.current?.fingerprint === fingerprint) return this.current.dispatcher;
    const previous = this.current?.dispatcher;
    const dispatcher = newDispatcher(options, this.kubeConfig.getCurrentCluster()?.proxyUrl);
    this.current = { dispatcher, fingerprint };
    // close() lets running requests end first; a watch ends by itself within minutes.
    previous
      ?.close()
      .catch((thrown: unknown) => this.logger.warn({ err: thrown }, 'closing connections with the former certificate failed'));
    return dispatcher;
  }
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // Token files may end in a newline, which no header may hold.
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  if (typeof options.auth === 'string') headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

function tlsOf(
  options: RequestOptions,
): Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'> {
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  const all = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function fingerprintOf(options: RequestOptions): string {
  // JSON of a Buffer holds its bytes.
  return createHash('sha256')
    .update(JSON.stringify(tlsOf(options)))
    .digest('hex');
}

function newDispatcher(options: RequestOptions, proxyUrl: string | undefined): Dispatcher {
  // HTTP/1.1: one connection for each watch, so that no stream can hold up or take down another.
  const pool = { keepAliveTimeout: KEEP_ALIVE_TIMEOUT, keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT, allowH2: false } as const;
  const tls = tlsOf(options) as Agent.Options['connect'];
  const connect = { ...(tls as object), keepAlive: true, keepAliveInitialDelay: 30_000, timeout: CONNECT_TIMEOUT };
  if (proxyUrl === undefined || proxyUrl === '') return new Agent({ ...pool, connect });
  if (!/^https?:/.test(proxyUrl)) {
    throw new OperatorError('Invalid', `proxy-url ${proxyUrl} of the kubeconfig is not supported; use an http(s) proxy`);
  }
  return new ProxyAgent({ ...pool, uri: proxyUrl, requestTls: tls as NonNullable<ProxyAgent.Options['requestTls']> });
}
