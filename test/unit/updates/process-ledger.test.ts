import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessLedger } from '../../../operator/updates/process-ledger';
import { statOf } from '../../../operator/updates/process-stat';

const warn = jest.fn();
const children: ChildProcess[] = [];
let root: string;
let directory: string;
let ledger: ProcessLedger;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cloud-operator-ledger-'));
  directory = join(root, 'run');
  ledger = new ProcessLedger(directory, { warn });
});

afterEach(() => {
  children.splice(0).forEach((child) => child.kill('SIGKILL'));
  rmSync(root, { recursive: true, force: true });
  warn.mockClear();
});

interface Worker {
  pid: number;
  folder: string;
  ended: Promise<unknown>;
}

/** A process that leads a session, with a folder of its own, written down as a worker of this process. */
function startWorker(): Worker {
  const folder = mkdtempSync(join(root, 'worker-'));
  const child = spawn('sleep', ['120'], { detached: true, stdio: 'ignore' });
  children.push(child);
  const pid = child.pid ?? 0;
  ledger.running(pid, folder);
  return { pid, folder, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

function entryOf({ pid }: Worker): string {
  return join(directory, `${pid}.json`);
}

/** Writes that its operator was a process that has ended. */
function orphan(worker: Worker, more: object = {}): void {
  const pid = spawnSync('true').pid;
  const entry = JSON.parse(readFileSync(entryOf(worker), 'utf8')) as object;
  writeFileSync(entryOf(worker), JSON.stringify({ ...entry, operator: { pid, startTime: 1 }, ...more }));
}

function isAlive({ pid }: Worker): boolean {
  return statOf(pid) !== undefined;
}

test('the worker of an operator that has died is ended, and folder and entry go with it', async () => {
  const worker = startWorker();
  orphan(worker);
  expect(ledger.endOrphans()).toBe(1);
  await worker.ended;
  expect([existsSync(worker.folder), readdirSync(directory)]).toEqual([false, []]);
});

test('that of an operator that lives is left alone, whoever asks: it may lead while others wait', () => {
  const worker = startWorker();
  expect(new ProcessLedger(directory, { warn }).endOrphans()).toBe(0);
  expect([isAlive(worker), existsSync(worker.folder), existsSync(entryOf(worker))]).toEqual([true, true, true]);
});

test('a process that only has the pid of a worker is left alone', () => {
  const worker = startWorker();
  orphan(worker, { worker: { pid: worker.pid, startTime: 1 } });
  expect(ledger.endOrphans()).toBe(0);
  expect([isAlive(worker), readdirSync(directory)]).toEqual([true, []]);
});

test('an entry of another boot or container names nobody here', () => {
  const worker = startWorker();
  orphan(worker, { world: 'another' });
  expect(ledger.endOrphans()).toBe(0);
  expect([isAlive(worker), existsSync(worker.folder), readdirSync(directory)]).toEqual([true, true, []]);
});

test('what can not be removed keeps no other from being ended, and nothing is thrown', async () => {
  const worker = startWorker();
  orphan(worker);
  // A file's name that is a folder can be removed by nobody who wants a file to go.
  mkdirSync(join(directory, '1.json'));
  writeFileSync(join(directory, '2.json'), 'null');
  expect(ledger.endOrphans()).toBe(1);
  await worker.ended;
  expect(readdirSync(directory)).toEqual(['1.json']);
  expect(warn).toHaveBeenCalledWith(
    { directory, error: expect.stringContaining('1.json') as string },
    'the ledger of update processes can not be cleared',
  );
});

test('a folder that was cleaned up is made again', async () => {
  rmSync(directory, { recursive: true, force: true });
  expect(ledger.endOrphans()).toBe(0);
  rmSync(directory, { recursive: true, force: true });
  const worker = startWorker();
  orphan(worker);
  expect(ledger.endOrphans()).toBe(1);
  await worker.ended;
});

test('where no folder can be made, that is told, and nothing is thrown', () => {
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(directory, '');
  expect(ledger.endOrphans()).toBe(0);
  startWorker();
  expect(warn).toHaveBeenCalledWith({ directory, error: expect.any(String) as string }, 'the ledger of update processes can not be made');
});

test('a folder that others can write to is no order to end anything', () => {
  const worker = startWorker();
  orphan(worker);
  chmodSync(directory, 0o777);
  expect(ledger.endOrphans()).toBe(0);
  expect(isAlive(worker)).toBe(true);
  expect(warn).toHaveBeenCalledWith({ directory }, 'update processes are not written down: the folder is not ours alone');
});
