import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { CredentialWatch } from '../../../operator/cloud/providers/credential-watch';
import type { CloudRegistry } from '../../../operator/cloud/providers/registry';
import { Accounts } from '../../../operator/updates/limits/accounts';
import type { Cloud } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';

const MINUTE = 60_000;

/**
 * A cloud that refuses every key but `good`, watched from its first refusal on.
 * @param renew gives the key of today
 * @param before it was refused before anybody watched
 */
async function refused(renew: (sessions: boolean) => Promise<string>, before = false) {
  const clock = new FakeClock();
  const accounts = new Accounts(clock);
  const seen = { key: 'bad', calls: 0, changes: 0 };
  const list = async (): Promise<[]> => {
    const settle = await accounts.of('aws').acquire('list');
    seen.calls++;
    if (seen.key === 'good') return (settle({ kind: 'Answered' }), []);
    settle({ kind: 'Refused', message: `no ${seen.key}` });
    throw new OperatorError('Credentials', 'no');
  };
  const cloud = {
    instances: { list },
    renewCredentials: async (sessions: boolean) => {
      const known = seen.key;
      seen.key = await renew(sessions);
      return !sessions && seen.key !== known;
    },
  } as unknown as Cloud;
  const registry = { accounts, connected: () => ({ cloud }), list: () => [{ name: 'aws' }] } as unknown as CloudRegistry;
  // Whoever is told that the credentials are others now tries again.
  const onChange = (): void => {
    seen.changes++;
    if (accounts.refusal('aws') === undefined) void list().catch(() => undefined);
  };
  const stop = new AbortController();
  if (before) await list().catch(() => undefined);
  const ended = new CredentialWatch({ registry, onChange, clock, logger: silentLogger }).run(stop.signal);
  if (!before) await list().catch(() => undefined);
  const end = (): Promise<void> => (stop.abort(), ended);
  return { clock, accounts, seen, end };
}

test('sessions of which each is another one are not taken for a repair: one probe at a time, each with a new session', async () => {
  let sessions = 0;
  const { clock, seen, end } = await refused((anew) => Promise.resolve(anew ? `session ${++sessions}` : seen.key));
  await clock.advance(10 * MINUTE);
  // After 30 s, and then 1, 2 and 4 minutes.
  expect([seen.calls, sessions]).toEqual([5, 4]);
  expect(seen.changes).toBe(5);
  await end();
});

test('where no session is to be had, the times between the tries grow as well', async () => {
  let asked = 0;
  const { clock, seen, end } = await refused((anew) => {
    if (!anew) return Promise.resolve(seen.key);
    asked++;
    return Promise.reject(new OperatorError('Credentials', 'the role may not be assumed'));
  });
  await clock.advance(10 * MINUTE);
  expect([seen.calls, asked]).toEqual([5, 4]);
  await end();
});

test('why they are refused is told in the words of whoever makes sessions of them, and is news once', async () => {
  const { clock, accounts, seen, end } = await refused(() => Promise.reject(new OperatorError('Credentials', 'the secret has expired')));
  await clock.advance(5_000);
  expect(accounts.refusal('aws')?.message).toContain('the secret has expired');
  expect(seen).toMatchObject({ calls: 1, changes: 2 });
  await end();
});

test.each([
  ['', false],
  [', also where they were refused before anybody watched', true],
])('others than before are used within a second%s', async (_where, before) => {
  let key = 'bad';
  const { clock, accounts, seen, end } = await refused(() => Promise.resolve(key), before);
  await clock.advance(5_000);
  expect(seen.calls).toBe(1);
  key = 'good';
  await clock.advance(1_500);
  expect([accounts.refusal('aws'), seen.calls]).toEqual([undefined, 2]);
  await end();
});
