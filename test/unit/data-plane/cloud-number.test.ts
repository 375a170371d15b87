import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLOUD_NUMBERS } from '../../../providers/local/cloud/data-plane/address-plan';
import { CloudNumbers } from '../../../providers/local/cloud/data-plane/cloud-number';
import { withFolderLock } from '../../../providers/local/cloud/data-plane/folder-lock';

let root: string;
let numbers: CloudNumbers;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'numbers-'));
  numbers = new CloudNumbers(join(root, 'claims'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const usable = () => true;

function cloud(name: string): string {
  mkdirSync(join(root, name), { recursive: true });
  return join(root, name);
}

/** What a process that has ended left there. */
function asOfAnotherProcess(number: number, pid: number): void {
  const file = join(root, 'claims', String(number));
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), pid, startedAt: 'long ago' }));
}

/** The pid of a process that is over. */
const deadPid = () => spawnSync('true').pid;

test('each cloud has a number of its own, and keeps it', () => {
  const claims = Array.from({ length: 20 }, (_, i) => numbers.claim({ directory: cloud(`c${i}`), usable }));
  expect(new Set(claims.map(({ number }) => number)).size).toBe(20);
  expect(new Set(claims.map(({ id }) => id)).size).toBe(20);
  for (const claim of claims) {
    numbers.release(claim);
    expect(numbers.claim({ directory: claim.directory, usable })).toMatchObject({ number: claim.number, id: claim.id });
  }
});

test('ranges that the machine uses are passed over', () => {
  const first = numbers.claim({ directory: cloud('a'), usable });
  numbers.release(first);
  rmSync(join(root, 'claims', String(first.number)));
  const second = numbers.claim({ directory: cloud('a'), usable: (number) => number !== first.number });
  expect(second.number).toBe((first.number + 1) % CLOUD_NUMBERS);
});

test('a cloud that another live process runs is refused, one of a dead process is taken over', () => {
  const claim = numbers.claim({ directory: cloud('a'), usable });
  const file = join(root, 'claims', String(claim.number));
  const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  writeFileSync(file, JSON.stringify({ ...claim, pid: process.ppid, startedAt }));
  expect(() => numbers.claim({ directory: cloud('a'), usable })).toThrow(`is already running as process ${process.ppid}`);
  expect(numbers.ended()).toEqual([]);
  // The same pid, but a later process.
  asOfAnotherProcess(claim.number, process.ppid);
  expect(numbers.claim({ directory: cloud('a'), usable }).number).toBe(claim.number);
  asOfAnotherProcess(claim.number, deadPid());
  expect(numbers.ended()).toMatchObject([{ number: claim.number, id: claim.id }]);
  expect(numbers.claim({ directory: cloud('a'), usable }).number).toBe(claim.number);
});

test('when all are taken, the number of a cloud that is gone for good is taken; of one that only stopped it is not', () => {
  const claims = Array.from({ length: CLOUD_NUMBERS }, (_, i) => numbers.claim({ directory: cloud(`c${i}`), usable }));
  for (const claim of claims) numbers.release(claim);
  expect(() => numbers.claim({ directory: cloud('more'), usable })).toThrow(`all ${CLOUD_NUMBERS} address ranges`);
  rmSync(join(root, 'c7'), { recursive: true });
  expect(numbers.claim({ directory: cloud('more'), usable }).number).toBe(claims[7]?.number);
});

test('releasing a cloud whose folder is gone frees the number', () => {
  const claim = numbers.claim({ directory: cloud('a'), usable });
  rmSync(join(root, 'a'), { recursive: true });
  numbers.release(claim);
  expect(readdirSync(join(root, 'claims'))).toEqual([]);
});

test('a claim that was cut short does not stop others', () => {
  const claim = numbers.claim({ directory: cloud('a'), usable });
  writeFileSync(join(root, 'claims', String(claim.number)), '{"number":');
  expect(numbers.claim({ directory: cloud('a'), usable }).directory).toBe(claim.directory);
});

test('a lock that a dead process left is broken, a fresh one is respected', () => {
  const lock = join(root, 'claims', 'lock');
  mkdirSync(lock);
  expect(() => withFolderLock(lock, () => undefined, 50)).toThrow('another process holds');
  utimesSync(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
  expect(numbers.claim({ directory: cloud('a'), usable }).number).toBeGreaterThanOrEqual(0);
});
