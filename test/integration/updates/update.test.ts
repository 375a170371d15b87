import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { OperatorError } from '../../../operator/base/errors';
import { compiled } from '../../../operator/entry';
import { pulumiPath, compileFakeProvider, UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
beforeAll(() => harness.start({ maxRunsPerWorker: 100 }));
afterAll(() => harness.stop());

const web = { name: 'web', size: 1 };

function stateFile(stack: string): string {
  const folder = join(harness.directory, 'stacks', stack);
  const file = readdirSync(folder).find((name) => name.endsWith('.state'));
  return join(folder, file ?? 'missing');
}

/** The stored record as text. */
function storedText(stack: string): string {
  const bytes = readFileSync(stateFile(stack));
  return gunzipSync(bytes.subarray(bytes.indexOf(0x0a) + 1)).toString();
}

describe('a stack through the engine', () => {
  test('is created, updated, left alone and destroyed', async () => {
    const created = await harness.run('life', { things: [web, { name: 'db', size: 2, on: 'web' }] });
    expect(created.result).toBe('Updated');
    expect(created.changes).toEqual({ create: 2, update: 0, replace: 0, delete: 0, same: 0 });
    expect(created.cloudCalls).toBe(2);
    expect(created.outputs.web).toBe(harness.cloud.named('web')[0]?.properties.address);
    expect(created.resources.map((resource) => resource.name).sort()).toEqual(['db', 'web']);

    const changed = await harness.run('life', {
      things: [
        { ...web, size: 5 },
        { name: 'db', size: 2, on: 'web' },
      ],
    });
    expect(changed.changes).toEqual({ create: 0, update: 1, replace: 0, delete: 0, same: 1 });
    expect(harness.cloud.named('web')[0]?.properties.size).toBe(5);
    expect(changed.incarnation).toBe(created.incarnation);

    const destroyed = await harness.run('life', undefined);
    expect(destroyed.result).toBe('Destroyed');
    expect(destroyed.changes.delete).toBe(2);
    expect(harness.cloud.things.size).toBe(0);
    expect(await harness.engine.state('life')).toBeUndefined();
    expect((await harness.engine.states()).map((state) => state.stack)).not.toContain('life');

    const again = await harness.run('life', { things: [web] });
    expect(again.incarnation).not.toBe(created.incarnation);
  });

  test('unchanged inputs run nothing, also in another run of the operator', async () => {
    const first = await harness.run('same', { things: [web] });
    const file = stateFile('same');
    const calls = harness.cloud.calls.length;
    const events = harness.events.length;
    const restarted = harness.newEngine();
    for (const engine of [harness.engine, restarted]) {
      const result = await engine.run(harness.update('same', { things: [web] }), harness.hooks('same'));
      expect(result).toMatchObject({ result: 'Unchanged', outputs: first.outputs, resources: first.resources, epoch: 1 });
    }
    expect(restarted.workerPids).toEqual([]);
    expect(harness.cloud.calls.length).toBe(calls);
    expect(harness.events.length).toBe(events);
    expect(stateFile('same')).toBe(file);
  });

  test('a forced update of an unchanged stack runs, and writes nothing', async () => {
    await harness.run('forced', { things: [web] });
    const file = stateFile('forced');
    const calls = harness.cloud.calls.length;
    const result = await harness.run('forced', { things: [web] }, { force: true });
    expect(result.changes).toEqual({ create: 0, update: 0, replace: 0, delete: 0, same: 1 });
    expect(harness.cloud.calls.length).toBe(calls);
    expect(stateFile('forced')).toBe(file);
  });

  test('a property that can not change in place replaces the resource', async () => {
    await harness.run('replace', { things: [{ ...web, zone: 'a' }] });
    const [before] = harness.cloud.named('web', 'replace');
    const result = await harness.run('replace', { things: [{ ...web, zone: 'b' }] });
    expect(result.changes).toMatchObject({ create: 0, replace: 1, delete: 0 });
    const after = harness.cloud.named('web', 'replace');
    expect(after).toHaveLength(1);
    expect(after[0]?.id).not.toBe(before?.id);
  });

  test('a deletion that the cloud refuses: all else is as it was asked for, also by what is stored, and the next update tries it again', async () => {
    const body = { code: 'Credentials', message: 'locked', remedy: 'unlock it' };
    const refuse = (name: string): void => harness.cloud.fault({ method: 'DELETE', name, kind: 'refuse', body });
    const other = (name: string) => ({ name, size: 1 });
    const before = { things: [{ ...web, zone: 'a' }, other('old'), other('older')] };
    const inputs = { things: [{ ...web, zone: 'b' }, other('new')] };
    await harness.run('locked', before, { accepted: { old: {} } });
    for (const changes of [1, 0]) {
      refuse('old');
      const events = harness.events.length;
      const failed = harness.run('locked', inputs, { accepted: { new: {} } });
      await expect(failed).rejects.toMatchObject({
        ...{ code: 'Credentials', remedy: 'unlock it', message: expect.stringContaining('locked') as string },
        undeleted: [expect.stringMatching(/::old$/)],
      });
      const made = harness.events
        .slice(events)
        .filter(({ event }) => event.type === 'resource' && event.op === 'create' && event.state === 'Done');
      expect(made).toHaveLength(changes);
      const state = await harness.engine.state('locked');
      expect(state).toMatchObject({ open: true, inputs, accepted: { new: {} } });
      const [now] = harness.cloud.named('web', 'locked');
      expect(state?.outputs.web).toBe(now?.properties.address);
      expect(state?.resources.map(({ name }) => name).sort()).toEqual(['new', 'old', 'web']);
    }
    expect((await harness.run('locked', inputs, { accepted: { new: {} } })).changes).toMatchObject({ create: 0, delete: 1 });
    expect(harness.cloud.named('old', 'locked')).toEqual([]);
    refuse('new');
    await expect(harness.run('locked', undefined)).rejects.toMatchObject({ code: 'Credentials', undeleted: undefined });
  });

  test('a secret reaches the cloud in clear, the state encrypted, and survives another worker', async () => {
    const password = 'correct horse battery staple';
    await harness.run('secret', { things: [{ ...web, password }] });
    expect(harness.cloud.named('web', 'secret')[0]?.properties.password).toBe(password);
    const checkpoint = (JSON.parse(storedText('secret')) as { checkpoint: unknown }).checkpoint;
    expect(JSON.stringify(checkpoint)).not.toContain(password);
    expect(JSON.stringify(checkpoint)).toContain('ciphertext');
    const other = harness.newEngine();
    const update = harness.update('secret', { things: [{ ...web, password, size: 2 }] });
    const result = await other.run(update, harness.hooks('secret'));
    expect(result.changes).toMatchObject({ update: 1 });
    expect(harness.cloud.named('web', 'secret')[0]?.properties).toMatchObject({ password, size: 2 });
    expect(await other.compare('secret', harness.cloud.discover('secret'))).toEqual([]);
  });

  test('the state names no path of this machine and no address of an endpoint', async () => {
    await harness.run('bare', { things: [web] });
    expect(storedText('bare')).not.toMatch(/node_modules|127\.0\.0\.1|sourcePosition|stackTrace/);
  });
});

describe('updates of one stack', () => {
  test('run one after another; of those that wait only the newest runs', async () => {
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const first = harness.run('queue', { things: [web] });
    await harness.cloud.until(() => harness.cloud.named('web', 'queue').length === 1);
    let started = 0;
    const patches = (): number => harness.cloud.calls.filter((call) => call === 'PATCH web').length;
    const before = patches();
    const onStart = (): void => void started++;
    const waiting = [2, 3, 4].map((size) =>
      harness.engine.run(harness.update('queue', { things: [{ ...web, size }] }), harness.hooks('queue', { onStart })),
    );
    harness.cloud.release();
    expect((await first).changes.create).toBe(1);
    const results = await Promise.all(waiting);
    expect(new Set(results).size).toBe(1);
    expect(started).toBe(3);
    expect(harness.cloud.named('web', 'queue')[0]?.properties.size).toBe(4);
    expect(patches()).toBe(before + 1);
  });

  test('of another project are refused', async () => {
    await harness.run('owned', { things: [web] });
    const error = await harness.run('owned', { things: [web] }, { project: 'other' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'Conflict', message: 'stack owned belongs to fake (fake), not to other (fake)' });
  });
});

describe('workers', () => {
  test('are replaced after a number of updates, and end without work', async () => {
    const engine = harness.newEngine({ maxRunsPerWorker: 1, idleMs: 200 });
    await engine.run(harness.update('recycled-1', { things: [web] }), harness.hooks('recycled-1'));
    const [first] = engine.workerPids;
    await engine.run(harness.update('recycled-2', { things: [web] }), harness.hooks('recycled-2'));
    expect(engine.workerPids).not.toContain(first);
    const idle = harness.newEngine({ idleMs: 200 });
    await idle.run(harness.update('idle', { things: [web] }), harness.hooks('idle'));
    expect(idle.workerPids).toHaveLength(1);
    await harness.until(() => idle.workerPids.length === 0);
  });

  test('a missing Pulumi CLI is one clear error', async () => {
    const engine = harness.newEngine({ tools: { pulumi: '/nowhere/pulumi' } });
    const error = await engine.run(harness.update('no-cli', { things: [web] }), harness.hooks('no-cli')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject({ code: 'Invalid', message: "the Pulumi CLI at /nowhere/pulumi can't be run: ENOENT" });
  });

  test('end with the operator, and take the engine with them, when it is killed', async () => {
    const pids = await withKilledOperator();
    await harness.until(() => pids.every((pid) => !isAlive(pid)));
  });
});

describe('a state file', () => {
  test('that is damaged is refused, named, and left as it is', async () => {
    await harness.run('damaged', { things: [web] });
    const file = stateFile('damaged');
    const bytes = readFileSync(file);
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 0xff;
    writeFileSync(file, bytes);
    const error = await harness.run('damaged', { things: [{ ...web, size: 9 }] }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'Invalid', message: `state file ${file} is damaged: its checksum differs` });
    expect(readFileSync(file)).toEqual(bytes);
    expect((await harness.engine.states()).map((state) => state.stack)).toContain('owned');
    expect(harness.cloud.named('web', 'damaged')[0]?.properties.size).toBe(1);
  });
});

/** Runs an update in another operator process, kills that while the cloud holds its answer; gives the pids of its worker and engine. */
async function withKilledOperator(): Promise<number[]> {
  harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
  const options = {
    stateDirectory: harness.directory,
    pulumi: pulumiPath(),
    module: compileFakeProvider(),
    update: harness.update('orphan', { things: [web] }),
  };
  const script = `
    const { UpdateEngine } = require(${JSON.stringify(compiled('operator/updates/engine'))});
    const { silentLogger } = require(${JSON.stringify(compiled('operator/base/log'))});
    const { systemClock } = require(${JSON.stringify(compiled('operator/base/clock'))});
    const { DirectoryStateStore } = require(${JSON.stringify(compiled('operator/updates/state/directory-state-store'))});
    const options = ${JSON.stringify(options)};
    const onEvent = (_stack, event) => {
      if (event.type === 'started') process.stdout.write(JSON.stringify([...engine.workerPids, event.enginePid]) + '\\n');
    };
    const engine = new UpdateEngine({ store: new DirectoryStateStore(options.stateDirectory), tools: { pulumi: options.pulumi }, logger: silentLogger,
      clock: systemClock, workerModules: { fake: options.module }, onEvent });
    void engine.run(options.update, { isValid: () => true });`;
  const operator = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pids = await firstLine(operator);
  await harness.cloud.until(() => harness.cloud.named('web', 'orphan').length === 1);
  operator.kill('SIGKILL');
  return JSON.parse(pids) as number[];
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.split('\n')[0] ?? ''));
    child.once('error', reject);
  });
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
