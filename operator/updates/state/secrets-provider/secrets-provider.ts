/** What a wrapped data key is bound to: with another context the KMS does not unwrap it. */
export type EncryptionContext = Record<string, string>;

/** A data key as only its KMS can read it. */
export interface WrappedKey {
  /** The KMS's own, lasting name of the key that wraps: an alias may come to mean another one. */
  key: string;
  /** base64. */
  ciphertext: string;
}

/** A key that never leaves its KMS. Its methods throw OperatorError with the key, the action and what to do. */
export interface KeyEncryptionKey {
  /** As it was given. */
  readonly url: string;
  /** A new data key of 32 bytes. */
  generateDataKey(context: EncryptionContext): Promise<{ plaintext: Buffer; wrapped: WrappedKey }>;
  /** The data key in clear. */
  decrypt(wrapped: WrappedKey, context: EncryptionContext): Promise<Buffer>;
}

/** One kind of KMS, in Pulumi's words a secrets provider: a file of its own beside this one, and a line in registry.ts. */
export interface SecretsProvider {
  /** What stands before `://`. */
  readonly scheme: string;
  /** How its keys are written, for people. */
  readonly syntax: string;
  /**
   * The key that a URL of this scheme names; it is not asked for.
   * @throws OperatorError Invalid on a URL that can name none
   */
  key(url: string): KeyEncryptionKey;
}
