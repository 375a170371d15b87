import { OperatorError, type ErrorCode } from '../../../operator/base/errors';

const DEFAULT_ENDPOINT = 'http://169.254.169.254';
const TIMEOUT_MS = 3_000;
/** How it says that there is none of what was asked for, or that the instance may ask for nothing. */
const NONE: readonly number[] = [403, 404];
const TOKEN_SECONDS = '60';

/** What the instance on which the operator runs says of itself (IMDSv2). */
export class InstanceMetadata {
  /** @param environment the SDK's own variables say where it is, or that it isn't to be asked */
  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  region(): Promise<string> {
    return this.read('placement/region');
  }

  /** Of the first interface. */
  async vpcID(): Promise<string> {
    return this.read(`network/interfaces/macs/${await this.read('mac')}/vpc-id`);
  }

  instanceID(): Promise<string> {
    return this.read('instance-id');
  }

  /** @throws OperatorError NotFound where there is none of it; Transient when it isn't answered: nobody can tell whether this is no instance, or one that is busy */
  private async read(path: string): Promise<string> {
    const { AWS_EC2_METADATA_DISABLED: disabled, AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint = DEFAULT_ENDPOINT } = this.environment;
    if (disabled?.toLowerCase() === 'true') throw failure('NotFound', 'AWS_EC2_METADATA_DISABLED says that it is not to be asked');
    const base = `${endpoint.replace(/\/$/, '')}/latest`;
    const token = await request(`${base}/api/token`, 'PUT', { 'x-aws-ec2-metadata-token-ttl-seconds': TOKEN_SECONDS });
    return request(`${base}/meta-data/${path}`, 'GET', { 'x-aws-ec2-metadata-token': token });
  }
}

async function request(url: string, method: 'GET' | 'PUT', headers: Record<string, string>): Promise<string> {
  const answer = await fetch(url, { method, headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (cause: unknown) => {
      throw failure('Transient', `${url} does not answer`, cause);
    },
  );
  const text = (await answer.text()).trim();
  if (!answer.ok || text === '') {
    throw failure(NONE.includes(answer.status) ? 'NotFound' : 'Transient', `${url} answers with HTTP status ${answer.status}`);
  }
  return text;
}

function failure(code: ErrorCode, why: string, cause?: unknown): OperatorError {
  return new OperatorError(code, `the metadata of the operator's own instance can't be read: ${why}`, { cause });
}
