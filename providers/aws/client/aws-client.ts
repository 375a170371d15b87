import { systemClock } from '../../../operator/base/clock';
import type { OperatorError } from '../../../operator/base/errors';
import { openGate, type CallGate, type CallOutcome } from '../../call-gate';
import type { CallOptions, ClientOptions } from '../../client-options';
import { retry, type RetryPolicy } from '../../retry';
import { AwsError, awsFailure, refusesCredentials, type AwsCall } from './aws-error';
import type { AwsCredentials, AwsSettings, AwsSigning } from './settings';

const DEFAULT_BUDGET_MS = 20_000;
/** An agent goes by the proxies that the environment names (HTTPS_PROXY, NO_PROXY) when it is made: the SDK's own goes past them. */
const AGENT = { keepAlive: true, maxSockets: 50, proxyEnv: process.env };
/** How every client of the SDK sends, those too by which it looks for credentials. */
export const REQUEST_HANDLER = { connectionTimeout: 5_000, requestTimeout: 20_000, httpAgent: AGENT, httpsAgent: AGENT };

/** `targets` are members; they and `delete` go before everything else (CallGate). */
export type Verb = 'create' | 'get' | 'list' | 'update' | 'delete' | 'targets';

export interface AwsClientOptions extends ClientOptions<Verb> {
  settings: AwsSettings;
  /** The credentials of today, where the settings hold none; absent = the SDK's default chain. */
  credentials?: () => Promise<AwsCredentials>;
}

type DeserializeMiddleware = (next: (args: never) => Promise<unknown>) => (args: never) => Promise<unknown>;

/** What was seen of an answer, whatever became of it. */
interface SeenAnswer {
  requestID?: string;
}

/** A command of an AWS SDK, as far as it is used here. */
interface SdkCommand {
  readonly middlewareStack: { add(middleware: DeserializeMiddleware, options: object): void };
}

/** A client of an AWS SDK. */
interface SdkClient {
  destroy(): void;
}

/** What makes one service's SDK known: its package, loaded at the first call, and its client. */
export interface AwsServiceDescription<Sdk, Client extends SdkClient> {
  /** What stands before the colon in IAM policies. */
  readonly iamPrefix: string;
  load(): Promise<Sdk>;
  connect(sdk: Sdk, config: ClientConfig): Client;
  readonly endpoint: (settings: AwsSettings) => string | undefined;
  readonly signing: (settings: AwsSettings) => AwsSigning | undefined;
}

/** One request, as the thin clients describe it. */
export interface Call<Sdk, Client, Answer> extends CallOptions {
  verb: Verb;
  /** Name of the API's operation, for example `DescribeInstances`. */
  operation: string;
  /** Makes the command, hands it to `prepare`, and sends it. */
  send(sdk: Sdk, client: Client, prepare: <C>(command: C) => C, signal: { abortSignal?: AbortSignal }): Promise<Answer>;
}

/**
 * Calls to one AWS service. Each request passes the account's limits, is counted, and asks for the right to write as the last statement before
 * it goes out, behind signing and the search for credentials. The SDK's own retries are off. Throttled requests are tried again within one
 * budget, and unavailability and lost answers too, except for creates: whether those have made something is for the caller to find out.
 * Every method throws OperatorError with the failure's class.
 */
export class AwsService<Sdk, Client extends SdkClient> {
  readonly retryPolicy: RetryPolicy;
  private readonly gate: CallGate;
  private connected: Promise<{ sdk: Sdk; client: Client }> | undefined;

  constructor(
    private readonly description: AwsServiceDescription<Sdk, Client>,
    private readonly options: AwsClientOptions,
  ) {
    this.gate = options.calls ?? openGate;
    const { clock = systemClock, random = Math.random, budgetMs = DEFAULT_BUDGET_MS } = options;
    this.retryPolicy = { clock, random, budgetMs };
  }

  call<Answer>(call: Call<Sdk, Client, Answer>): Promise<Answer> {
    return retry(
      this.retryPolicy,
      (extend) => this.admitted(call, extend),
      (error) => worthRetrying(call.verb, error),
      call.signal,
    );
  }

  /** Everything on all pages; a page that fails fails the whole list. */
  async pages<Item>(
    page: (token: string | undefined) => Promise<{ items: Item[] | undefined; next: string | undefined }>,
  ): Promise<Item[]> {
    const found: Item[] = [];
    let token: string | undefined;
    do {
      const { items, next } = await page(token);
      for (const item of items ?? []) found.push(item);
      token = next === '' ? undefined : next;
    } while (token !== undefined);
    return found;
  }

  /** The next call looks for credentials anew. */
  forgetCredentials(): void {
    this.close();
  }

  close(): void {
    const { connected } = this;
    this.connected = undefined;
    connected?.then(
      ({ client }) => client.destroy(),
      () => undefined,
    );
  }

  private async admitted<Answer>(call: Call<Sdk, Client, Answer>, extend: (ms: number) => void): Promise<Answer> {
    const { clock } = this.retryPolicy;
    const queuedAt = clock.monotonic();
    const settle = await this.gate.acquire(call.verb, call.signal);
    extend(clock.monotonic() - queuedAt);
    const seen: SeenAnswer = {};
    try {
      const { sdk, client } = await this.connect();
      const signal = call.signal === undefined ? {} : { abortSignal: call.signal };
      const answer = await call.send(sdk, client, (command) => this.prepare(command, call, seen), signal);
      settle({ kind: 'Answered', ...seen });
      return answer;
    } catch (thrown) {
      const error = awsFailure(thrown, this.named(call));
      settle({ ...outcomeOf(error), ...seen });
      throw error;
    }
  }

  /** Puts counting and the right to write behind everything that the SDK does itself; what fails there is the connection. */
  private prepare<C>(command: C, call: Call<Sdk, Client, unknown>, seen: SeenAnswer): C {
    const { verb, assertValid } = call;
    const guard: DeserializeMiddleware = (next) => async (args) => {
      if (verb !== 'get' && verb !== 'list') assertValid?.();
      this.options.onCall?.(verb);
      try {
        const answer = await next(args);
        Object.assign(seen, requestIDOf(answer));
        return answer;
      } catch (thrown) {
        throw awsFailure(thrown, this.named(call));
      }
    };
    (command as SdkCommand).middlewareStack.add(guard, {
      step: 'deserialize',
      priority: 'low',
      name: 'cloudOperatorGuard',
      override: true,
    });
    return command;
  }

  private connect(): Promise<{ sdk: Sdk; client: Client }> {
    this.connected ??= this.open();
    this.connected.catch(() => (this.connected = undefined));
    return this.connected;
  }

  private async open(): Promise<{ sdk: Sdk; client: Client }> {
    const sdk = await this.description.load();
    return { sdk, client: this.description.connect(sdk, this.config()) };
  }

  private config(): ClientConfig {
    const { settings } = this.options;
    const { endpoint, signing, iamPrefix } = this.description;
    const { region = settings.region, name = iamPrefix } = signing(settings) ?? {};
    const config = clientConfig(this.options, endpoint(settings));
    if (region === settings.region && name === iamPrefix) return config;
    return { ...config, httpAuthSchemeProvider: () => [signedFor({ region, name })] };
  }

  private named({ operation }: { operation: string }): AwsCall {
    const endpoint = this.description.endpoint(this.options.settings);
    return { action: `${this.description.iamPrefix}:${operation}`, ...(endpoint !== undefined && { endpoint }) };
  }
}

/** Of an answer as it came, before anything is made of it: a refusal has one too. */
function requestIDOf(answer: unknown): SeenAnswer {
  const { headers = {} } = (answer as { response?: { headers?: Record<string, string> } }).response ?? {};
  const requestID = headers['x-amzn-requestid'] ?? headers['x-amz-request-id'];
  return requestID === undefined ? {} : { requestID };
}

function clientConfig({ settings, credentials }: AwsClientOptions, endpoint: string | undefined): ClientConfig {
  const given = settings.credentials ?? credentials;
  return {
    region: settings.region,
    maxAttempts: 1,
    requestHandler: REQUEST_HANDLER,
    ...(settings.useFIPSEndpoints === true && { useFipsEndpoint: true }),
    ...(settings.useDualStackEndpoints === true && { useDualstackEndpoint: true }),
    ...(endpoint !== undefined && { endpoint }),
    ...(given !== undefined && { credentials: given }),
  };
}

/** The part of every SDK client's configuration that is set here. */
export interface ClientConfig {
  region: string;
  maxAttempts: number;
  requestHandler: typeof REQUEST_HANDLER;
  useFipsEndpoint?: boolean;
  useDualstackEndpoint?: boolean;
  endpoint?: string;
  credentials?: AwsIdentity;
  httpAuthSchemeProvider?: () => SigningOption[];
}

interface SigningOption {
  schemeId: string;
  signingProperties: { signingRegion: string; signingName: string };
  propertiesExtractor: (config: object, context: object) => { signingProperties: { config: object; context: object } };
}

/** How the SDK is told to sign, in place of its own reading of service and region. */
function signedFor({ region: signingRegion, name: signingName }: { region: string; name: string }): SigningOption {
  return {
    schemeId: 'aws.auth#sigv4',
    signingProperties: { signingRegion, signingName },
    propertiesExtractor: (config, context) => ({ signingProperties: { config, context } }),
  };
}

/** Credentials in the SDK's terms, or who knows them. */
type AwsIdentity = { accessKeyId: string; secretAccessKey: string } | (() => Promise<{ accessKeyId: string; secretAccessKey: string }>);

function worthRetrying(verb: Verb, error: OperatorError): boolean {
  if (error.code === 'Throttled') return true;
  return error.code === 'Transient' && verb !== 'create';
}

/** What an error says about the account. One action that is not allowed says nothing against the credentials. */
function outcomeOf(error: OperatorError): CallOutcome {
  if (error.code === 'Throttled') {
    return { kind: 'Throttled', ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }) };
  }
  if (refusesCredentials(error)) return { kind: 'Refused', message: error.message };
  const unsaid = !(error instanceof AwsError) || error.code === 'Transient' || error.code === 'Canceled';
  return { kind: unsaid ? 'Unanswered' : 'Answered' };
}
