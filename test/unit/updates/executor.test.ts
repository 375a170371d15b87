import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { silentLogger } from '../../../operator/base/log';
import { UpdateExecutor, type Execution } from '../../../operator/updates/executor';
import { Accounts } from '../../../operator/updates/limits/accounts';
import type { UpdateRequest } from '../../../operator/updates/protocol';
import type { StateStore } from '../../../operator/updates/state/state-store';
import type { StackUpdate, UpdateHooks } from '../../../operator/updates/update';
import type { WorkerPool } from '../../../operator/updates/worker-pool';
import type { WorkerProcess } from '../../../operator/updates/worker-process';
import { FakeClock, settle } from '../kube/fake-clock';

/** An executor with one worker, which does at once what it is asked for. */
function setUp() {
  const clock = new FakeClock();
  /** Settings of what the worker was asked for, and how often it was given back. */
  const worker = { ran: [] as JsonObject[], released: 0 };
  const workerProcess = {
    cancel: () => undefined,
    run: ({ settings }: UpdateRequest) => {
      worker.ran.push(settings);
      return Promise.resolve({ changes: {} });
    },
  } as unknown as WorkerProcess;
  const pool = { acquire: () => Promise.resolve(workerProcess), release: () => void worker.released++ } as unknown as WorkerPool;
  const executor = new UpdateExecutor({
    ...{ pool, clock, accounts: new Accounts(clock), store: { name: 'store' } as StateStore, logger: silentLogger },
    ...{ deadlineMs: 600_000, storeHoldMs: 60_000, onEvent: () => undefined },
  });
  const execute = (settings: UpdateHooks['settings'], more: Partial<UpdateRequest> = {}): ReturnType<UpdateExecutor['execute']> => {
    const request = { settings: { from: 'the request' }, ...more } as unknown as UpdateRequest;
    const hooks: UpdateHooks = { isValid: () => true, ...(settings === undefined ? {} : { settings }) };
    const update = { stack: 's', providerName: 'p' } as StackUpdate;
    const execution: Execution = { request, update, hooks, background: false, refusal: () => undefined };
    return executor.execute(execution);
  };
  return { executor, execute, worker };
}

test('settings are asked for when there is a worker, but not for what is only rendered', async () => {
  const { execute, worker } = setUp();
  const fresh = (): Promise<JsonObject> => Promise.resolve({ from: 'the cloud' });
  await execute(fresh);
  await execute(fresh, { render: true });
  await execute(undefined);
  expect(worker).toEqual({ ran: [{ from: 'the cloud' }, { from: 'the request' }, { from: 'the request' }], released: 3 });
});

test('who waits for settings that don’t come is told at once that all ends, and its worker does nothing', async () => {
  const { executor, execute, worker } = setUp();
  const executing = execute(() => new Promise(() => undefined));
  await settle();
  const ended = new OperatorError('Canceled', 'all ends');
  executor.cancel(ended);
  await expect(executing).rejects.toBe(ended);
  expect(worker).toEqual({ ran: [], released: 1 });
});
