import type { ArmClient } from '../../../providers/azure/client/arm-client';
import type { CallGate, CallOutcome } from '../../../providers/call-gate';
import type { ArmServer } from '../../harness/arm/arm-server';
import { clientOf, LOCATION, networkID, startScene } from '../../harness/arm/scene';
import { waitFor } from '../../harness/wait-for';
import { FakeClock } from '../../unit/kube/fake-clock';

const ID = networkID('publicIPAddresses', 'web');
const ADDRESS = { location: LOCATION, sku: { name: 'Standard' }, properties: {} };

describe('another operation in progress (409 AnotherOperationInProgress)', () => {
  let server: ArmServer;
  let client: ArmClient;
  let clock: FakeClock;
  let outcomes: CallOutcome[];

  beforeEach(async () => {
    server = await startScene();
    clock = new FakeClock();
    outcomes = [];
    const acquire: CallGate['acquire'] = () => Promise.resolve((outcome) => void outcomes.push(outcome));
    client = clientOf(server, { calls: { acquire }, clock });
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  const busyFor = (times: number, retryAfterS: number): void => {
    server.cloud.busy.set(ID.toLowerCase(), { times, retryAfterS });
    server.calls.length = 0;
  };

  const rows: [string, (etag: string) => Promise<unknown>][] = [
    ['PUT', (etag) => client.put(ID, ADDRESS, { only: { etag } })],
    ['PATCH', (etag) => client.patch(ID, { tags: { team: 'net' } }, { only: { etag } })],
    ['DELETE', () => client.remove(ID)],
  ];

  test.each(rows)(
    '%s: what Azure asks to wait is kept, then it succeeds, and nothing is said against the account',
    async (method, write) => {
      const { etag } = await client.put<{ etag: string }>(ID, ADDRESS);
      busyFor(2, 5);
      const writing = write(etag);
      for (const tries of [1, 2]) {
        const waits = (): boolean => server.calls.length === tries && clock.pending().length > 0;
        await waitFor(waits, { timeoutMs: 5_000, what: `a wait after try ${tries}` });
        expect(clock.pending()).toEqual([5_000]);
        await clock.advance(4_999);
        expect(server.calls).toHaveLength(tries);
        await clock.advance(1);
      }
      await writing;
      expect(server.calls.map((call) => `${call.method} ${call.status}`)).toEqual([`${method} 409`, `${method} 409`, `${method} 200`]);
      expect(outcomes.filter(({ kind }) => kind !== 'Answered')).toEqual([]);
    },
  );

  test('for longer than a call may take: the caller is told what goes on, and when to come again', async () => {
    busyFor(1, 60);
    await expect(client.put(ID, ADDRESS)).rejects.toMatchObject({
      code: 'Conflict',
      armCode: 'AnotherOperationInProgress',
      retryAfterMs: 60_000,
      message: expect.stringContaining('Another operation on this or dependent resource is in progress') as string,
    });
    expect(server.calls).toHaveLength(1);
  });
});
