import { writeFileSync } from 'node:fs';
import { hashJson } from '../../../operator/base/json';
import { ExtendedHarness, WEB } from './extended-harness';

const harness = new ExtendedHarness();
beforeAll(() => harness.start({ graceMs: 1_000, workers: 1 }));
afterAll(() => harness.stop());

const inputs = { things: [{ name: 'web', size: 1 }] };
const several = { things: [...inputs.things, { name: 'second', size: 2, on: 'web' }] };

/** Properties in the cloud of the thing `web` of a stack. */
function inCloud(stack: string): unknown {
  const [only, ...others] = harness.cloud.named('web', stack);
  expect(others).toEqual([]);
  return only?.properties;
}

test('a changed argument is what the cloud gets, changed in place or given anew', async () => {
  const inPlace = harness.write(`
    import { defineExtension } from 'cloud-operator/extensions';
    export default defineExtension({
      transform({ type, name, args, loadBalancers }) {
        if (type === 'fake:index:Thing') args.labels = { seen: name + ' of ' + loadBalancers.map((lb) => lb.namespace + '/' + lb.name + ':' + lb.spec.scheme) };
      },
    });`);
  await harness.transformed('in-place', inPlace, inputs);
  expect(inCloud('in-place')).toMatchObject({ size: 1, labels: { seen: 'web of default/web:Public' } });

  const anew = harness.write(`
    interface Resource { args: { size: number } }
    export function transform({ args }: Resource) { return { ...args, size: args.size + 10 }; }`);
  const { outputs } = await harness.transformed('anew', anew, several);
  expect(inCloud('anew')).toMatchObject({ size: 11 });
  expect(outputs).toEqual({ web: expect.any(String) as string, second: expect.any(String) as string });
});

test('the digest decides whether anything runs', async () => {
  const module = harness.write('export function transform({ args }) { args.size = 5; }');
  const results = [await harness.transformed('digest', module, inputs), await harness.transformed('digest', module, inputs)];
  expect(results.map(({ result }) => result)).toEqual(['Updated', 'Unchanged']);

  const elsewhere = harness.write('export function transform({ args }) { args.size = 5; }');
  const changed = harness.write('export function transform({ args }) { args.size = 6; }');
  const { result, changes } = await harness.transformed('digest', changed, inputs);
  expect([result, changes.update]).toEqual(['Updated', 1]);
  expect(inCloud('digest')).toMatchObject({ size: 6 });
  // The name of a file is part of its digest, the folder is not.
  expect(elsewhere.digest).not.toBe(module.digest);

  const without = await harness.run('digest', inputs);
  expect(without.changes.update).toBe(1);
  expect(inCloud('digest')).toMatchObject({ size: 1 });
});

test('another extension that makes the same is written down, and no engine runs', async () => {
  const accepted = { uid: { listeners: 1 } };
  const engines = (): number => harness.events.filter(({ event }) => event.type === 'started').length;
  const first = harness.write('export function transform({ args }) { args.size = 5; }');
  await harness.transformed('same', first, inputs, { accepted });
  const second = harness.write('// Another way to say it.\nexport function transform({ args }) { args.size = 2 + 3; }');
  const [calls, before] = [harness.cloud.calls.length, engines()];
  expect(await harness.transformed('same', second, inputs, { accepted })).toMatchObject({ result: 'Unchanged', cloudCalls: 0 });
  expect(await harness.engine.state('same')).toMatchObject({ transform: second.digest, open: false });
  expect(await harness.run('same', { things: [{ name: 'web', size: 5 }] }, { accepted })).toMatchObject({ result: 'Unchanged' });
  expect((await harness.engine.state('same'))?.transform).toBeUndefined();
  expect([harness.cloud.calls.length, engines()]).toEqual([calls, before]);

  const third = harness.write('export function transform({ args }) { args.size = 6; }');
  expect(await harness.transformed('same', third, inputs, { accepted })).toMatchObject({ result: 'Updated' });
  expect(inCloud('same')).toMatchObject({ size: 6 });
});

test('without an extension the hash is what it was before there were extensions', async () => {
  const { inputsHash } = await harness.run('golden', inputs);
  expect(inputsHash).toBe(hashJson({ inputs, programVersion: '1', providerKind: 'fake' }));
  expect(inputsHash).toBe('ba81d50a88b8f1d0126ebb2a29a99f9c');
});

test('a refusal says what the author wrote, and nothing of the update reaches the cloud', async () => {
  const module = harness.write(`
    export function transform({ name, refuse, loadBalancers: [lb] }) {
      if (name === 'second') refuse(lb.name + ' must not have a second thing; remove it');
    }`);
  await harness.transformed('refused', module, inputs);
  const calls = harness.cloud.calls.length;
  const error = await harness.refused('refused', module, {
    things: [
      { name: 'web', size: 7 },
      { name: 'second', size: 2 },
    ],
  });
  expect(error).toMatchObject({
    code: 'Invalid',
    message: 'stack refused: refused by the extension: web must not have a second thing; remove it',
    resource: 'urn:pulumi:refused::fake::fake:index:Thing::second',
  });
  expect(harness.cloud.calls.length).toBe(calls);
  expect(inCloud('refused')).toMatchObject({ size: 1 });
  const { result } = await harness.transformed('refused', module, inputs);
  expect(result).toBe('Unchanged');
});

test('what it throws is told with the stack trace through its own files, their paths shortened', async () => {
  const module = harness.write(`interface Args { labels: { team: string } }
function teamOf(args: Args): string {
  return args.labels.team;
}
export function transform({ args }: { args: Args }) {
  teamOf(args);
}`);
  const error = await harness.refused('throws', module, inputs);
  expect(error.code).toBe('Invalid');
  const file = module.path.split('/').pop() ?? '';
  expect(error.message).toContain("TypeError: Cannot read properties of undefined (reading 'team')");
  expect(error.message.split('\n').slice(1)).toEqual([
    `    at teamOf (${file}:3:22)`,
    expect.stringMatching(`    at (Object\\.)?transform \\(${file}:6:3\\)`),
  ]);
  expect(harness.cloud.named('web', 'throws')).toEqual([]);
});

test.each([
  ['export async function transform() {}', /gave a Promise.*arguments/, /must not be async/],
  ['export function transform() { return "yes"; }', /gave a string instead of the resource's arguments/, /Return an object/],
  ['export function transform() { return [1]; }', /gave a list/, /Return an object/],
  ['export function transform() { throw "nothing"; }', /it threw "nothing", which is no Error/, undefined],
  ['throw new Error("not today");', /can't be loaded: Error: not today\n.*extension-\d+\.ts:1:7/, undefined],
  ['export const transform = ;', /can't be loaded: SyntaxError.*extension-\d+\.ts:1/s, undefined],
  ['export enum Size { Small }', /can't be loaded: .*enum/s, undefined],
  ['import "./missing.ts"; export function transform() {}', /can't be loaded: .*Cannot find module 'missing.ts'/, undefined],
  ['export const transform = 7;', /exports transform, but it is no function/, /Export the functions/],
  ['export const other = 7;', /exports neither transform nor extra/, /Export the functions/],
  ['process.exit(3); export function transform() {}', /process.exit\(3\)/, undefined],
])('an extension that is broken is Invalid, and the worker goes on: %s', async (source, message, remedy) => {
  const error = await harness.refused('broken', harness.write(source), inputs);
  expect(error.code).toBe('Invalid');
  expect(error.message).toMatch(message);
  if (remedy !== undefined) expect(error.remedy).toMatch(remedy);
  expect(harness.cloud.named('web', 'broken')).toEqual([]);
});

test('one that loops is stopped; other stacks are not touched, and the worker lives on', async () => {
  await harness.run('other', inputs);
  const pids = harness.engine.workerPids;
  const module = harness.write(`export function transform() { for (;;); }`);
  const error = await harness.refused('loops', module, inputs);
  expect(error).toMatchObject({
    code: 'Invalid',
    message: expect.stringMatching(/transform\(fake:index:Thing web\).*did not end within 1 s/) as string,
  });
  const result = await harness.run('other', several);
  expect(result.result).toBe('Updated');
  expect(harness.engine.workerPids).toEqual(pids);
});

test('one that was changed on disk after it was hashed does not run', async () => {
  const module = harness.write('export function transform() {}');
  writeFileSync(module.path, 'export function transform({ args }) { args.size = 99; }');
  const error = await harness.refused('changed', module, inputs);
  expect(error).toMatchObject({ code: 'Transient', remedy: 'Restart the operator: it then rolls the change out.' });
});

test('a transform may make what the provider knows, and nothing else', async () => {
  const source = (type: string): string => `
    import { CustomResource } from '@pulumi/pulumi';
    class Any extends CustomResource {}
    export function transform({ name }) { new Any('${type}', name + '-companion', { size: 3 }); }`;
  const { changes } = await harness.transformed('companion', harness.write(source('fake:index:Thing')), inputs);
  expect(changes.create).toBe(2);
  const error = await harness.refused('stranger', harness.write(source('aws:s3/bucket:Bucket')), inputs);
  expect(error).toMatchObject({
    code: 'Invalid',
    message: expect.stringMatching(/makes aws:s3\/bucket:Bucket "web-companion", which a load balancer's stack can't hold/) as string,
    remedy: expect.stringMatching(/Make it in extra\(outputs\)/) as string,
  });
  expect(harness.cloud.named('web', 'stranger')).toEqual([]);
});

test('the load balancers are part of the hash: what it decides on can’t change unseen', async () => {
  const module = harness.write('export function transform({ args, loadBalancers: [lb] }) { args.size = lb.spec.listeners.length; }');
  await harness.transformed('members', module, inputs);
  const listeners = [...WEB.spec.listeners, { ...WEB.spec.listeners[0], name: 'more', port: 81 }] as typeof WEB.spec.listeners;
  const loadBalancers = [{ ...WEB, spec: { ...WEB.spec, listeners } }];
  const { changes } = await harness.transformed('members', module, inputs, { extension: { role: 'transform', module, loadBalancers } });
  expect(changes.update).toBe(1);
  expect(inCloud('members')).toMatchObject({ size: 2 });
});
