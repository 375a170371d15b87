import { isDeepStrictEqual } from 'node:util';
import type { AWSProviderSettings } from '../../../crds';
import { systemClock, type Clock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import type { ConnectContext } from '../../provider';
import { assumeRole } from './assume-role';
import { REQUEST_HANDLER, type AwsClientOptions } from '../client/aws-client';
import { awsFailure } from '../client/aws-error';
import type { AwsCredentials, AwsSettings } from '../client/settings';
import type { HostKind } from './sts-endpoint';

/** What is left of their time for an update to begin with them: more than an update may take. */
const ENOUGH_MS = 15 * 60_000;

/** Credentials as the SDK's providers give them. */
export interface FoundCredentials extends AwsCredentials {
  expiration?: Date;
}

/** The SDK's own search: it keeps what it finds, and looks again shortly before that ends, or at once. */
export type CredentialChain = (options?: { forceRefresh?: boolean }) => Promise<FoundCredentials>;

export interface AccountContext extends ConnectContext {
  region: string;
  clock?: Clock;
  /** Opens the search; absent = the SDK's default chain: environment, files, web identity (IRSA), containers (Pod Identity), the instance's role. */
  openChain?: (of: ChainSettings) => Promise<CredentialChain>;
}

/** What the SDK is told for its search. */
export interface ChainSettings {
  region: string;
  profile?: string;
  /** Of the hosts that it asks: STS for a web identity or a profile's role. */
  host: HostKind;
}

/** One account and region, with the credentials of today. */
export class AwsAccount {
  private readonly settings: AwsSettings;
  private readonly clock: Clock;
  /** What was found last; workers get it. */
  private known: FoundCredentials | undefined;
  /** Those without the role, as found last. */
  private base: FoundCredentials | undefined;
  private chain: Promise<CredentialChain> | undefined;
  private assuming: Promise<FoundCredentials> | undefined;

  constructor(
    private readonly aws: AWSProviderSettings,
    private readonly context: AccountContext,
  ) {
    this.clock = context.clock ?? systemClock;
    this.settings = {
      region: context.region,
      ...endpointsOf(aws),
      useFIPSEndpoints: aws.useFIPSEndpoints,
      useDualStackEndpoints: aws.useDualStackEndpoints,
    };
  }

  get region(): string {
    return this.settings.region;
  }

  clientOptions(): AwsClientOptions {
    const { calls } = this.context;
    return { settings: this.settings, credentials: () => this.find(), ...(calls !== undefined && { calls }) };
  }

  /** Holds secrets: never stored, never logged. */
  workerSettings(): JsonObject {
    const { accessKeyId, secretAccessKey, sessionToken } = this.known ?? {};
    const credentials = accessKeyId === undefined ? undefined : { accessKeyId, secretAccessKey, sessionToken };
    return JSON.parse(JSON.stringify({ ...this.settings, credentials })) as JsonObject;
  }

  /**
   * Looks for the credentials anew.
   * @param sessions also where they are sessions, of which each search makes another one; else those stay what they are
   * @returns true when they are others, and not another session
   */
  async renew(sessions: boolean): Promise<boolean> {
    const before = this.base;
    if (!sessions && before?.expiration !== undefined) return false;
    this.chain = undefined;
    const base = await this.own({ forceRefresh: true });
    const others = !isDeepStrictEqual(base, before);
    if (others || sessions) await this.use(base);
    return others && before?.expiration === undefined;
  }

  /** Workers have no environment of their own to look in, so what they get must last as long as they work. */
  async ensure(): Promise<void> {
    if (!this.lasts(await this.find())) await this.find({ forceRefresh: true });
  }

  /** @throws OperatorError Credentials when there are none; NotFound where a Secret is named that isn't there */
  private async find(options: { forceRefresh?: boolean } = {}): Promise<FoundCredentials> {
    const { assumeRole: role } = this.aws;
    // The SDK's own search keeps what it finds, and so must we.
    if (role !== undefined && this.known !== undefined && options.forceRefresh !== true && this.lasts(this.known)) return this.known;
    this.known = role === undefined ? await this.own(options) : await this.assumed(role);
    return this.known;
  }

  /** Has these used from now on, by themselves or for the role. */
  private async use(base: FoundCredentials): Promise<void> {
    const { assumeRole: role } = this.aws;
    this.known = role === undefined ? base : await this.assumed(role);
  }

  /** True while they are enough for an update to begin with. */
  private lasts({ expiration }: FoundCredentials): boolean {
    return (expiration?.getTime() ?? Infinity) - this.clock.now() >= ENOUGH_MS;
  }

  private get host(): HostKind {
    return { fips: this.aws.useFIPSEndpoints, dualStack: this.aws.useDualStackEndpoints };
  }

  /** One request, however many clients ask. */
  private assumed(role: NonNullable<AWSProviderSettings['assumeRole']>): Promise<FoundCredentials> {
    const { url: endpoint, signingRegion, signingName } = this.aws.endpoints?.find(({ service }) => service === 'STS') ?? {};
    const signing = { region: signingRegion ?? this.settings.region, name: signingName ?? 'sts' };
    const of = { role, region: this.settings.region, signing, host: this.host, ...(endpoint !== undefined && { endpoint }) };
    this.assuming ??= assumeRole(of, (options) => this.own(options ?? {})).finally(() => (this.assuming = undefined));
    return this.assuming;
  }

  /** Without the role. */
  private async own(options: { forceRefresh?: boolean }): Promise<FoundCredentials> {
    const { credentialsSecretRef: secret } = this.aws;
    this.base = await (secret === undefined ? this.fromChain(options) : this.fromSecret(secret));
    return this.base;
  }

  private async fromChain(options: { forceRefresh?: boolean }): Promise<FoundCredentials> {
    const { openChain = defaultChain } = this.context;
    const { profile } = this.aws;
    this.chain ??= openChain({ region: this.settings.region, host: this.host, ...(profile !== undefined && { profile }) });
    try {
      return await (
        await this.chain
      )(options);
    } catch (thrown) {
      throw awsFailure(thrown, { action: 'the search for credentials' });
    }
  }

  private async fromSecret(ref: NonNullable<AWSProviderSettings['credentialsSecretRef']>): Promise<AwsCredentials> {
    const { accessKeyIDKey, secretAccessKeyKey, sessionTokenKey } = ref;
    const keys = [accessKeyIDKey, secretAccessKeyKey, ...(sessionTokenKey === undefined ? [] : [sessionTokenKey])];
    const values = await this.context.readSecret(ref.name, keys);
    const [accessKeyId = '', secretAccessKey = '', sessionToken] = values.map((value) => value.trim());
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  }
}

/** The chain asks STS by clients of its own, which take from this one how to send, and from `clientConfig` which of AWS's hosts are asked. */
async function defaultChain({ region, profile, host }: ChainSettings): Promise<CredentialChain> {
  const { EC2Client } = await import('@aws-sdk/client-ec2');
  const clientConfig = {
    ...(host.fips && { useFipsEndpoint: true }),
    ...(host.dualStack && { useDualstackEndpoint: true }),
  };
  const settings = { region, requestHandler: REQUEST_HANDLER, clientConfig, ...(profile !== undefined && { profile }) };
  return new EC2Client(settings).config.credentials as CredentialChain;
}

/** Where each API is, and what requests to it are signed for. */
function endpointsOf({ endpoints = [] }: AWSProviderSettings): Pick<AwsSettings, 'endpoints' | 'signing'> {
  const ours = endpoints.filter(({ service }) => service !== 'STS');
  const signed = ours.filter(({ signingRegion, signingName }) => signingRegion !== undefined || signingName !== undefined);
  return {
    endpoints: Object.fromEntries(ours.map(({ service, url }) => [service, url])),
    signing: Object.fromEntries(signed.map(({ service, signingRegion: region, signingName: name }) => [service, { region, name }])),
  };
}
