import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from '../../../operator/entry';

const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-certificates-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In a mount namespace where `mounted` is `source`, read-only, as a Secret in a Pod: what happens there is printed as JSON. */
function inPod(script: string): unknown {
  const [source, mounted] = [join(folder, 'source'), join(folder, 'mounted')];
  [source, mounted].forEach((path) => mkdirSync(path));
  const mount = 'mount --bind "$0" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -e "$3" "$0" "$1"';
  const arguments_ = ['--user', '--map-root-user', '--mount', 'sh', '-c', mount, source, mounted, process.execPath, script];
  const { stdout, stderr } = spawnSync('unshare', arguments_, { encoding: 'utf8', env: { PATH: process.env.PATH } });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('a certificate may come later than the folder that it is in, when somebody else fills that', () => {
  const script = `
    const { writeFileSync } = require('node:fs');
    const { Certificates } = require(${JSON.stringify(compiled('operator/server/certificates'))});
    const { selfSigned } = require(${JSON.stringify(compiled('operator/server/self-signed'))});
    const [source, directory] = process.argv.slice(1);
    const certificates = new Certificates({ tls: { directory, named: [] }, pairName: 'pair', bindAddress: '127.0.0.1' });
    const { cert: own } = certificates.options('');
    const again = certificates.reload();
    const theirs = selfSigned(['webhooks.example'], Date.now());
    for (const [kind, text] of [['crt', theirs.cert], ['key', theirs.key]]) writeFileSync(source + '/pair.' + kind, text);
    const changed = certificates.reload();
    const { cert } = certificates.options('');
    process.stdout.write(JSON.stringify({ own: own.includes('CERTIFICATE'), again, changed, theirs: cert === theirs.cert }));
  `;
  expect(inPod(script)).toEqual({ own: true, again: false, changed: true, theirs: true });
});
