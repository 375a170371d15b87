import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeWorkerFolder } from '../../../operator/updates/worker-folder';

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
