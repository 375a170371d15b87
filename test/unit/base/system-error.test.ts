import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toOperatorError } from '../../../operator/base/errors';
import { systemErrorOf } from '../../../operator/base/system-error';
import { describeFailure } from '../../../operator/cli/failure';

/** Errors of this very system, not imitations. */
describe('what the system refuses', () => {
  let folder: string;
  let file: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'system-error-'));
    file = join(folder, 'file');
    writeFileSync(file, '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function thrownBy(run: () => unknown): unknown {
    try {
      run();
    } catch (thrown) {
      return thrown;
    }
    throw new Error('nothing was thrown');
  }

  it.each<[string, () => unknown, string]>([
    ['a folder in a file', () => mkdirSync(join(file, 'x')), 'FILE/x: not a directory (ENOTDIR, mkdir); name another path, '],
    ['a file read as a folder', () => readdirSync(file), 'FILE: not a directory (ENOTDIR, scandir); name another path, '],
    ['a folder read as a file', () => readFileSync(folder), 'illegal operation on a directory (EISDIR, read); it is a folder'],
    ['what is not there', () => readFileSync(join(folder, 'none')), 'no such file or directory (ENOENT, open); name one that is there'],
    ['what is there already', () => mkdirSync(folder), 'file already exists (EEXIST, mkdir); name another path'],
    ['a long name', () => readFileSync(join(folder, 'x'.repeat(300))), 'name too long (ENAMETOOLONG, open); name a shorter path'],
  ])('%s is one line with what to do, and exit code 2', (_, run, said) => {
    const { text, exitCode } = describeFailure(thrownBy(run), false);
    expect(text).toContain(said.replace('FILE', file));
    expect(text).not.toMatch(/defect|\n/);
    expect(exitCode).toBe(2);
  });

  it('a full disk is exit code 1', () => {
    const full = openSync('/dev/full', 'w');
    try {
      const { text, exitCode } = describeFailure(
        thrownBy(() => writeSync(full, 'x')),
        false,
      );
      expect(text).toMatch(/^no space left on device \(ENOSPC, write\); free some space, /);
      expect(exitCode).toBe(1);
    } finally {
      closeSync(full);
    }
  });

  it('says which program is not there, and which address is taken', async () => {
    const [noProgram] = (await once(spawn(join(folder, 'none')), 'error').catch((thrown: unknown) => [thrown])) as unknown[];
    expect(systemErrorOf(noProgram)?.message).toBe(`${join(folder, 'none')} can't be started (ENOENT)`);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const [taken] = (await once(createServer().listen(port, '127.0.0.1'), 'error').catch((thrown: unknown) => [thrown])) as unknown[];
    server.close();
    expect(describeFailure(taken, false).text).toBe(
      `listen EADDRINUSE: address already in use 127.0.0.1:${port}; another process listens there: end that, or name another port`,
    );
  });

  it('is nobody’s spec, and has its remedy also where it is no command that fails', () => {
    const { code, remedy } = toOperatorError(thrownBy(() => readdirSync(file)));
    expect([code, remedy]).toEqual(['Unknown', 'name another path, or move away what is in its place']);
  });

  it.each([new TypeError('x is undefined'), Object.assign(new Error('x'), { code: 'ERR_X' }), undefined, 'ENOTDIR'])(
    '%s is something else',
    (thrown) => expect(systemErrorOf(thrown)).toBeUndefined(),
  );
});
