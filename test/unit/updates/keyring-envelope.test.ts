import { randomBytes } from 'node:crypto';
import { OperatorError } from '../../../operator/base/errors';
import { newKeyring, withNewKey } from '../../../operator/updates/state/keyring';
import { KeyringEnvelope, type KeyProtection } from '../../../operator/updates/state/keyring-envelope';
import type { EncryptionContext, KeyEncryptionKey, WrappedKey } from '../../../operator/updates/state/secrets-provider/secrets-provider';

/** A KMS in memory: keeps what it wrapped. */
class MemoryKms implements KeyEncryptionKey {
  readonly calls: string[] = [];
  down = false;
  readonly #wrapped = new Map<string, { plaintext: Buffer; context: string }>();

  constructor(readonly url: string) {}

  generateDataKey(context: EncryptionContext): Promise<{ plaintext: Buffer; wrapped: WrappedKey }> {
    this.#call('generate');
    const plaintext = randomBytes(32);
    const ciphertext = randomBytes(16).toString('base64');
    this.#wrapped.set(ciphertext, { plaintext, context: JSON.stringify(context) });
    return Promise.resolve({ plaintext, wrapped: { key: `arn of ${this.url}`, ciphertext } });
  }

  async decrypt({ ciphertext }: WrappedKey, context: EncryptionContext): Promise<Buffer> {
    this.#call('decrypt');
    await Promise.resolve();
    if (this.down) throw new OperatorError('Transient', 'the KMS is away', { reason: 'StateKeyUnavailable' });
    const known = this.#wrapped.get(ciphertext);
    if (known?.context !== JSON.stringify(context)) throw new OperatorError('Invalid', 'not mine', { reason: 'WrongKey' });
    return known.plaintext;
  }

  #call(what: string): void {
    this.calls.push(what);
  }
}

const ring = newKeyring();
const material = Object.values(ring.keys)[0]?.material ?? '';
const WHERE = 'Secret x';
let kms: Record<string, MemoryKms>;

beforeEach(() => {
  kms = { 'mem://one': new MemoryKms('mem://one'), 'mem://two': new MemoryKms('mem://two') };
});

function envelope(protection: KeyProtection = { secretsProvider: 'mem://one' }): KeyringEnvelope {
  return new KeyringEnvelope({ clusterID: () => Promise.resolve('here'), ...protection }, (url) =>
    url === 'default' ? undefined : kms[url],
  );
}

const calls = (): string[] => Object.values(kms).flatMap((one) => one.calls);

test('without a KMS the ring is stored as it is', async () => {
  const text = await envelope({}).first(ring);
  expect(JSON.parse(text)).toEqual(ring);
  expect(await envelope({}).open(text, WHERE)).toEqual(ring);
  expect(calls()).toEqual([]);
});

test('under a KMS nothing of the ring stands in clear, and another envelope opens it', async () => {
  const text = await envelope().first(ring);
  expect(text).not.toContain(material);
  expect(Buffer.from((JSON.parse(text) as { keyring: string }).keyring, 'base64').toString('latin1')).not.toContain(material);
  expect(await envelope({}).open(text, WHERE)).toEqual(ring);
});

test('the KMS is asked once, also by many at the same time and when it is away afterwards', async () => {
  const text = await envelope().first(ring);
  const started = envelope();
  const rings = await Promise.all(Array.from({ length: 5 }, () => started.open(text, WHERE)));
  kms['mem://one'] = Object.assign(kms['mem://one'] as MemoryKms, { down: true });
  expect([...rings, await started.open(text, WHERE)]).toEqual(Array.from({ length: 6 }, () => ring));
  expect(calls()).toEqual(['generate', 'decrypt']);
});

test('who wrote it need not ask', async () => {
  const writer = envelope();
  await writer.open(await writer.first(ring), WHERE);
  expect(calls()).toEqual(['generate']);
});

test('a KMS that is away is asked again by the next one', async () => {
  const text = await envelope().first(ring);
  const started = envelope();
  const one = kms['mem://one'] as MemoryKms;
  one.down = true;
  await expect(started.open(text, WHERE)).rejects.toMatchObject({ reason: 'StateKeyUnavailable' });
  one.down = false;
  expect(await started.open(text, WHERE)).toEqual(ring);
});

test('what replaces a ring is protected as before, unless told otherwise', async () => {
  const next = withNewKey(ring, '2026-01-01T00:00:00Z');
  const protector = (text: string): string | undefined => (JSON.parse(text) as { secretsProvider?: string }).secretsProvider;
  const writer = envelope({});
  const under = await envelope().first(ring);
  expect(protector(await writer.replace(under, next))).toBe('mem://one');
  const moved = await writer.replace(under, next, 'mem://two');
  expect(protector(moved)).toBe('mem://two');
  kms['mem://one'] = new MemoryKms('mem://one'); // the former one is not needed any more
  expect(await envelope().open(moved, WHERE)).toEqual(next);
  expect(JSON.parse(await writer.replace(moved, next, 'default'))).toEqual(next);
  expect(protector(await envelope().replace(JSON.stringify(ring), next))).toBeUndefined();
});

test('each write has a data key of its own', async () => {
  const [one, two] = await Promise.all([envelope().first(ring), envelope().first(ring)]);
  expect(new Set([one, two].map((text) => (JSON.parse(text) as WrappedKey).ciphertext)).size).toBe(2);
});

test('another cluster’s keys are refused, also with the name of ours on them', async () => {
  const text = await envelope({ secretsProvider: 'mem://one', clusterID: () => Promise.resolve('there') }).first(ring);
  await expect(envelope().open(text, WHERE)).rejects.toMatchObject({ code: 'Invalid', reason: 'ForeignState' });
  expect(calls()).toEqual(['generate']);
  await expect(envelope().open(text.replace('"there"', '"here"'), WHERE)).rejects.toMatchObject({ code: 'Invalid', reason: 'WrongKey' });
});

test.each([
  ['no JSON', () => 'nonsense'],
  ['changed', (text: string) => text.replace(/"keyring":"(.{60})/, (_, head: string) => `"keyring":"${[...head].reverse().join('')}`)],
  ['without its wrapped key', (text: string) => text.replace('"ciphertext"', '"other"')],
  ['of no KMS', (text: string) => text.replace('mem://one', 'default')],
])('what is %s is refused', async (_, change) => {
  const text = change(await envelope().first(ring));
  await expect(envelope().open(text, WHERE)).rejects.toMatchObject({
    code: 'Invalid',
    reason: 'WrongKey',
    message: expect.stringContaining(WHERE) as string,
  });
});

test('keys under something else than what was asked for are told, with the command', async () => {
  const told: string[] = [];
  const asked = { warn: (message: string) => void told.push(message) };
  const plain = JSON.stringify(ring);
  await envelope({ ...asked, secretsProvider: 'mem://one' }).open(plain, WHERE);
  expect(told).toEqual([
    'Secret x is protected by default, not by mem://one: "cloud-operator state rotate-key --secrets-provider=mem://one" changes that',
  ]);
  const under = await envelope().first(ring);
  await envelope({ ...asked, secretsProvider: 'mem://one' }).open(under, WHERE);
  await envelope({ ...asked, secretsProvider: 'default' }).open(under, WHERE);
  await envelope(asked).open(under, WHERE);
  expect(told).toHaveLength(1);
});
