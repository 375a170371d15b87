import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../../operator/base/errors';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import { moveStack } from '../../../operator/updates/state/move';
import { newRecord } from '../../../operator/updates/state/stack-record';
import type { StateStore } from '../../../operator/updates/state/state-store';

const BROKEN_OFF = new OperatorError('Transient', 'broken off');

/** Breaks off at the next removal: before it, after it, or as somebody else writes first. */
class BreakingStore extends DirectoryStateStore {
  breaks: 'Before' | 'After' | 'Written' | undefined;

  override async remove(stack: string, expected: string): Promise<void> {
    const { breaks } = this;
    this.breaks = undefined;
    if (breaks === 'Before') throw BROKEN_OFF;
    if (breaks === 'Written') await this.write({ ...newRecord(request), revision: 7 }, expected);
    await super.remove(stack, expected);
    if (breaks === 'After') throw BROKEN_OFF;
  }
}

const request = { stack: 'web', project: 'p', providerKind: 'k', programVersion: '1', clusterID: 'c', holder: 'h' };
let root: string;
let from: BreakingStore;
let to: DirectoryStateStore;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'state-move-'));
  from = new BreakingStore(join(root, 'from'));
  to = new DirectoryStateStore(join(root, 'to'));
  await from.write(newRecord(request), undefined);
});
afterEach(() => rmSync(root, { recursive: true }));

const move = (): Promise<void> => moveStack('web', from, to, 'c');
const revisionIn = async (store: StateStore): Promise<number | undefined> => (await store.read('web'))?.record.revision;

test('broken off before the removal, the stack is in both, and the next move ends it', async () => {
  from.breaks = 'Before';
  await expect(move()).rejects.toBe(BROKEN_OFF);
  const copied = await to.read('web');
  expect(copied?.record).toEqual((await from.read('web'))?.record);
  await move();
  expect([await from.read('web'), await to.read('web')]).toEqual([undefined, copied]);
});

test('broken off after the removal, the stack is where it was to go, and there is nothing left to move', async () => {
  from.breaks = 'After';
  await expect(move()).rejects.toBe(BROKEN_OFF);
  expect([await revisionIn(from), await revisionIn(to)]).toEqual([undefined, 0]);
  await expect(move()).rejects.toMatchObject({ code: 'NotFound' });
  expect(await revisionIn(to)).toBe(0);
});

test('what was written meanwhile stays where it is, and the copy goes', async () => {
  from.breaks = 'Written';
  await expect(move()).rejects.toMatchObject({ code: 'Conflict' });
  expect([await revisionIn(from), await revisionIn(to)]).toEqual([7, undefined]);
  await move();
  expect([await revisionIn(from), await revisionIn(to)]).toEqual([undefined, 7]);
});
