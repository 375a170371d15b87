import { type Keyring, seal, unseal } from '../../state/keyring';
import { type EndpointContext, type EndpointRequest, type Route, STACK } from './router';
import { assertOwnStack } from './stacks';

/** The engine's secrets under the store's data keys, bound to the stack. */
export class SecretsCipher {
  constructor(
    private readonly ring: Keyring,
    private readonly stack: string,
  ) {}

  encrypt(plaintext: Buffer): Buffer {
    return seal(this.ring, plaintext, this.stack);
  }

  /** @throws OperatorError Invalid (reason WrongKey) when the value was made with another key or for another stack */
  decrypt(ciphertext: Buffer): Buffer {
    return unseal(this.ring, ciphertext, this.stack);
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
  return decryptOne(request, context.cipher);
}

/** The answer to `decrypt`. */
export function decryptOne(request: EndpointRequest, cipher: SecretsCipher): object {
  const { ciphertext } = request.body as { ciphertext: string };
  return { plaintext: cipher.decrypt(bytes(ciphertext)).toString('base64') };
}

function batchEncrypt(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  const { plaintexts } = request.body as { plaintexts: string[] };
  return { ciphertexts: plaintexts.map((plaintext) => context.cipher.encrypt(bytes(plaintext)).toString('base64')) };
}

function batchDecrypt(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  return decryptAll(request, context.cipher);
}

/** The answer to `batch-decrypt`. */
export function decryptAll(request: EndpointRequest, cipher: SecretsCipher): object {
  const { ciphertexts } = request.body as { ciphertexts: string[] };
  const entries = ciphertexts.map((ciphertext) => [ciphertext, cipher.decrypt(bytes(ciphertext)).toString('base64')] as const);
  return { plaintexts: Object.fromEntries(entries) };
}

/** Go sends an empty byte slice as null. */
function bytes(base64: string | null): Buffer {
  return Buffer.from(base64 ?? '', 'base64');
}
