import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { waitFor } from '../../harness/wait-for';

const TIMEOUT_MS = 60_000;

describe('a demo that is interrupted', () => {
  let temporary: string;
  beforeAll(() => (temporary = mkdtempSync(join(tmpdir(), 'demo-'))));
  afterAll(() => rmSync(temporary, { recursive: true, force: true }));

  it(
    'stops while the cluster starts, says so, and does not say that all held',
    async () => {
      const program = join(PROJECT_ROOT, 'bin/cloud-operator.js');
      const demo = spawn(process.execPath, [program, 'demo', '--keep', '--tier', 'loopback'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TMPDIR: temporary },
      });
      let output = '';
      demo.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const ended = once(demo, 'exit');
      await waitFor(() => output.includes('starting etcd'), { timeoutMs: TIMEOUT_MS, what: 'the start of the control plane' });
      demo.kill('SIGTERM');
      expect(await ended).toEqual([1, null]);
      expect(output).toContain('Stopped before the end; everything is cleaned up.');
      expect(output).not.toMatch(/All of it held|\(a\)|✘/);
      expect(readdirSync(temporary).filter((name) => name.startsWith('cloud-operator-demo-'))).toEqual([]);
    },
    2 * TIMEOUT_MS,
  );
});
