import { systemClock, type Clock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
import type { UpdateResult } from '../../../operator/updates/update';
import { ExtendedHarness, WEB } from './extended-harness';
import { PluginFolder } from './plugin-folder';

/** A create of two calls, as many official plugins make them: an object, then what is set on it. */
const PLUGIN = (modules: string, cloud: string): string => `
const { main } = require('${modules}/@pulumi/pulumi/provider');
const call = (name) => fetch('${cloud}/things', { method: 'POST', body: JSON.stringify({ name, stack: 'dns', properties: {} }) });
main(
  {
    version: '7.48.0',
    check: async (urn, olds, inputs) => ({ inputs, failures: [] }),
    async create(urn, inputs) {
      await call(inputs.name);
      await call(inputs.name + '-set');
      return { id: inputs.name, outs: inputs };
    },
    async delete() {},
  },
  process.argv.slice(2),
);
`;

let stopped = false;
/** Of an operator whose timers stand still while it is stopped. */
const clock: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms, () => void (stopped || run())) };
let leads = true;

const harness = new ExtendedHarness();
const plugins = new PluginFolder();
let records: ExtensionModule;

beforeAll(async () => {
  await harness.start({ clock, graceMs: 1_000, workers: 1, tools: { pulumi: plugins.pulumi() } });
  plugins.install('aws', PLUGIN(plugins.modules, harness.cloud.url));
  records = harness.write(`
    import { Record } from '${plugins.modules}/@pulumi/aws/route53/record.js';
    export function extra({ stack }) {
      new Record(stack, { zoneId: 'Z1', name: stack, type: 'CNAME', ttl: 60, records: ['one.example'] });
    }`);
});
afterAll(async () => {
  await harness.stop();
  plugins.remove();
});

function extra(name: string): Promise<UpdateResult> {
  const inputs = { stack: name, loadBalancers: [WEB], outputs: {} } as unknown as JsonObject;
  return harness.engine.run(harness.update(name, inputs, { extension: { role: 'extra', module: records } }), { isValid: () => leads });
}

test.each([
  { name: 'stopped', how: 'its operator is stopped', end: () => (stopped = true) },
  { name: 'deposed', how: 'its operator loses its lease', end: () => (leads = false) },
  { name: 'killed', how: 'its worker is killed', end: () => harness.engine.workerPids.forEach((pid) => process.kill(pid, 'SIGKILL')) },
])('an official plugin writes nothing more once $how', async ({ name, end }) => {
  harness.cloud.fault({ method: 'POST', name, kind: 'hold' });
  const ended = extra(name).catch((thrown: unknown) => thrown);
  await harness.cloud.until(() => harness.cloud.heldCount === 1);
  expect(plugins.running('aws')).toHaveLength(1);
  end();
  await harness.until(() => plugins.running('aws').length === 0);
  harness.cloud.release();
  [stopped, leads] = [false, true];
  expect(await ended).toBeInstanceOf(Error);
  expect(harness.cloud.named(`${name}-set`)).toEqual([]);

  expect((await extra(name)).result).toBe('Updated');
  expect(harness.cloud.named(`${name}-set`)).toHaveLength(1);
});
