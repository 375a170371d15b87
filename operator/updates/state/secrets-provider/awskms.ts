import type * as AwsKms from '@aws-sdk/client-kms';
import { OperatorError } from '../../../base/errors';
import { awsKmsFailure, type KmsAction } from './awskms-failure';
import type { EncryptionContext, KeyEncryptionKey, SecretsProvider, WrappedKey } from './secrets-provider';

const SCHEME = 'awskms';
const SYNTAX = 'awskms://alias/NAME?region=REGION, awskms://KEY-ID?region=REGION or awskms:///ARN';
/** An alias, the id of a key, or the ARN of either; in words of the KMS API. */
const NAME = /^(?:alias\/[\w/-]+|[\w-]+|arn:[\w-]+:kms:([a-z0-9-]+):\d{12}:(?:key|alias)\/[\w/-]+)$/;
const REGION = /^[a-z]{2,}(?:-[a-z]+)+-\d+$/;
/** An update waits for the answer. */
const TIMEOUTS = { connectionTimeout: 3_000, requestTimeout: 10_000 };

/** AWS KMS. Credentials, region and endpoint come as for every AWS SDK: default chain, AWS_REGION, AWS_ENDPOINT_URL_KMS, AWS_ENDPOINT_URL. */
export const AWSKMS: SecretsProvider = {
  scheme: SCHEME,
  syntax: SYNTAX,
  key: (url) => new AwsKmsKey(url, parse(url)),
};

interface AwsKeyName {
  name: string;
  /** Absent = the SDK's own. */
  region?: string;
}

/** @throws OperatorError Invalid */
function parse(url: string): AwsKeyName {
  const [path = '', query = ''] = url.slice(`${SCHEME}://`.length).split('?');
  const name = path.replace(/^\//, '');
  const match = NAME.exec(name);
  if (match === null) throw invalid(url, `"${name}" is no alias, key id or ARN`);
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((key) => key !== 'region');
  if (unknown !== undefined) throw invalid(url, `parameter "${unknown}" is unknown; "region" is known`);
  const region = parameters.get('region') ?? match[1];
  if (region !== undefined && !REGION.test(region)) throw invalid(url, `"${region}" is no region`);
  return { name, ...(region === undefined ? {} : { region }) };
}

function invalid(url: string, why: string): OperatorError {
  return new OperatorError('Invalid', `secrets provider "${url}": ${why}`, { remedy: `write ${SYNTAX}` });
}

class AwsKmsKey implements KeyEncryptionKey {
  constructor(
    readonly url: string,
    private readonly key: AwsKeyName,
  ) {}

  async generateDataKey(context: EncryptionContext): Promise<{ plaintext: Buffer; wrapped: WrappedKey }> {
    const request = { KeyId: this.key.name, KeySpec: 'AES_256', EncryptionContext: context } as const;
    const { Plaintext, CiphertextBlob, KeyId } = await this.#call(
      'kms:GenerateDataKey',
      request.KeyId,
      ({ GenerateDataKeyCommand }, client) => client.send(new GenerateDataKeyCommand(request)),
    );
    const wrapped = { key: KeyId ?? this.key.name, ciphertext: Buffer.from(CiphertextBlob ?? []).toString('base64') };
    return { plaintext: Buffer.from(Plaintext ?? []), wrapped };
  }

  async decrypt({ key, ciphertext }: WrappedKey, context: EncryptionContext): Promise<Buffer> {
    const request = { KeyId: key, CiphertextBlob: Buffer.from(ciphertext, 'base64'), EncryptionContext: context };
    const { Plaintext } = await this.#call('kms:Decrypt', key, ({ DecryptCommand }, client) => client.send(new DecryptCommand(request)));
    return Buffer.from(Plaintext ?? []);
  }

  /** A client for each call: there is one at a start and a few at a rotation. */
  async #call<T>(action: KmsAction, key: string, send: (sdk: typeof AwsKms, client: AwsKms.KMSClient) => Promise<T>): Promise<T> {
    const sdk = await import('@aws-sdk/client-kms'); // only here: most operators need no AWS SDK
    const { region } = this.key;
    const client = new sdk.KMSClient({ requestHandler: TIMEOUTS, ...(region === undefined ? {} : { region }) });
    try {
      return await send(sdk, client);
    } catch (thrown) {
      throw awsKmsFailure(thrown, { action, key, url: this.url });
    } finally {
      client.destroy();
    }
  }
}
