import { silentLogger } from '../../../operator/base/log';
import { StackStates } from '../../../operator/updates/stack-states';
import { newRecord, type StackRecord } from '../../../operator/updates/state/stack-record';
import type { StateStore } from '../../../operator/updates/state/state-store';
import type { StackUpdate } from '../../../operator/updates/update';
import { FakeClock } from '../kube/fake-clock';

const fresh = newRecord({ stack: 's', project: 'p', providerKind: 'local', programVersion: '1', clusterID: 'c', holder: 'h' });

/** The states of a store that has one stack. */
function setUp(record: StackRecord) {
  const stored = { record };
  const store = {
    read: () => Promise.resolve({ record: stored.record, version: String(stored.record.revision), bytes: 0 }),
    write: (next: StackRecord) => {
      stored.record = next;
      return Promise.resolve(String(next.revision));
    },
  } as unknown as StateStore;
  return { stored, states: new StackStates(store, new FakeClock(), silentLogger) };
}

test('an approved update that became something else does not go on by itself, also where its worker could not store that', async () => {
  const { stored, states } = setUp({ ...fresh, open: true, underway: 'hash' });
  states.departed('s');
  expect((await states.read('s'))?.record).toEqual({ ...fresh, open: true, departures: 1 });
  expect(stored.record.underway).toBe('hash');

  // What is written next has it, and what begins then is another one.
  await states.recover({ stack: 's', inputs: {} } as unknown as StackUpdate, await states.read('s'), undefined);
  expect(stored.record.departures).toBe(1);
  expect(stored.record.underway).toBeUndefined();
  stored.record = { ...stored.record, underway: 'another' };
  expect((await states.read('s'))?.record.underway).toBe('another');
});

test('where it was stored, nothing is added', async () => {
  const { stored, states } = setUp({ ...fresh, open: true, departures: 1 });
  states.departed('s');
  expect((await states.read('s'))?.record).toBe(stored.record);
  stored.record = { ...stored.record, underway: 'another' };
  expect((await states.read('s'))?.record.underway).toBe('another');
});
