import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { OperatorError } from '../../../base/errors';
import { type EndpointContext, type EndpointRequest, type Route, STACK } from './router';
import { assertOwnStack } from './stacks';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM under the store's key, bound to the stack: a value copied from another stack doesn't decrypt. Nonce, tag, ciphertext. */
export class SecretsCipher {
  constructor(
    private readonly key: Buffer,
    private readonly stack: string,
  ) {}

  encrypt(plaintext: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(this.stack));
    const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** @throws OperatorError Invalid when the value was made with another key or for another stack */
  decrypt(ciphertext: Buffer): Buffer {
    try {
      const nonce = ciphertext.subarray(0, NONCE_BYTES);
      const tag = ciphertext.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(this.stack)).setAuthTag(tag);
      return Buffer.concat([decipher.update(ciphertext.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch (error) {
      throw new OperatorError('Invalid', `a secret of stack ${this.stack} can't be decrypted with the key of this store`, {
        remedy: 'restore the key file that belongs to this state',
        cause: error,
      });
    }
  }
}

/** Secret values of type "service": the engine sends and gets base64. */
export const secretRoutes: Route[] = [
  { method: 'POST', pattern: new RegExp(`^${STACK}/encrypt$`), handle: encrypt },
  { method: 'POST', pattern: new RegExp(`^${STACK}/decrypt$`), handle: decrypt },
  { method: 'POST', pattern: new RegExp(`^${STACK}/batch-encrypt$`), handle: batchEncrypt },
  { method: 'POST', pattern: new RegExp(`^${STACK}/batch-decrypt$`), handle: batchDecrypt },
  // The CLI reports that it decrypted something; nobody audits that here.
  { method: 'POST', pattern: new RegExp(`^${STACK}/decrypt/log-(?:batch-)?decryption$`), handle: () => ({}) },
];

function encrypt(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  const { plaintext } = request.body as { plaintext: string };
  return { ciphertext: context.cipher.encrypt(bytes(plaintext)).toString('base64') };
}

function decrypt(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  const { ciphertext } = request.body as { ciphertext: string };
  return { plaintext: context.cipher.decrypt(bytes(ciphertext)).toString('base64') };
}

function batchEncrypt(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  const { plaintexts } = request.body as { plaintexts: string[] };
  return { ciphertexts: plaintexts.map((plaintext) => context.cipher.encrypt(bytes(plaintext)).toString('base64')) };
}

function batchDecrypt(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  const { ciphertexts } = request.body as { ciphertexts: string[] };
  const entries = ciphertexts.map((ciphertext) => [ciphertext, context.cipher.decrypt(bytes(ciphertext)).toString('base64')] as const);
  return { plaintexts: Object.fromEntries(entries) };
}

/** Go sends an empty byte slice as null. */
function bytes(base64: string | null): Buffer {
  return Buffer.from(base64 ?? '', 'base64');
}
