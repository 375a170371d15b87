import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tarOf } from '../../../operator/cli/cluster/tar';

test('tar of the system reads what was written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-tar-'));
  try {
    const files = [
      { path: 'bundle/empty.txt', content: '' },
      { path: 'bundle/logs/ä.log', content: 'x'.repeat(512) },
      { path: 'bundle/long.yaml', content: 'größe\n'.repeat(1000) },
    ];
    execFileSync('tar', ['-xz', '-C', folder], { input: gzipSync(tarOf(files, 1_700_000_000)) });
    expect(files.map(({ path }) => readFileSync(join(folder, path), 'utf8'))).toEqual(files.map(({ content }) => content));
    expect(statSync(join(folder, 'bundle/empty.txt')).mtime).toEqual(new Date(1_700_000_000_000));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
