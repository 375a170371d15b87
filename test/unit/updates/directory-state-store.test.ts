import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { StackRecord } from '../../../operator/updates/state/stack-record';

const directory = mkdtempSync(join(tmpdir(), 'state-'));
afterAll(() => rmSync(directory, { recursive: true }));

function record(stack: string, more: Partial<StackRecord> = {}): StackRecord {
  const unset = { inputs: null, inputsHash: '', outputs: {}, checkpoint: null, updatedAt: '2026-01-01T00:00:00Z' };
  return {
    stack,
    project: 'p',
    providerKind: 'k',
    clusterID: 'c',
    revision: 1,
    programVersion: '1',
    incarnation: 'i',
    epoch: 1,
    holder: 'h',
    open: false,
    ...unset,
    ...more,
  };
}

describe('DirectoryStateStore', () => {
  const store = new DirectoryStateStore(directory);

  test('gives back what was written, under a version that moves', async () => {
    expect(await store.read('a/b')).toBeUndefined();
    const first = await store.write(record('a/b'), undefined);
    const second = await store.write(record('a/b', { open: true }), first);
    expect(await store.read('a/b')).toMatchObject({ record: record('a/b', { open: true }), version: second });
    expect(second).not.toBe(first);
    expect(readdirSync(join(directory, 'stacks', 'a%2Fb'))).toHaveLength(1);
  });

  test('refuses an old version, a wrong "absent" and a write after removal', async () => {
    const version = await store.write(record('old'), undefined);
    await store.write(record('old', { epoch: 2 }), version);
    await expect(store.write(record('old'), version)).rejects.toMatchObject({ code: 'Conflict' });
    await expect(store.write(record('old'), undefined)).rejects.toMatchObject({ code: 'Conflict' });
    await expect(store.remove('old', version)).rejects.toMatchObject({ code: 'Conflict' });
    const current = await store.read('old');
    await store.remove('old', current?.version ?? '');
    expect(await store.read('old')).toBeUndefined();
    await expect(store.write(record('old'), current?.version)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await store.write(record('old'), undefined)).toBe('4');
  });

  test('of many writers with one version exactly one wins', async () => {
    const start = await store.write(record('race'), undefined);
    const writers = Array.from({ length: 20 }, (_, epoch) => new DirectoryStateStore(directory).write(record('race', { epoch }), start));
    const results = await Promise.allSettled(writers);
    const winners = results.flatMap((result, index) => (result.status === 'fulfilled' ? [index] : []));
    expect(winners).toHaveLength(1);
    expect((await store.read('race'))?.record.epoch).toBe(winners[0]);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'Conflict' });
  });

  test('lists metadata; a damaged stack is named and hides nobody', async () => {
    await store.write(record('good', { inputsHash: 'abc' }), undefined);
    await store.write(record('bad'), undefined);
    writeFileSync(join(directory, 'stacks/bad/1.state'), 'nonsense');
    const { stacks, damaged } = await store.list();
    expect(stacks.find(({ stack }) => stack === 'good')).toMatchObject({ inputsHash: 'abc', open: false });
    expect(damaged.map((error) => error.message)).toEqual([expect.stringContaining('stacks/bad/1.state is damaged')]);
    await expect(store.write(record('bad'), '1')).rejects.toMatchObject({ code: 'Invalid' });
    expect(readFileSync(join(directory, 'stacks/bad/1.state'), 'utf8')).toBe('nonsense');
  });

  test('refuses a file of a newer format, and says what to do', async () => {
    await store.write(record('newer'), undefined);
    const path = join(directory, 'stacks/newer/1.state');
    writeFileSync(path, readFileSync(path, 'latin1').replace('"format":1', '"format":2'), 'latin1');
    await expect(store.read('newer')).rejects.toMatchObject({
      code: 'Invalid',
      remedy: 'run the newer version of cloud-operator that wrote it',
    });
  });

  test('a write that was cut short leaves the old state', async () => {
    await store.write(record('cut'), undefined);
    writeFileSync(join(directory, 'stacks/cut/.half.tmp'), 'ha');
    expect((await store.read('cut'))?.version).toBe('1');
  });

  test('what gets no name on a full disk takes no room there', async () => {
    const root = join(directory, 'full');
    const small = new DirectoryStateStore(root);
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'link' });
    const isFull = { code: 'Transient', message: expect.stringContaining('ENOSPC') as string };
    const [links, renames] = [jest.spyOn(files, 'link'), jest.spyOn(files, 'rename')];
    links.mockRejectedValueOnce(full);
    await expect(small.keyring()).rejects.toMatchObject(isFull);
    expect(readdirSync(root)).toEqual([]);
    await small.keyring();
    links.mockRejectedValueOnce(full);
    await expect(small.write(record('s'), undefined)).rejects.toMatchObject(isFull);
    expect(readdirSync(join(root, 'stacks', 's'))).toEqual([]);
    renames.mockRejectedValueOnce(full);
    await expect(small.changeKeyring((ring) => ring)).rejects.toMatchObject(isFull);
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await small.write(record('s'), undefined)).toBe('1');
    [links, renames].forEach((spy) => spy.mockRestore());
  });

  test('first users agree on one key', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => new DirectoryStateStore(directory).keyring()));
    expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(1);
  });
});
