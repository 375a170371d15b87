import { fork } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { compiled } from '../../../operator/entry';
import { Accounts } from '../../../operator/updates/limits/accounts';
import { statOf } from '../../../operator/updates/process-stat';
import type { StackUpdate } from '../../../operator/updates/update';
import type { FakeInputs } from './fake-provider';
import { pulumiPath, UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
const DEADLINE_MS = 3_000;
/** The engine must have come as far as a create by then. */
const FROZEN_DEADLINE_MS = 8_000;
const GRACE_MS = 1_000;
/** What a loaded machine may add to deadline and grace. */
const SLACK_MS = 6_000;

beforeAll(async () => {
  await harness.start({ graceMs: GRACE_MS, maxWorkerMB: 160, memoryMB: 512 });
  // The deadlines are for what hangs, not for a worker that starts.
  await harness.run('warm', { things: [web] });
});
afterAll(() => harness.stop());

const web = { name: 'web', size: 1 };

interface Ended {
  error: OperatorError;
  tookMs: number;
}

/** Runs an update that fails. */
async function failing(stack: string, inputs: FakeInputs, more: Partial<StackUpdate> = {}): Promise<Ended> {
  const startedAt = performance.now();
  const error: unknown = await harness.run(stack, inputs, { deadlineMs: DEADLINE_MS, ...more }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OperatorError)) throw new Error(`expected an OperatorError, got ${String(error)}`);
  return { error, tookMs: performance.now() - startedAt };
}

function enginePid(stack: string): number | undefined {
  const started = harness.events.find(({ stack: of, event }) => of === stack && event.type === 'started');
  return started?.event.type === 'started' ? started.event.enginePid : undefined;
}

async function expectGone(stack: string): Promise<void> {
  const pid = enginePid(stack);
  if (pid !== undefined) await harness.until(() => statOf(pid) === undefined);
  await harness.until(() => harness.engine.workerPids.every((worker) => statOf(worker) !== undefined));
}

/** An engine in a process of its own; its argument says what for. */
const OPERATOR = `
  const { UpdateEngine } = require(${JSON.stringify(compiled('operator/updates/engine'))});
  const { DirectoryStateStore } = require(${JSON.stringify(compiled('operator/updates/state/directory-state-store'))});
  const { systemClock } = require(${JSON.stringify(compiled('operator/base/clock'))});
  const { silentLogger } = require(${JSON.stringify(compiled('operator/base/log'))});
  const { directory, pulumi, fake, update, ...more } = JSON.parse(process.argv[2]);
  const engine = new UpdateEngine({ store: new DirectoryStateStore(directory), tools: { pulumi }, logger: silentLogger,
    clock: systemClock, workerModules: { fake }, ...more });
`;

/** Everything of a process group. */
function membersOf(group: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.map(Number).filter((pid) => statOf(pid)?.processGroup === group);
}

describe('an update ends within deadline and grace, whatever hangs, and leaves nothing', () => {
  test('a call to the cloud that is never answered', async () => {
    harness.cloud.fault({ method: 'POST', name: 'held', kind: 'hold' });
    const { error, tookMs } = await failing('held', { things: [{ name: 'held', size: 1 }] });
    expect(error).toMatchObject({ code: 'Transient', message: 'stack held: the update did not end within 3000 ms and was stopped' });
    expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS);
    expect(tookMs).toBeLessThan(DEADLINE_MS + GRACE_MS + SLACK_MS);
    await expectGone('held');
    harness.cloud.release();
  });

  test('an engine that does nothing any more', async () => {
    // The worker of the test before is gone: a new one starts here, outside of the deadline.
    await harness.run('warm', { things: [{ ...web, size: 2 }] });
    harness.cloud.fault({ method: 'POST', name: 'frozen', kind: 'hold' });
    const ended = failing('frozen', { things: [{ name: 'frozen', size: 1 }] }, { deadlineMs: FROZEN_DEADLINE_MS });
    await harness.until(() => harness.cloud.heldCount > 0);
    const pid = enginePid('frozen');
    if (pid === undefined) throw new Error('no engine was started');
    process.kill(pid, 'SIGSTOP');
    const { error, tookMs } = await ended;
    expect(error.code).toBe('Transient');
    expect(tookMs).toBeLessThan(FROZEN_DEADLINE_MS + GRACE_MS + SLACK_MS);
    await expectGone('frozen');
    harness.cloud.release();
  });

  test('a worker that is frozen is found long before the deadline', async () => {
    const engine = harness.newEngine({ graceMs: GRACE_MS, silenceMs: 2_000, runDirectory: join(harness.directory, 'run-silent') });
    harness.cloud.fault({ method: 'POST', name: 'silent', kind: 'hold' });
    const held = harness.cloud.heldCount;
    const update = harness.update('silent', { things: [{ name: 'silent', size: 1 }] });
    const failed = engine.run(update, harness.hooks('silent')).catch((thrown: unknown) => thrown);
    await harness.until(() => harness.cloud.heldCount > held);
    const [worker = 0] = engine.workerPids;
    process.kill(worker, 'SIGSTOP');
    expect(await failed).toMatchObject({
      code: 'Transient',
      message: "stack silent: the update's worker process was silent for 2000 ms and was stopped",
    });
    await harness.until(() => membersOf(worker).length === 0);
    harness.cloud.release();
  });

  test.each([
    ['heap', 'Unknown', /^stack heap: the program used more than 160 MB of JavaScript heap and was stopped$/],
    ['buffers', 'Unknown', /the program used more than 512 MB of memory and was stopped/],
  ] as const)('a program that allocates %s without end', async (mode, code, message) => {
    const { error, tookMs } = await failing(mode, { mode }, { deadlineMs: 30_000 });
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.remedy).toContain('--update-memory');
    expect(tookMs).toBeLessThan(30_000);
    await expectGone(mode);
  });

  test('the same stacks work afterwards', async () => {
    const results = await Promise.all(['held', 'frozen', 'heap', 'buffers'].map((stack) => harness.run(stack, { things: [web] })));
    expect(results.map(({ result }) => result)).toEqual(Array(4).fill('Updated'));
    for (const stack of ['held', 'frozen', 'heap', 'buffers']) expect(harness.cloud.named('web', stack)).toHaveLength(1);
  });
});

test('one update that hangs delays nobody: five others end meanwhile', async () => {
  harness.cloud.fault({ method: 'POST', name: 'slow', kind: 'hold' });
  const slow = harness.run('slow', { things: [{ name: 'slow', size: 1 }] });
  await harness.until(() => harness.cloud.heldCount > 0);
  const quick = ['q1', 'q2', 'q3', 'q4', 'q5'].map((stack) => harness.run(stack, { things: [web] }));
  expect((await Promise.all(quick)).map(({ result }) => result)).toEqual(Array(5).fill('Updated'));
  expect(harness.cloud.heldCount).toBe(1);
  harness.cloud.release();
  expect((await slow).result).toBe('Updated');
});

describe('the account, shared by all workers', () => {
  /** An engine with accounts of its own. */
  function gated(runDirectory: string): { run: (stack: string) => Promise<unknown>; accounts: Accounts } {
    const accounts = new Accounts(systemClock);
    const engine = harness.newEngine({ runDirectory: join(harness.directory, runDirectory), accounts });
    const settings = { url: harness.cloud.url, gated: true };
    const update = (stack: string): StackUpdate => harness.update(stack, { things: [{ name: stack, size: 1 }] }, { settings });
    return { accounts, run: (stack) => engine.run(update(stack), harness.hooks(stack)) };
  }

  test('Retry-After of one update holds another one', async () => {
    const body = { code: 'Throttled', message: 'slow down', retryAfterMs: 3_000 };
    harness.cloud.fault({ method: 'POST', name: 'first', kind: 'refuse', body });
    const { run } = gated('run-throttled');
    await expect(run('first')).rejects.toMatchObject({ code: 'Throttled', retryAfterMs: 3_000 });
    await run('second');
    const at = (name: string): number => harness.cloud.calledAt.get(`POST ${name}`) ?? NaN;
    expect(at('second') - at('first')).toBeGreaterThanOrEqual(2_900);
  });

  test('refused credentials: no other update calls the cloud, until they are repaired', async () => {
    harness.cloud.fault({ method: 'POST', name: 'bad', kind: 'refuse', body: { code: 'Credentials', message: 'who are you' } });
    const { run, accounts } = gated('run-refused');
    await expect(run('bad')).rejects.toMatchObject({ code: 'Credentials' });
    const calls = harness.cloud.calls.length;
    await expect(run('other')).rejects.toMatchObject({ code: 'Credentials', message: expect.stringContaining('who are you') as string });
    expect(harness.cloud.calls).toHaveLength(calls);
    accounts.of('fake').repaired();
    await expect(run('other')).resolves.toMatchObject({ result: 'Updated' });
  });
});

test('a temporary folder that can not be written: one clear error, and all is well once it can', async () => {
  // Root may write everywhere, but not into a file.
  const temporary = join(harness.directory, 'temporary');
  writeFileSync(temporary, '');
  const script = `${OPERATOR}
    engine.warm();
    process.on('message', () => engine.run(update, { isValid: () => true }).then(
      ({ result }) => process.send({ result }),
      ({ code, message, remedy }) => process.send({ code, message, remedy }),
    ));
    process.on('disconnect', () => engine.close().then(() => process.exit(0)));
  `;
  const update = harness.update('read-only', { things: [web] });
  const argument = { directory: join(harness.directory, 'read-only'), pulumi: pulumiPath(), fake: harness.modulePath, update };
  const operator = fork(harness.script('read-only.cjs', script), [JSON.stringify(argument)], {
    env: { ...process.env, TMPDIR: temporary },
  });
  const ended = new Promise((resolve) => operator.once('exit', resolve));
  const run = (): Promise<unknown> => {
    const answer = new Promise((resolve) => operator.once('message', resolve));
    operator.send('run');
    return answer;
  };
  try {
    expect(await run()).toMatchObject({
      code: 'Transient',
      message: expect.stringContaining(temporary) as string,
      remedy: expect.stringContaining('TMPDIR') as string,
    });
    rmSync(temporary);
    mkdirSync(temporary);
    expect(await run()).toEqual({ result: 'Updated' });
  } finally {
    operator.disconnect();
    await ended;
  }
});

describe('orphans', () => {
  test.each([
    { how: 'is frozen, and does not notice that its channel has closed', killed: false },
    { how: 'was killed too, and the engine is frozen', killed: true },
  ])('of an operator that was killed, everything is ended by the next one, where the worker $how', async ({ killed }) => {
    harness.cloud.fault({ method: 'POST', kind: 'hold' });
    const held = harness.cloud.heldCount;
    const runDirectory = join(harness.directory, killed ? 'orphans-engine' : 'orphans');
    const operator = startOperator(runDirectory, `orphan${killed ? '-engine' : ''}`);
    await harness.until(() => harness.cloud.heldCount > held);
    const entries = (): string[] => readdirSync(runDirectory).filter((file) => file.endsWith('.json'));
    await harness.until(() => entries().length === 1);
    const worker = Number(entries()[0]?.replace('.json', ''));
    process.kill(killed ? -worker : worker, 'SIGSTOP');
    const ended = new Promise((resolve) => operator.once('exit', resolve));
    operator.kill('SIGKILL');
    await ended;
    if (killed) process.kill(worker, 'SIGKILL');
    await harness.until(() => (statOf(worker) === undefined) === killed);
    expect(membersOf(worker).length).toBeGreaterThanOrEqual(killed ? 1 : 2);

    const next = harness.newEngine({ runDirectory });
    next.warm();
    await harness.until(() => membersOf(worker).length === 0);
    expect(readdirSync(runDirectory)).not.toContain(`${worker}.json`);
    harness.cloud.release();
  });

  test('those of an operator that lives are left alone', async () => {
    await harness.run('alive', { things: [web] });
    const before = harness.engine.workerPids;
    harness.newEngine({}).warm();
    expect(harness.engine.workerPids).toEqual(before);
    expect(before.every((pid) => statOf(pid) !== undefined)).toBe(true);
  });

  /** An operator in a process of its own, in the middle of an update. */
  function startOperator(runDirectory: string, stack: string): ReturnType<typeof fork> {
    const script = `${OPERATOR} engine.run(update, { isValid: () => true });`;
    const update = harness.update(stack, { things: [{ name: stack, size: 1 }] });
    const argument = {
      directory: join(harness.directory, 'orphan-state'),
      pulumi: pulumiPath(),
      fake: harness.modulePath,
      update,
      runDirectory,
    };
    return fork(harness.script('operator.cjs', script), [JSON.stringify(argument)], { stdio: 'ignore' });
  }
});
