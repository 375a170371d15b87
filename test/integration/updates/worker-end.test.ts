import { fork, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from '../../../operator/entry';
import { statOf } from '../../../operator/updates/process-stat';
import { killSession } from '../../../operator/updates/process-session';
import { hostMonotonic, type UpdateRequest, type WorkerEvent } from '../../../operator/updates/protocol';
import { newKeyring } from '../../../operator/updates/state/keyring';
import { waitFor } from '../../harness/wait-for';
import { compileFakeProvider } from './harness';

const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-worker-end-'));
let worker: ChildProcess | undefined;

afterAll(() => {
  if (worker?.pid !== undefined) killSession(worker.pid);
  rmSync(directory, { recursive: true, force: true });
});

/** A worker in a folder that can be emptied, but not removed: it is told to call it `.`. */
function startWorker(engine: string): ChildProcess {
  const cwd = join(directory, 'worker');
  for (const part of ['home', 'work', 'tmp']) mkdirSync(join(cwd, part), { recursive: true });
  return fork(compiled('operator/updates/worker/main'), ['.', engine, '3.274.1'], { cwd, detached: true, stdio: 'ignore' });
}

function told<T extends WorkerEvent['type']>(by: ChildProcess, type: T): Promise<Extract<WorkerEvent, { type: T }>> {
  return new Promise((resolve, reject) => {
    by.on('message', (event: WorkerEvent) => {
      if (event.type === type) resolve(event as Extract<WorkerEvent, { type: T }>);
      if (event.type === 'failed') reject(new Error(event.error.message));
    });
    by.once('exit', (code, signal) => reject(new Error(`the worker ended: ${signal ?? code}`)));
  });
}

function request(): UpdateRequest {
  return {
    ...{ id: 'one', stack: 'alone', project: 'fake', providerKind: 'fake', modulePath: compileFakeProvider(), programVersion: '1' },
    ...{ clusterID: 'cluster', inputs: {}, inputsHash: 'hash', begun: 'hash', settings: { url: 'http://127.0.0.1:1' } },
    ...{ keyring: newKeyring(), holdMs: 60_000, holder: 'test', journalAbove: 50, validUntil: hostMonotonic() + 60_000 },
  };
}

test('a worker whose operator goes in the middle of an update ends with its engine, also where its folder can not be removed', async () => {
  const engine = join(directory, 'engine');
  writeFileSync(engine, '#!/bin/sh\nexec sleep 120\n');
  chmodSync(engine, 0o755);
  worker = startWorker(engine);
  await told(worker, 'ready');
  const started = told(worker, 'started');
  worker.send({ type: 'run', request: request() });
  const { enginePid } = await started;
  const pids = [worker.pid ?? 0, enginePid];
  expect(pids.map((pid) => statOf(pid) !== undefined)).toEqual([true, true]);
  worker.disconnect();
  const left = (): number[] => pids.filter((pid) => statOf(pid) !== undefined);
  await waitFor(() => left().length === 0, { what: 'worker and engine to end', timeoutMs: 10_000 });
});
