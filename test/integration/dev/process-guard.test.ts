import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessGuard, type GuardedCommand } from '../../../dev/cluster/process-guard';
import { compiled } from '../../../operator/entry';
import { identifyProcess, isRunning } from '../../../tools/live-process';
import { waitFor } from '../../harness/wait-for';

describe('ProcessGuard', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cloud-operator-guard-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const shell = (script: string, extra: Partial<GuardedCommand> = {}): GuardedCommand => ({
    name: 'sh',
    command: '/bin/sh',
    args: ['-c', script],
    cwd: directory,
    log: join(directory, 'sh.log'),
    graceMs: 2_000,
    ...extra,
  });
  const pidIn = (file: string): Promise<number> =>
    waitFor(() => Number(readFileSync(join(directory, file), 'utf8')) || undefined, { timeoutMs: 5_000, what: `a process id in ${file}` });

  it('tells how a process ended, and keeps what it wrote', async () => {
    const guard = ProcessGuard.open();
    const ended = await guard.start(shell('echo out; echo err >&2; exit 3'));
    expect(await ended.ended).toEqual({ code: 3, signal: null });
    expect(ended.exit).toEqual({ code: 3, signal: null });
    expect(readFileSync(join(directory, 'sh.log'), 'utf8')).toBe('out\nerr\n');
    await guard.close();
  });

  it('gives lines of standard output where asked', async () => {
    const guard = ProcessGuard.open();
    const lines: string[] = [];
    const speaker = await guard.start(shell('echo one; echo two; echo log >&2', { onLine: (line) => lines.push(line) }));
    await speaker.ended;
    await waitFor(() => lines.length === 2, { timeoutMs: 2_000, what: 'two lines' });
    expect(lines).toEqual(['one', 'two']);
    expect(readFileSync(join(directory, 'sh.log'), 'utf8')).toBe('log\n');
    await guard.close();
  });

  it('ends a process that ignores SIGTERM, and what it started', async () => {
    const guard = ProcessGuard.open();
    const deaf = await guard.start(shell("trap '' TERM; sleep 60 & echo $! > child; while :; do sleep 0.1; done", { graceMs: 200 }));
    const child = identifyProcess(await pidIn('child'));
    expect(await deaf.stop()).toEqual({ code: null, signal: 'SIGKILL' });
    await waitFor(() => !isRunning(child), { timeoutMs: 2_000, what: 'the end of the grandchild' });
    await guard.close();
  });

  it('gives a process nothing of our environment but what every program needs', async () => {
    process.env['SECRET_OF_MINE'] = 'x';
    const guard = ProcessGuard.open();
    await (
      await guard.start(shell('env'))
    ).ended;
    delete process.env['SECRET_OF_MINE'];
    expect(readFileSync(join(directory, 'sh.log'), 'utf8')).not.toContain('SECRET_OF_MINE');
    await guard.close();
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('leaves nothing when its owner gets %s', async (signal) => {
    const owner = join(directory, 'owner.js');
    const command = JSON.stringify(shell("trap '' TERM; echo $$ > leader; sleep 60 & echo $! > child; wait; sleep 60", { graceMs: 200 }));
    writeFileSync(
      owner,
      `const { ProcessGuard } = require(${JSON.stringify(compiled('dev/cluster/process-guard'))});\n` +
        `ProcessGuard.open().start(${command}).then(() => console.log('up'));\nsetInterval(() => {}, 1000);\n`,
    );
    const running = spawn(process.execPath, [owner], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(running.stdout, 'data');
    const left = [identifyProcess(await pidIn('leader')), identifyProcess(await pidIn('child'))];
    expect(left.every(isRunning)).toBe(true);
    running.kill(signal);
    await waitFor(() => !left.some(isRunning), { timeoutMs: 5_000, what: 'the end of everything' });
  });

  it('ends the stopped worker of an operator that has died, which does not notice it itself', async () => {
    const temporary = join(directory, 'tmp');
    mkdirSync(temporary);
    const script = join(directory, 'operator.js');
    const ledger = JSON.stringify(compiled('operator/updates/process-ledger'));
    writeFileSync(
      script,
      `const { ProcessLedger, ledgerDirectory } = require(${ledger});
       const worker = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
       worker.kill('SIGSTOP');
       new ProcessLedger(ledgerDirectory(), console).running(worker.pid, process.cwd() + '/worker');
       require('node:fs').writeFileSync('worker.pid', String(worker.pid));
       setInterval(() => {}, 1000);`,
    );
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = temporary;
    const guard = ProcessGuard.open();
    const operator = await guard.start(shell(`exec ${process.execPath} ${script}`));
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    const worker = identifyProcess(await pidIn('worker.pid'));
    expect(isRunning(worker)).toBe(true);
    process.kill(operator.pid, 'SIGKILL');
    await operator.ended;
    await waitFor(() => !isRunning(worker), { timeoutMs: 5_000, what: 'the end of the worker' });
    await guard.close();
  });

  it('ends its processes itself when somebody kills the watchdog', async () => {
    const guard = ProcessGuard.open();
    const orphan = await guard.start(shell('echo $PPID > watchdog; exec sleep 60'));
    process.kill(await pidIn('watchdog'), 'SIGKILL');
    expect(await orphan.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await waitFor(() => !isRunning({ pid: orphan.pid }), { timeoutMs: 2_000, what: 'the end of the process' });
    await expect(guard.start(shell('true'))).rejects.toThrow('its guard is closed');
    await guard.close();
  });
});
