import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DemoFolder } from '../../../dev/demo/folder';
import { identifyProcess, type LiveProcess } from '../../../tools/live-process';

describe('the folder of a demo', () => {
  const before = process.env['TMPDIR'];
  let temporary: string;
  const fail = (line: string): never => {
    throw new Error(line);
  };
  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), 'demo-folder-'));
    process.env['TMPDIR'] = temporary;
  });
  afterEach(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(temporary, { recursive: true, force: true });
  });

  /** As another demo would have left it. */
  function folderOf(owner: LiveProcess, more: object = {}): string {
    const { path } = DemoFolder.make(fail);
    const other = path.replace(/......$/, 'other1');
    cpSync(path, other, { recursive: true });
    rmSync(path, { recursive: true });
    const mark = JSON.parse(readFileSync(join(other, 'owner.json'), 'utf8')) as object;
    writeFileSync(join(other, 'owner.json'), JSON.stringify({ ...mark, ...owner, ...more }));
    return other;
  }

  async function killed(): Promise<LiveProcess> {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
    const identity = identifyProcess(child.pid);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    return identity;
  }

  it('is removed by the next demo when its own was killed', async () => {
    const left = folderOf(await killed());
    const next = DemoFolder.make(fail);
    expect([existsSync(left), existsSync(next.path)]).toEqual([false, true]);
    next.remove();
    expect(existsSync(next.path)).toBe(false);
  });

  it('stays while its demo runs', () => {
    const left = folderOf(identifyProcess());
    DemoFolder.make(fail);
    expect(existsSync(left)).toBe(true);
  });

  it('stays where the pid is one of another boot or container', async () => {
    const left = folderOf(await killed(), { world: 'another' });
    DemoFolder.make(fail);
    expect(existsSync(left)).toBe(true);
  });

  it('stays where its logs are to be read', async () => {
    const left = folderOf(await killed());
    rmSync(join(left, 'owner.json'));
    const kept = DemoFolder.make(fail);
    kept.keep();
    expect(existsSync(join(kept.path, 'owner.json'))).toBe(false);
    expect(existsSync(left)).toBe(true);
  });
});
