import type { AWSProviderSettings, CloudProviderSpec } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import type { ConnectContext } from '../provider';
import type { AwsClientOptions } from './client/aws-client';
import type { AwsCredentials, AwsSettings } from './client/settings';

/** One account and region, with the credentials of today. */
export class AwsAccount {
  private readonly settings: AwsSettings;
  /** What was found last; workers get it. */
  private known: AwsCredentials | undefined;
  /** The SDK's default chain, which keeps what it finds until that expires. */
  private chain: Promise<() => Promise<AwsCredentials>> | undefined;

  /** @throws OperatorError Invalid naming the setting that can't work */
  constructor(
    spec: CloudProviderSpec,
    private readonly aws: AWSProviderSettings,
    private readonly context: ConnectContext,
  ) {
    for (const field of ['profile', 'assumeRole'] as const) {
      if (aws[field] === undefined) continue;
      const remedy = 'Give the operator the role itself, or use spec.aws.credentialsSecretRef.';
      throw new OperatorError('Invalid', `spec.aws.${field} is not served. ${remedy}`, { field: `spec.aws.${field}`, remedy });
    }
    this.settings = {
      region: regionOf(spec),
      endpoints: endpointsOf(aws),
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
    const credentials = this.known === undefined ? {} : { credentials: this.known };
    return JSON.parse(JSON.stringify({ ...this.settings, ...credentials })) as JsonObject;
  }

  /** Looks for the credentials anew. */
  async renew(): Promise<void> {
    this.chain = undefined;
    await this.find();
  }

  private async find(): Promise<AwsCredentials> {
    this.known = this.aws.credentialsSecretRef === undefined ? await this.fromChain() : await this.fromSecret();
    return this.known;
  }

  private async fromChain(): Promise<AwsCredentials> {
    this.chain ??= defaultChain(this.settings.region);
    const { accessKeyId, secretAccessKey, sessionToken } = await (await this.chain)();
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  }

  private async fromSecret(): Promise<AwsCredentials> {
    const ref = this.aws.credentialsSecretRef;
    if (ref === undefined) return this.fromChain();
    const read = async (key: string): Promise<string> => (await this.context.readSecret(ref.name, key)).trim();
    const sessionToken = ref.sessionTokenKey === undefined ? {} : { sessionToken: await read(ref.sessionTokenKey) };
    return { accessKeyId: await read(ref.accessKeyIDKey), secretAccessKey: await read(ref.secretAccessKeyKey), ...sessionToken };
  }
}

async function defaultChain(region: string): Promise<() => Promise<AwsCredentials>> {
  const { EC2Client } = await import('@aws-sdk/client-ec2');
  const { config } = new EC2Client({ region });
  return async () => await config.credentials();
}

function regionOf({ region }: CloudProviderSpec): string {
  if (region !== undefined) return region;
  const remedy = 'Set spec.region, for example eu-central-1.';
  throw new OperatorError('Invalid', `the CloudProvider names no region. ${remedy}`, { field: 'spec.region', remedy });
}

function endpointsOf({ endpoints = [] }: AWSProviderSettings): NonNullable<AwsSettings['endpoints']> {
  const urlOf = (name: string): string | undefined => endpoints.find(({ service }) => service === name)?.url;
  const [ec2, elb] = [urlOf('EC2'), urlOf('ElasticLoadBalancingV2')];
  return { ...(ec2 !== undefined && { EC2: ec2 }), ...(elb !== undefined && { ElasticLoadBalancingV2: elb }) };
}
