import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Certificates } from '../../../operator/server/certificates';
import { selfSigned } from '../../../operator/server/self-signed';

const SNI = 'metrics.example.com';

const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-certificates-'));
const [certFile, keyFile] = ['sni.crt', 'sni.key'].map((name) => join(folder, name)) as [string, string];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes another certificate for the name. @returns it */
function issue(): string {
  const { cert, key } = selfSigned([SNI], Date.now());
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return cert;
}

/** The certificate that a server shows to who asks for a name. */
async function shownFor(server: Server, servername: string): Promise<Buffer> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return socket.getPeerCertificate().raw;
  } finally {
    socket.destroy();
  }
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');

test('the pair of --tls-sni-cert-key is read again, also beside a certificate that the server has made for itself', async () => {
  const first = issue();
  const named = [{ certFile, keyFile, names: [SNI] }];
  const certificates = new Certificates({ tls: { named }, pairName: 'pair', bindAddress: '127.0.0.1' });
  const server = createServer(certificates.options(''));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const own = await shownFor(server, 'localhost');
    expect(await shownFor(server, SNI)).toEqual(derOf(first));
    const second = issue();
    expect(certificates.reload()).toBe(false);
    expect(await shownFor(server, SNI)).toEqual(derOf(second));
    expect(await shownFor(server, 'localhost')).toEqual(own);

    writeFileSync(certFile, 'half a fil');
    expect(() => certificates.reload()).toThrow(certFile);
    expect(await shownFor(server, SNI)).toEqual(derOf(second));
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
