import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';

interface Packed {
  filename: string;
  files: { path: string }[];
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-operator-pack-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function pack(): { sum: string; files: string[] } {
  const args = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', folder];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: PROJECT_ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  const [made] = JSON.parse(stdout) as Packed[];
  const archive = readFileSync(join(folder, made?.filename ?? ''));
  return { sum: createHash('sha256').update(archive).digest('hex'), files: made?.files.map(({ path }) => path) ?? [] };
}

test('npm pack gives the same bytes twice, with all that runs and nothing that tests', () => {
  const first = pack();
  expect(pack()).toEqual(first);
  for (const path of [
    'bin/cloud-operator.js',
    'lib/operator/cli/main.js',
    'lib/synth/manifests.js',
    'LICENSE',
    'THIRD_PARTY.md',
    'README.md',
  ])
    expect(first.files).toContain(path);
  expect(first.files.filter((path) => /^(test|docs|node_modules|dist)\/|\.tsbuildinfo$/.test(path))).toEqual([]);
});
