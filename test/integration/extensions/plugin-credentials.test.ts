import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { JsonObject } from '../../../operator/base/json';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
import type { UpdateResult } from '../../../operator/updates/update';
import { filesBelow, filesWith } from '../state/planted';
import { ExtendedHarness, WEB } from './extended-harness';
import { PluginFolder } from './plugin-folder';

/** Credentials of the CloudProvider's account, and of another one that only the extension knows. */
const ACCOUNT = { accessKeyId: 'AKIAOFTHEACCOUNT', secretAccessKey: 'glockenspiel-of-the-account-23421508' };
const OTHER_SECRET = 'xylophone-of-another-account-99170';
const plugins = new PluginFolder();
const { modules } = plugins;

/** What it was given is written down as a hash, beside all folders that are searched. */
const PLUGIN = (notes: string): string => `
const { createHash } = require('node:crypto');
const { appendFileSync } = require('node:fs');
const grpc = require('${modules}/@grpc/grpc-js');
const { main } = require('${modules}/@pulumi/pulumi/provider');
const hash = (text) => (text === undefined ? null : createHash('sha256').update(text).digest('hex'));
const note = (what, more) => appendFileSync('${notes}', JSON.stringify({ what, ...more }) + '\\n');
const addService = grpc.Server.prototype.addService;
grpc.Server.prototype.addService = function (definition, service) {
  const configure = service.configure.bind(service);
  service.configure = (call, callback) => {
    const { secretKey } = call.request.getArgs().toJavaScript();
    note('configured', { secret: hash(secretKey?.value ?? secretKey) });
    configure(call, callback);
  };
  return addService.call(this, definition, service);
};
const environment = () => ({ region: process.env.AWS_REGION, id: process.env.AWS_ACCESS_KEY_ID, secret: hash(process.env.AWS_SECRET_ACCESS_KEY) });
main(
  {
    version: '7.48.0',
    async check(urn, olds, news) {
      if (urn.includes('route53/zone:')) throw new Error('unrecognized resource type (Check): aws:route53/zone:Zone');
      return { inputs: news, failures: [] };
    },
    async create(urn, inputs) {
      note('created', { name: inputs.name, ...environment() });
      if (inputs.name.startsWith('fails')) throw new Error('AccessDenied: signed with ' + process.env.AWS_SECRET_ACCESS_KEY);
      return { id: inputs.name, outs: { ...inputs, fqdn: inputs.name } };
    },
    async update(id, urn, olds, news) {
      note('updated', { name: news.name, ...environment() });
      return { outs: { ...news, fqdn: news.name } };
    },
    async delete(id) {
      note('deleted', { name: id, ...environment() });
    },
  },
  process.argv.slice(2),
);
`;

const harness = new ExtendedHarness();
const folder = plugins.path;
const notes = join(folder, 'notes');
const log: string[] = [];

beforeAll(() => {
  plugins.install('aws', PLUGIN(notes));
  const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  return harness.start({ graceMs: 1_000, workers: 1, tools: { pulumi: plugins.pulumi() }, logger });
});
afterAll(async () => {
  await harness.stop();
  plugins.remove();
});
beforeEach(() => rmSync(notes, { force: true }));

function noted(): Record<string, unknown>[] {
  if (!existsSync(notes)) return [];
  const lines = readFileSync(notes, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Runs the extension's own program beside a load balancer of a CloudProvider of kind aws. */
function extra(stack: string, module: ExtensionModule, inputs: JsonObject | undefined): Promise<UpdateResult> {
  const settings = { region: 'eu-central-1', credentials: ACCOUNT };
  return harness.run(stack, inputs, { providerKind: 'aws', settings, extension: { role: 'extra', module } });
}

const publishedAt = (hostname: string): JsonObject =>
  ({ stack: 'lb-web', loadBalancers: [{ ...WEB, ingress: [{ hostname }] }], outputs: {} }) as unknown as JsonObject;

/** A DNS record for each load balancer. @param options TypeScript of the resource's options */
function recordsNamed(prefix: string, before = '', options = '{}'): ExtensionModule {
  return harness.write(`
    import { readFileSync } from 'node:fs';
    import { Provider } from '${modules}/@pulumi/aws/provider.js';
    import { Record } from '${modules}/@pulumi/aws/route53/record.js';
    export function extra({ loadBalancers }) {
      ${before}
      for (const { name, ingress } of loadBalancers)
        new Record('dns-' + name, { zoneId: 'Z1', name: '${prefix}' + name, type: 'CNAME', ttl: 60, records: [ingress[0].hostname] }, ${options});
    }`);
}

/** Where a secret stands in clear: the state's files, the engine's and workers' own, the log, and all that the updates have told. */
function placesOf(secret: string): string[] {
  const files = [...filesBelow(harness.directory), ...filesBelow(tmpdir(), 'cloud-operator-worker-')];
  const told = [...log, JSON.stringify(harness.events)].some((text) => text.includes(secret));
  return [...filesWith(files, secret), ...(told ? ['what was told'] : [])];
}

test('a resource without a provider of its own is made with the credentials of the CloudProvider, which stand nowhere', async () => {
  const module = recordsNamed('web-of-');
  const given = { region: 'eu-central-1', id: ACCOUNT.accessKeyId, secret: hashOf(ACCOUNT.secretAccessKey) };
  expect(await extra('default-extra', module, publishedAt('one.example'))).toMatchObject({ changes: { create: 1 } });
  expect((await extra('default-extra', module, publishedAt('two.example'))).changes.update).toBe(1);
  expect(filesWith(filesBelow(harness.directory), 'default-extra').length).toBeGreaterThan(0); // a search that finds what is there
  expect(placesOf(ACCOUNT.secretAccessKey)).toEqual([]);
  expect((await extra('default-extra', module, undefined)).result).toBe('Destroyed');
  const made = noted().filter(({ what }) => what !== 'configured');
  expect(made).toEqual(['created', 'updated', 'deleted'].map((what) => ({ what, name: 'web-of-web', ...given })));
  expect(placesOf(ACCOUNT.secretAccessKey)).toEqual([]);
});

test('what a plugin says of them when it fails is taken out', async () => {
  const failing = extra('failing-extra', recordsNamed('fails-'), publishedAt('one.example'));
  await expect(failing).rejects.toMatchObject({
    code: 'Credentials',
    message: expect.stringContaining('AccessDenied: signed with [secret]') as string,
  });
  expect(placesOf(ACCOUNT.secretAccessKey)).toEqual([]);
});

test('an explicit provider has what the extension gives it, encrypted in the state and read again from there', async () => {
  mkdirSync(join(folder, 'mounted'));
  writeFileSync(join(folder, 'mounted', 'secret'), OTHER_SECRET);
  const provider = `const provider = new Provider('dns', { region: 'us-east-1', accessKey: 'AKIAOTHER', secretKey: readFileSync('${folder}/mounted/secret', 'utf8') });`;
  const module = recordsNamed('other-', provider, '{ provider }');
  expect((await extra('explicit-extra', module, publishedAt('one.example'))).changes.create).toBe(1);
  expect(placesOf(OTHER_SECRET)).toEqual([]);
  rmSync(notes);
  expect((await extra('explicit-extra', module, undefined)).result).toBe('Destroyed');
  expect(noted()).toEqual(expect.arrayContaining([{ what: 'configured', secret: hashOf(OTHER_SECRET) }]));
  expect(placesOf(OTHER_SECRET)).toEqual([]);
});

test('a plugin of another version, which does not know a resource, is one clear failure, and nothing is made', async () => {
  const zone = harness.write(`
    import { Zone } from '${modules}/@pulumi/aws/route53/zone.js';
    export function extra() { new Zone('zone', { name: 'apps.example.com' }); }`);
  await expect(extra('version-extra', zone, publishedAt('one.example'))).rejects.toMatchObject({
    message: expect.stringContaining('unrecognized resource type (Check): aws:route53/zone:Zone') as string,
    resource: expect.stringMatching(/aws:route53\/zone:Zone::zone$/) as string,
  });
  expect(noted().filter(({ what }) => what === 'created')).toEqual([]);
});
