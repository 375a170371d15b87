import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
import type { UpdateResult } from '../../../operator/updates/update';
import { ExtendedHarness, WEB } from './extended-harness';

const harness = new ExtendedHarness();
beforeAll(() => harness.start({ graceMs: 1_000, workers: 1 }));
afterAll(() => harness.stop());

const published = { stack: 'lb-web', loadBalancers: [{ ...WEB, ingress: [{ ip: '192.0.2.1' }] }], outputs: {} } as unknown as JsonObject;

/** Runs the extension's own program; without a module, destroys what it made. */
function extra(stack: string, module: ExtensionModule | undefined, inputs: JsonObject | undefined): Promise<UpdateResult> {
  const use = module === undefined ? ({ role: 'extra' } as const) : ({ role: 'extra', module } as const);
  return harness.run(stack, inputs, { extension: use });
}

const RECORD = `
  import { CustomResource } from '@pulumi/pulumi';
  import { defineExtension } from 'cloud-operator/extensions';
  class Thing extends CustomResource {}
  export default defineExtension({
    async extra({ stack, loadBalancers }) {
      for (const { name, ingress } of loadBalancers) new Thing('fake:index:Thing', 'dns-' + name, { size: 1, labels: { to: ingress[0].ip } });
      return { from: stack };
    },
  });`;

test('its program sees what the load balancers’ stack published, runs once, and again when that changes', async () => {
  const module = harness.write(RECORD);
  const first = await extra('web-extra', module, published);
  expect(first).toMatchObject({ result: 'Updated', outputs: { from: 'lb-web' }, changes: { create: 1 } });
  expect(harness.cloud.named('dns-web', 'web-extra')[0]?.properties).toMatchObject({ labels: { to: '192.0.2.1' } });
  expect((await extra('web-extra', module, published)).result).toBe('Unchanged');

  const moved = JSON.parse(JSON.stringify(published).replace('192.0.2.1', '192.0.2.2')) as JsonObject;
  expect((await extra('web-extra', module, moved)).changes.update).toBe(1);
  expect(harness.cloud.named('dns-web', 'web-extra')[0]?.properties).toMatchObject({ labels: { to: '192.0.2.2' } });
});

test('it is destroyed without the extension, even by an operator that has none any more', async () => {
  await extra('gone-extra', harness.write(RECORD), published);
  expect((await extra('gone-extra', undefined, undefined)).result).toBe('Destroyed');
  expect(harness.cloud.named('dns-web', 'gone-extra')).toEqual([]);
});

test.each([
  [
    'export async function extra() {\n  throw new TypeError("no bucket today");\n}',
    /extra of the extension .* failed: TypeError: no bucket today\n {4}at .*extra.*:2:9/,
  ],
  ['export function extra() { return "records"; }', /gave a string instead of an object with outputs/],
  ['export function extra() { for (;;); }', /did not end within 5 s/],
])('one that is broken is Invalid: %s', async (source, message) => {
  const error: unknown = await extra('broken-extra', harness.write(source), published).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OperatorError);
  expect(error).toMatchObject({ code: 'Invalid', message: expect.stringMatching(message) as string });
});

test('a type that no plugin serves is told, and nothing of it is left', async () => {
  const module = harness.write(`
    import { CustomResource } from '@pulumi/pulumi';
    class Any extends CustomResource {}
    export function extra() { new Any('nowhere:index:Thing', 'any', {}); }`);
  const error: unknown = await extra('nowhere-extra', module, published).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'Invalid',
    message: "stack nowhere-extra: no resource plugin 'pulumi-resource-nowhere' found in the workspace or on your $PATH",
    remedy: "put pulumi-resource-nowhere into /usr/local/bin of the operator's image (docs/extend.md)",
  });
});
