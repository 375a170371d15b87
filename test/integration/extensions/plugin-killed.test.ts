import type { JsonObject } from '../../../operator/base/json';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
import type { StackUpdate, UpdateResult } from '../../../operator/updates/update';
import { updateHash } from '../../../operator/updates/update-hash';
import { ExtendedHarness, WEB } from './extended-harness';
import { PluginFolder } from './plugin-folder';

/** A record of a DNS zone: made twice under one name, it is still one. */
const PLUGIN = (modules: string, cloud: string): string => `
const { main } = require('${modules}/@pulumi/pulumi/provider');
const call = (method, path, body) => fetch('${cloud}' + path, { method, body: JSON.stringify(body) }).then((answer) => answer.json());
main(
  {
    version: '7.48.0',
    check: async (urn, olds, inputs) => ({ inputs, failures: [] }),
    async create(urn, inputs) {
      await call('POST', '/things', { name: inputs.name, stack: 'dns', properties: {} });
      return { id: inputs.name, outs: { ...inputs, fqdn: inputs.name } };
    },
    async update(id, urn, olds, news) {
      await call('POST', '/things', { name: news.name, stack: 'dns', properties: {} });
      return { outs: { ...news, fqdn: news.name } };
    },
    async delete() {},
  },
  process.argv.slice(2),
);
`;

const harness = new ExtendedHarness();
const plugins = new PluginFolder();
let records: ExtensionModule;

beforeAll(async () => {
  await harness.start({ graceMs: 1_000, workers: 1, tools: { pulumi: plugins.pulumi() } });
  plugins.install('aws', PLUGIN(plugins.modules, harness.cloud.url));
  records = harness.write(`
    import { Record } from '${plugins.modules}/@pulumi/aws/route53/record.js';
    export function extra({ loadBalancers }) {
      for (const { name, ingress } of loadBalancers) {
        const record = (name, options) =>
          new Record(name, { zoneId: 'Z1', name, type: 'CNAME', ttl: 60, records: [ingress[0].hostname] }, options);
        record('second-' + name, { dependsOn: record('first-' + name) });
      }
    }`);
});
afterAll(async () => {
  await harness.stop();
  plugins.remove();
});

/** As the operator runs it: nobody can ask the clouds of other people's plugins what they have. */
function extra(stack: string, hostname: string | undefined, approved?: string): Promise<UpdateResult> {
  return harness.engine.run({ ...updateOf(stack, hostname), ...(approved !== undefined && { approved }) }, { isValid: () => true });
}

function updateOf(stack: string, hostname: string | undefined): StackUpdate {
  const inputs =
    hostname === undefined ? undefined : { stack: 'lb-web', loadBalancers: [{ ...WEB, ingress: [{ hostname }] }], outputs: {} };
  return harness.update(stack, inputs as unknown as JsonObject | undefined, { extension: { role: 'extra', module: records } });
}

/** Settles once a call for this name is held in the cloud, where it was carried out: then the plugin is killed. */
async function killPluginAt(name: string): Promise<void> {
  harness.cloud.fault({ method: 'POST', name, kind: 'hold' });
  await harness.cloud.until(() => harness.cloud.heldCount === 1);
  const running = plugins.running('aws');
  expect(running).not.toEqual([]);
  running.forEach((pid) => process.kill(pid, 'SIGKILL'));
  harness.cloud.release();
}

const asked = (name: string): number => harness.cloud.calls.filter((call) => call === `POST ${name}`).length;

test('a plugin that is killed in the middle of a create fails that update, and the next one has everything, without a person', async () => {
  const failing = expect(extra('killed', 'one.example')).rejects.toMatchObject({
    code: 'Transient',
    message: expect.stringMatching(/^stack killed: /) as string,
  });
  await killPluginAt('second-web');
  await failing;
  expect(plugins.running('aws')).toEqual([]);

  expect((await extra('killed', 'one.example')).result).toBe('Updated');
  expect([asked('first-web'), asked('second-web')]).toEqual([1, 2]);
  const { resources } = await extra('killed', 'one.example');
  expect(resources.map(({ name, id }) => `${name} ${id}`).sort()).toEqual(['first-web first-web', 'second-web second-web']);
});

test('one that is killed in the middle of an update', async () => {
  await extra('killed', 'one.example');
  const failing = expect(extra('killed', 'two.example')).rejects.toMatchObject({ code: 'Transient' });
  await killPluginAt('first-web');
  await failing;
  expect((await extra('killed', 'two.example')).changes.update).toBeGreaterThanOrEqual(1);
  expect((await extra('killed', 'two.example')).result).toBe('Unchanged');
  expect((await extra('killed', undefined)).result).toBe('Destroyed');
  expect(plugins.running('aws')).toEqual([]);
});

test('one that was approved goes on without another approval: the engine misses what was to come, which is no other plan', async () => {
  await extra('approved', 'one.example');
  const wanted = updateOf('approved', 'two.example');
  const { hash } = await harness.engine.preview(wanted, { isValid: () => true });
  const failing = expect(extra('approved', 'two.example', hash)).rejects.toMatchObject({ code: 'Transient', reason: undefined });
  await killPluginAt('first-web');
  await failing;
  expect(await harness.engine.state('approved')).toMatchObject({ open: true, underway: updateHash(wanted) });
  expect((await extra('approved', 'two.example')).result).toBe('Updated');
});
