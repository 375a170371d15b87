import { OperatorError } from '../../base/errors';
import type { KubeApi } from '../../kube/api';
import { SECRETS } from '../../kube/object';
import { isAlreadyExists } from '../../kube/status';
import { type Keyring, newKeyring } from './keyring';
import type { KeyringEnvelope } from './keyring-envelope';
import { type Secret, STATE_TYPE } from './state-secret';

/** Name and type of the Secret with the data keys. */
export const KEY_SECRET = 'cloud-operator-state-key';
const KEY_TYPE = 'cloud-operator.dev/state-key';
const KEYRING = 'keyring.json';

/** What is in the Secret, and the keys that this means. */
interface StoredKeys {
  text: string;
  ring: Keyring;
  resourceVersion: string;
}

/** The data keys in the cluster: one Secret beside the stacks. */
export class KeySecret {
  constructor(
    private readonly api: KubeApi,
    private readonly namespace: string,
    private readonly envelope: KeyringEnvelope,
  ) {}

  /** @throws OperatorError Invalid when the keys are gone although there are stacks, or are no keys; as KeyEncryptionKey does */
  async read(): Promise<Keyring> {
    const { ring } = (await this.#stored()) ?? (await this.#make());
    return ring;
  }

  /** @param secretsProvider as StateStore.changeKeyring. @throws OperatorError as `read` */
  async change(change: (ring: Keyring) => Keyring, secretsProvider?: string): Promise<Keyring> {
    for (;;) {
      const { text, ring, resourceVersion } = (await this.#stored()) ?? (await this.#make());
      const changed = change(ring);
      const data = encode(await this.envelope.replace(text, changed, secretsProvider));
      try {
        await this.api.patch(SECRETS, this.#key, 'merge', { metadata: { resourceVersion }, data });
        return changed;
      } catch (thrown) {
        if (!(thrown instanceof OperatorError) || thrown.code !== 'Conflict') throw thrown;
      }
    }
  }

  get #key(): string {
    return `${this.namespace}/${KEY_SECRET}`;
  }

  async #stored(): Promise<StoredKeys | undefined> {
    const secret = await this.api.get<Secret>(SECRETS, this.#key);
    return secret === undefined ? undefined : this.#decode(secret);
  }

  /** A new key beside stacks that were written with a lost one would hide the loss. */
  async #make(): Promise<StoredKeys> {
    const selection = { namespace: this.namespace, fieldSelector: `type=${STATE_TYPE}`, metadataOnly: true };
    const stacks = await this.api.list(SECRETS, selection);
    if (stacks.length > 0) {
      throw new OperatorError('Invalid', `Secret ${this.#key}, which holds the data key of ${stacks.length} stacks, is gone`, {
        reason: 'WrongKey',
        remedy: 'restore it from a backup; without one, delete the stacks’ Secrets too, and they are rebuilt from the cloud',
      });
    }
    const labels = { 'app.kubernetes.io/managed-by': 'cloud-operator' };
    const data = encode(await this.envelope.first(newKeyring()));
    try {
      const body = { metadata: { name: KEY_SECRET, labels }, type: KEY_TYPE, data };
      return await this.#decode(await this.api.create<Secret>(SECRETS, this.namespace, body));
    } catch (thrown) {
      const other = isAlreadyExists(thrown) ? await this.#stored() : undefined;
      if (other === undefined) throw thrown;
      return other;
    }
  }

  async #decode(secret: Secret): Promise<StoredKeys> {
    const text = Buffer.from(secret.data?.[KEYRING] ?? '', 'base64').toString('utf8');
    return { text, ring: await this.envelope.open(text, `Secret ${this.#key}`), resourceVersion: secret.metadata.resourceVersion };
  }
}

function encode(text: string): Record<string, string> {
  return { [KEYRING]: Buffer.from(text).toString('base64') };
}
