import { isUtf8 } from 'node:buffer';
import { OperatorError } from '../../base/errors';
import type { KubeApi } from '../../kube/api';
import { SECRETS, type KubeObject } from '../../kube/object';

type Secret = KubeObject & { data?: Record<string, string> };

/** The Secret that a CloudProvider names is not there, or is not whole. */
export class SecretMissing extends OperatorError {
  constructor(
    what: string,
    readonly secret: string,
    readonly keys: readonly string[],
    namespace: string,
  ) {
    const literals = keys.map((key) => `--from-literal=${key}=…`).join(' ');
    super('Credentials', what, {
      reason: 'SecretMissing',
      remedy: `Make it, and it is used at once: kubectl -n ${namespace} create secret generic ${secret} ${literals}`,
    });
  }
}

/** The Secrets with credentials, all in the operator's own namespace (design: Who may do what). */
export class ProviderSecrets {
  constructor(
    private readonly api: Pick<KubeApi, 'get'>,
    private readonly namespace: string,
  ) {}

  /**
   * @returns the values of the keys, in their order; of one that is no text (UTF-8) each character is a byte
   * @throws SecretMissing, or another OperatorError when it can't be read
   */
  async read(name: string, keys: readonly string[]): Promise<string[]> {
    const secret = await this.api.get<Secret>(SECRETS, `${this.namespace}/${name}`);
    const absent = keys.filter((key) => secret?.data?.[key] === undefined);
    if (absent.length > 0)
      throw new SecretMissing(this.sayMissing(name, keys, secret === undefined ? undefined : absent), name, keys, this.namespace);
    return keys.map((key) => {
      const bytes = Buffer.from(secret?.data?.[key] ?? '', 'base64');
      return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
    });
  }

  /** @param absent undefined = the whole Secret */
  private sayMissing(name: string, keys: readonly string[], absent: readonly string[] | undefined): string {
    const quoted = (some: readonly string[]): string => `${some.length === 1 ? 'key' : 'keys'} ${some.map((key) => `"${key}"`).join(', ')}`;
    const secret = `Secret "${name}" in namespace ${this.namespace}`;
    return absent === undefined ? `there is no ${secret}, which is to have the ${quoted(keys)}` : `${secret} has no ${quoted(absent)}`;
  }
}
