import { createPrivateKey } from 'node:crypto';
import type { pkcs12 } from 'node-forge';

/** How a file in DER begins; PEM begins with a word. */
const SEQUENCE = 0x30;

/** Pure. */
export function isPkcs12(file: Buffer): boolean {
  return file[0] === SEQUENCE;
}

/**
 * A PKCS #12 file (PFX) as PEM: its certificate, those that come with it, and its private key, which is no longer encrypted. The key must be RSA, as
 * Microsoft Entra ID has it for certificates.
 * @param password absent = none
 * @throws Error when it can't be read, has another password, or holds no certificate with its RSA key
 */
export async function pemOfPkcs12(file: Buffer, password: string | undefined): Promise<string> {
  // Only who has such a file loads it.
  const { default: forge } = await import('node-forge');
  const encoded = forge.asn1.fromDer(file.toString('latin1'));
  const open = (word?: string): pkcs12.Pkcs12Pfx => forge.pkcs12.pkcs12FromAsn1(encoded, word as string);
  const bags = bagsOf(password === undefined ? openWithout(open) : open(password));
  const keyBag = bags.find(({ key }) => key !== null && key !== undefined);
  const certificates = bags.flatMap(({ cert, attributes }) =>
    cert === null || cert === undefined ? [] : [{ cert, id: idOf(attributes) }],
  );
  const own = certificates.find(({ id }) => id === idOf(keyBag?.attributes)) ?? certificates[0];
  if (keyBag?.key === null || keyBag?.key === undefined || own === undefined) throw new Error('it holds no certificate with its RSA key');
  const rest = certificates.filter((one) => one !== own);
  const pem = createPrivateKey(forge.pki.privateKeyToPem(keyBag.key)).export({ type: 'pkcs8', format: 'pem' });
  return [...[own, ...rest].map(({ cert }) => forge.pki.certificateToPem(cert)), pem].join('');
}

/** Some tools write an empty word, and some none. */
function openWithout(open: (word?: string) => pkcs12.Pkcs12Pfx): pkcs12.Pkcs12Pfx {
  try {
    return open('');
  } catch {
    return open();
  }
}

function bagsOf({ safeContents }: pkcs12.Pkcs12Pfx): pkcs12.Bag[] {
  return safeContents.flatMap(({ safeBags }) => safeBags);
}

/** What a key and its certificate have in common. */
function idOf(attributes: unknown): string | undefined {
  return (attributes as { localKeyId?: string[] } | undefined)?.localKeyId?.[0];
}
