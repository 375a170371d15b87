import { sleep } from '../../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { retryAfterFailure } from '../../../operator/cloud/stack/retry-delay';
import { StackRetries } from '../../../operator/cloud/stack/stack-retries';
import { Accounts } from '../../../operator/updates/limits/accounts';
import { atPriority } from '../../../operator/updates/limits/call-priority';
import type { Account } from '../../../operator/updates/limits/account';
import { retry } from '../../../providers/retry';
import { FakeClock, settle } from '../kube/fake-clock';

const REFUSED = { kind: 'Refused', message: 'Unauthorized' } as const;

function setUp() {
  const clock = new FakeClock();
  const accounts = new Accounts(clock);
  const changes: string[] = [];
  accounts.onChange((provider) => changes.push(provider));
  return { clock, accounts, account: accounts.of('a'), changes };
}

/** One call with an outcome; false = it was not allowed. */
async function call(account: Account, outcome: Parameters<Awaited<ReturnType<Account['acquire']>>>[0]): Promise<boolean> {
  return account.acquire('get').then(
    (done) => {
      done(outcome);
      return true;
    },
    () => false,
  );
}

test('a cloud that answers nothing for a while is away, until it answers anything', async () => {
  const { clock, accounts, account, changes } = setUp();
  for (const seconds of [0, 2, 2]) {
    await clock.advance(seconds * 1000);
    await call(account, { kind: 'Unanswered' });
  }
  expect([accounts.outage('a'), changes]).toEqual([undefined, []]);
  await clock.advance(1_000);
  await call(account, { kind: 'Unanswered' });
  expect(accounts.outage('a')).toMatchObject({ code: 'Transient', message: 'the cloud has not answered the last 4 calls' });
  await call(account, { kind: 'Throttled' });
  expect([accounts.outage('a'), changes]).toEqual([undefined, ['a', 'a']]);
});

test('a cloud that is down for an hour: that is said all the time, it is asked now and then, and minutes after its return all is as if nothing had been', async () => {
  const { clock, accounts, account } = setUp();
  const [hour, start] = [3_600_000, clock.monotonic()];
  const budget = { failures: 10, ms: 600_000 };
  const retries = new StackRetries(clock, (error, streak) => retryAfterFailure(error, streak, budget, 0));
  let calls = 0;
  const ask = async (): Promise<void> => {
    const done = await account.acquire('get');
    calls++;
    const isDown = clock.monotonic() - start < hour;
    done({ kind: isDown ? 'Unanswered' : 'Answered' });
    if (isDown) throw new OperatorError('Transient', 'connect ECONNREFUSED');
  };
  const said = new Set<string | undefined>();
  const update = async (): Promise<number> => {
    for (;;) {
      try {
        await retry({ clock, random: () => 0.5, budgetMs: 20_000 }, ask, ({ code }) => code === 'Transient');
        return clock.monotonic() - start;
      } catch (thrown) {
        const { delayMs } = retries.failed('stack', toOperatorError(thrown));
        said.add(accounts.outage('a')?.code);
        await sleep(clock, delayMs);
      }
    }
  };
  const updated = update();
  await clock.advance(hour - 1);
  expect([[...said], retries.of('stack')?.exhausted]).toEqual([['Transient'], true]);
  // A try asks some 17 times in its 20 s, and after the first ten there is one in five minutes.
  expect(calls).toBeLessThan(500);
  await clock.advance(300_001);
  expect(await updated).toBeLessThanOrEqual(hour + 300_000);
  expect([accounts.outage('a'), account.limiter.rate, account.limiter.depth]).toEqual([undefined, account.limits.callsPerSecond, 0]);
});

test('calls that failed all at once are no outage', async () => {
  const { accounts, account } = setUp();
  for (let count = 0; count < 10; count++) await call(account, { kind: 'Unanswered' });
  expect(accounts.outage('a')).toBeUndefined();
});

test('few calls of one sort left: whoever makes them waits, and the others do not', async () => {
  const { clock, account } = setUp();
  await call(account, { kind: 'Answered', left: 6 });
  const start = clock.monotonic();
  const went: string[] = [];
  for (const verb of ['get', 'list', 'create', 'delete', 'update']) {
    void account.acquire(verb).then(() => went.push(`${verb} ${clock.monotonic() - start}`));
  }
  await settle();
  expect(went.sort()).toEqual(['create 0', 'delete 0', 'get 0', 'update 0']);
  await clock.advance(3_000);
  expect(went.at(-1)).toBe('list 3000');
});

describe('once the operator ends', () => {
  const ended = new OperatorError('Canceled', 'the operator ends');
  const afterMinutes = { kind: 'Throttled', retryAfterMs: 300_000 } as const;

  test.each<[string, (account: Account, clock: FakeClock) => Promise<void>]>([
    ['a Retry-After', async (account) => (await account.acquire('list', undefined, 'machines'))(afterMinutes)],
    ['a part’s Retry-After', async (account) => (await account.acquire('list', undefined, 'machines'))({ ...afterMinutes, ofPart: true })],
    [
      'a probe of its credentials',
      async (account, clock) => {
        await call(account, REFUSED);
        await clock.advance(30_000);
        await account.acquire('get');
      },
    ],
  ])('none of its calls waits for %s', async (_what, begin) => {
    const { clock, accounts, account } = setUp();
    await begin(account, clock);
    const waiting = account.acquire('list', undefined, 'machines');
    await settle();
    accounts.end(ended);
    await expect(waiting).rejects.toBe(ended);
  });

  test('those that come are refused, also of accounts that come; workers have their turn', async () => {
    const { clock, accounts, account } = setUp();
    (await account.acquire('create'))(afterMinutes);
    accounts.end(ended);
    const wanted = new AbortController();
    await expect(account.acquire('get')).rejects.toBe(ended);
    await expect(account.acquire('get', wanted.signal)).rejects.toBe(ended);
    await expect(accounts.of('b').acquire('get')).rejects.toBe(ended);
    const worker = account.acquireAt('update', 'Change', wanted.signal);
    await clock.advance(300_000);
    expect(await worker).toBeInstanceOf(Function);
  });
});

describe('refused credentials', () => {
  test('one probe per growing interval, 30 s to 5 min, until one succeeds', async () => {
    const { clock, account } = setUp();
    expect(await call(account, REFUSED)).toBe(true);
    const made: number[] = [];
    const start = clock.monotonic();
    for (let second = 0; second < 1_500; second++) {
      await clock.advance(1_000);
      if (await call(account, REFUSED)) made.push((clock.monotonic() - start) / 1000);
    }
    expect(made).toEqual([30, 90, 210, 450, 750, 1050, 1350]);
    expect(account.refusal?.retryAfterMs).toBe(150_000);
    await clock.advance(150_000);
    expect(await call(account, { kind: 'Answered' })).toBe(true);
    expect(account.refusal).toBeUndefined();
    expect(await call(account, { kind: 'Answered' })).toBe(true);
  });

  test('the error says who refuses, why, what to do, and when it is tried next', async () => {
    const { clock, account } = setUp();
    await call(account, REFUSED);
    await clock.advance(10_000);
    await expect(account.acquire('get')).rejects.toMatchObject({
      code: 'Credentials',
      retryAfterMs: 20_000,
      nextTryAt: clock.now() + 20_000,
      message: 'the cloud refuses the credentials of CloudProvider a: Unauthorized',
      remedy: expect.stringContaining('Repair') as string,
    });
  });

  test('while a probe is on its way others wait for its outcome', async () => {
    const { clock, account } = setUp();
    await call(account, REFUSED);
    await clock.advance(30_000);
    const probe = await account.acquire('get');
    const others = [account.acquire('create'), account.acquire('delete')].map((one) =>
      one.then(
        () => 'passed',
        () => 'refused',
      ),
    );
    probe({ kind: 'Answered' });
    expect(await Promise.all(others)).toEqual(['passed', 'passed']);
  });

  test('a refused probe refuses those who wait; one without an answer is given up', async () => {
    const { clock, account } = setUp();
    await call(account, REFUSED);
    await clock.advance(30_000);
    const probe = await account.acquire('get');
    const other = account.acquire('create').then(
      () => 'passed',
      () => 'refused',
    );
    await settle();
    probe(REFUSED);
    expect(await other).toBe('refused');
    await clock.advance(60_000);
    await account.acquire('get');
    const waiting = account.acquire('create').then(
      () => 'passed',
      () => 'refused',
    );
    await clock.advance(60_000);
    expect(await waiting).toBe('refused');
    expect(account.refusal?.retryAfterMs).toBe(60_000);
  });

  test('a repair closes it at once; answers to calls from before count for nothing', async () => {
    const { account, accounts, changes } = setUp();
    const old = await account.acquire('get');
    await call(account, REFUSED);
    expect(changes).toEqual(['a']);
    expect(accounts.refusal('a')).toBeDefined();
    account.repaired();
    expect(changes).toEqual(['a', 'a']);
    old(REFUSED);
    expect(account.refusal).toBeUndefined();
    await call(account, REFUSED);
    accounts.configure('a', { callsPerSecond: 7 });
    expect(account.refusal).toBeUndefined();
    expect(account.limits.callsPerSecond).toBe(7);
  });

  test.each([
    ['a good answer that was on its way', { kind: 'Answered' } as const],
    ['no answer', { kind: 'Unanswered' } as const],
    ['a second refusal', REFUSED],
  ])('%s changes nothing once it is open', async (_what, outcome) => {
    const { account, changes } = setUp();
    const old = await account.acquire('get');
    await call(account, REFUSED);
    old(outcome);
    expect(account.refusal?.retryAfterMs).toBe(30_000);
    expect(changes).toHaveLength(1);
  });

  test('another account goes on', async () => {
    const { account, accounts } = setUp();
    await call(account, REFUSED);
    expect(await call(accounts.of('b'), { kind: 'Answered' })).toBe(true);
  });
});

describe('limits of the account', () => {
  test('priority is that of the work, deletes and targets before all', async () => {
    const { clock, account } = setUp();
    account.configure({ callsPerSecond: 1, burst: 1, concurrentUpdates: 1 });
    const order: string[] = [];
    const take = (verb: string, name = verb): Promise<void> => {
      void account.acquire(verb).then(() => order.push(name));
      return Promise.resolve();
    };
    await take('get', 'first');
    await atPriority('Background', () => take('list', 'drift'));
    await take('create');
    await atPriority('First', () => take('get', 'member'));
    await atPriority('Background', () => take('delete'));
    await clock.advance(5_000);
    expect(order).toEqual(['first', 'member', 'delete', 'create', 'drift']);
  });

  test('Retry-After of one call holds all others', async () => {
    const { clock, account } = setUp();
    (await account.acquire('create'))({ kind: 'Throttled', retryAfterMs: 2_000 });
    let passed = false;
    void account.acquire('delete').then(() => (passed = true));
    await clock.advance(1_999);
    expect(passed).toBe(false);
    await clock.advance(1);
    expect(passed).toBe(true);
  });

  test('what a part of the cloud says of its own limits holds that part, and nobody else', async () => {
    const { clock, account } = setUp();
    (await account.acquire('list', undefined, 'machines'))({ kind: 'Throttled', retryAfterMs: 300_000, ofPart: true });
    const went: string[] = [];
    const take = (part?: string, verb = 'list'): void =>
      void account.acquire(verb, undefined, part).then(() => went.push(`${verb} ${part}`));
    take('machines');
    take('disks');
    take();
    take('machines', 'create');
    await clock.advance(299_999);
    expect(went).toEqual(['list undefined', 'list disks', 'create machines']);
    await clock.advance(1);
    expect(went.at(-1)).toBe('list machines');
    (await account.acquire('list', undefined, 'disks'))({ kind: 'Answered', left: 5_000, leftOfPart: 1 });
    (await account.acquire('list', undefined, 'disks'))({ kind: 'Answered', left: 5_000, leftOfPart: 0 });
    take('disks');
    take();
    await settle();
    expect(went.at(-1)).toBe('list undefined');
    await clock.advance(3_000);
    expect(went.at(-1)).toBe('list disks');
  });

  test('what the cloud says holds for all CloudProviders that are one account to it, while they are', async () => {
    const { clock, accounts } = setUp();
    for (const name of ['a', 'b']) accounts.configure(name, {}, 'subscription');
    accounts.configure('c');
    (await accounts.of('a').acquire('create'))({ kind: 'Throttled', retryAfterMs: 2_000 });
    const went: string[] = [];
    const take = (name: string, verb: string): void => {
      void accounts
        .of(name)
        .acquire(verb)
        .then(
          () => went.push(`${verb} ${name}`),
          () => went.push(`${verb} ${name} refused`),
        );
    };
    for (const name of ['a', 'b', 'c']) take(name, 'create');
    await settle();
    expect(went).toEqual(['create c']);
    await clock.advance(2_100);
    expect(went.sort()).toEqual(['create a', 'create b', 'create c']);
    (await accounts.of('a').acquire('get'))({ kind: 'Answered', left: 0 });
    (await accounts.of('a').acquire('get'))({ kind: 'Answered', left: 0 });
    take('b', 'get');
    await settle();
    expect(went).toHaveLength(3);
    // One that goes refuses nobody else; one that is another account now is not held up any more.
    accounts.remove('a');
    await clock.advance(3_000);
    expect(went.at(-1)).toBe('get b');
    accounts.configure('b', {}, 'another');
    take('b', 'get');
    await settle();
    expect(went).toHaveLength(5);
  });
});
