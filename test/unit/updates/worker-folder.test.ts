import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeWorkerFolder, removeWorkerFolder } from '../../../operator/updates/worker-folder';

test('the folder of a worker goes with everything in it; one that is not there is fine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-worker-'));
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'home/file'), '');
  const warn = jest.fn();
  for (let time = 0; time < 2; time++) removeWorkerFolder(folder, { warn });
  expect([existsSync(folder), warn.mock.calls]).toEqual([false, []]);
});

test('one that can not be removed is told of, and nothing is thrown: its process ends while the operator goes on', () => {
  const warn = jest.fn();
  removeWorkerFolder('/proc/self/attr', { warn });
  expect(warn).toHaveBeenCalledWith({ folder: '/proc/self/attr', error: expect.any(String) as string }, expect.any(String));
});

describe('the folder of a worker that is to be started', () => {
  let parent: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'cloud-operator-parent-'));
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  /** A folder below whose path has so many bytes. */
  function deepFolder(length: number): string {
    let path = parent;
    while (path.length < length) path += `/${'d'.repeat(Math.min(length - path.length - 1, 200))}`;
    mkdirSync(path, { recursive: true });
    return path;
  }

  test('has what the worker needs', () => {
    expect(readdirSync(makeWorkerFolder(parent)).sort()).toEqual(['home', 'tmp', 'work']);
  });

  test('where it can be made, but nothing in it, that is told with its path, and it does not stay', () => {
    // Linux takes paths of 4095 bytes (PATH_MAX); the folder's own name has 28.
    const temporary = deepFolder(4095 - 28 - 3);
    expect(() => makeWorkerFolder(temporary)).toThrow(/ENAMETOOLONG.*cloud-operator-worker-/);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
