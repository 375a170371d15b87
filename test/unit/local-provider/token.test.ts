import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudProviderSpec } from '../../../crds';
import { localProvider } from '../../../providers/local';

describe('the token of the local cloud', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'token-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const connect = (local: object, secret = '') =>
    localProvider.connect(cloudProviderSpec.parse({ local: { endpoint: 'unix:/nowhere', ...local } }), {
      clusterID: 'c',
      providerName: 'home',
      readSecret: () => Promise.resolve([secret]),
    });
  const file = (text: string): string => {
    const path = join(folder, 'token');
    writeFileSync(path, text);
    return path;
  };

  test('white space around it does not count', async () => {
    const cloud = await connect({ tokenFile: file('  abc-123 \n') });
    expect(cloud.workerSettings()).toMatchObject({ token: 'abc-123' });
    await cloud.close();
  });

  test.each([
    ['a file without end', () => '/dev/zero', /is not a regular file/],
    ['a pipe that nobody writes to', () => pipe(), /is not a regular file/],
    ['a folder', () => folder, /is not a regular file/],
    ['a large file', () => file('a'.repeat(65 * 1024)), /is larger than 64 KiB/],
    ['a file of several lines', () => file('root:secret-hash\ndaemon:*\n'), /one line/],
    ['a missing file', () => join(folder, 'absent'), /does not exist/],
    ['an empty file', () => file('\n'), /empty/],
  ])('%s is refused by the name of the field, and none of it is told', async (_what, path, expected) => {
    await expect(connect({ tokenFile: path() })).rejects.toMatchObject({
      code: 'Invalid',
      field: 'spec.local.tokenFile',
      message: expect.stringMatching(expected) as string,
    });
    await expect(connect({ tokenFile: path() })).rejects.not.toMatchObject({ message: expect.stringContaining('secret-hash') as string });
  });

  test('so is what no header can carry from a Secret', async () => {
    const refused = connect({ tokenSecretRef: { name: 'cloud', key: 'token' } }, 'one\ntwo');
    await expect(refused).rejects.toMatchObject({ code: 'Invalid', field: 'spec.local.tokenSecretRef' });
  });

  const pipe = (): string => {
    const path = join(folder, 'pipe');
    rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
    return path;
  };
});
