import { Argument, type Command, Option } from 'commander';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { CallCounts, DriftRequest, FaultRules } from '../../providers/local/api';
import type { LocalCloudClient, ResourceCollection } from '../../providers/local/client';
import type { LocalCloudAdmin } from '../../providers/local/cloud/admin-client';
import { OperatorError } from '../base/errors';
import { cloudPlace, SERVE_DIRECTORY, SERVE_PORT, type CloudPlace, type PlaceFlags } from './cloud-place';
import type { Subcommand } from './command';
import { driftText, type DriftAnswer } from './drift-text';
import { parsePort } from './port';

const COLLECTIONS: readonly ResourceCollection[] = ['instances', 'addresses', 'loadbalancers', 'pools', 'routetables', 'routes'];

interface ServeFlags {
  config?: string;
  directory: string;
  port: number;
  socket?: string;
  tokenFile?: string;
  tier: 'auto' | 'vpc-root' | 'vpc-userns' | 'loopback' | 'netns' | 'none';
  namespace?: string;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** `cloud-operator local-cloud`: the small cloud of this machine, and what can be done to it. */
export const localCloud: Subcommand = (program: Command): void => {
  const group = program
    .command('local-cloud')
    .summary('the small cloud of this machine: run it, count its calls, make it fail')
    .description(
      'Runs the local cloud, and reaches what a real cloud does not have: call counts, fault rules, changes behind the operator’s back.',
    );
  addServe(group);
  addAddress(group);
  addCalls(group);
  addFaults(group);
  addList(group);
  addDrift(group);
  addRegister(group);
  reaching(group, 'topology')
    .description('print the tier and the address ranges')
    .action((flags: PlaceFlags) => withAdmin(flags, async (admin) => printJson(await admin.topology())));
};

function addServe(group: Command): void {
  group
    .command('serve')
    .description('run the local cloud in the foreground; Ctrl-C ends it and takes its network down')
    .option('--config <file>', 'JSON file; the other options are not read then')
    .option('--directory <folder>', 'what it remembers: the same folder gives the same ids and addresses', SERVE_DIRECTORY)
    .option('--port <n>', 'port on 127.0.0.1; 0 = any free one', parsePort, SERVE_PORT)
    .option('--socket <path>', 'listen on this unix socket instead')
    .option('--token-file <file>', 'made at the first start (default: the file token in the folder)')
    .addOption(
      new Option('--tier <tier>', 'how packets are moved')
        .choices(['auto', 'vpc-root', 'vpc-userns', 'loopback', 'netns', 'none'])
        .default('auto'),
    )
    .option('--namespace <path>', 'for --tier netns: the network namespace of your machines, such as /proc/1/ns/net')
    .addOption(
      new Option('--log-level <level>', 'how much is logged')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .action(async (flags: ServeFlags) => {
      const { serveLocalCloud } = await import('../../providers/local/cloud/serve.js');
      const { parseConfig, readConfig } = await import('../../providers/local/cloud/config.js');
      const config = flags.config === undefined ? parseConfig(configOf(flags)) : await readConfig(flags.config);
      // Workers of a data plane may hold the loop for a moment longer; the cloud has stopped in order.
      process.exit(await serveLocalCloud(config));
    });
}

function addAddress(group: Command): void {
  reaching(group, 'address')
    .description(
      'print where this machine reaches the load balancers, or one Service: curl http://$(cloud-operator local-cloud address web)/',
    )
    .argument('[service]', 'name or namespace/name; none = a table of all')
    .argument('[port]', 'name or number of its port; none = the first TCP port')
    .action((service: string | undefined, port: string | undefined, flags: PlaceFlags) =>
      withPlace(flags, (place) => printAddresses(place, service, port)),
    );
}

async function printAddresses(place: CloudPlace, service: string | undefined, port: string | undefined): Promise<void> {
  const { hostAddresses, hostAddressOf } = await import('./host-addresses.js');
  const all = hostAddresses(await withClient(place, (client) => client.list('loadbalancers')));
  if (service !== undefined) {
    process.stdout.write(`${hostAddressOf(all, service, port).address}\n`);
    return;
  }
  const { formatTable } = await import('./table.js');
  const rows = all.map(({ owner, listener, protocol, port: own, address }) => [owner, listener, `${own}/${protocol}`, address]);
  process.stdout.write(formatTable(['SERVICE', 'LISTENER', 'PORT', 'ON THIS MACHINE'], rows));
}

async function withClient<T>({ endpoint, tokenFile }: CloudPlace, use: (client: LocalCloudClient) => Promise<T>): Promise<T> {
  const { LocalCloudClient: Client } = await import('../../providers/local/client.js');
  const token = await readToken(tokenFile);
  const client = new Client({ endpoint, token: () => Promise.resolve(token), caller: 'cli' });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

function addCalls(group: Command): void {
  reaching(group, 'calls')
    .description('print how often the API was called, by caller')
    .option('--reset', 'begin counting anew')
    .option('--json', 'print JSON')
    .action((flags: PlaceFlags & { reset?: boolean; json?: boolean }) =>
      withAdmin(flags, async (admin) => {
        if (flags.reset === true) {
          await admin.resetCalls();
          return;
        }
        const counts = await admin.calls();
        if (flags.json === true) printJson(counts);
        else process.stdout.write(await callTable(counts));
      }),
    );
}

function addList(group: Command): void {
  reaching(group, 'list')
    .description('print what the cloud has, as JSON')
    .addArgument(new Argument('<collection>', 'of what').choices(COLLECTIONS))
    .action((collection: ResourceCollection, flags: PlaceFlags) =>
      withPlace(flags, async (place) => printJson(await withClient(place, (client) => client.list(collection)))),
    );
}

function addFaults(group: Command): void {
  const faults = group.command('faults').description('make the API fail by rules');
  reaching(faults, 'get')
    .description('print the rules, and how often each acted')
    .action((flags: PlaceFlags) => withAdmin(flags, async (admin) => printJson(await admin.faults())));
  reaching(faults, 'set')
    .argument('<file>', 'JSON: {"seed": 1, "rules": [{"match": {"verb": "create"}, "times": 1, "act": {"loseResponse": true}}]}')
    .description('replace the rules')
    .action(async (file: string, flags: PlaceFlags) => {
      const rules = (await readJson(file)) as FaultRules;
      await withAdmin(flags, async (admin) => printJson(await admin.setFaults(rules)));
    });
  reaching(faults, 'clear')
    .description('take all rules away; what was stuck goes on')
    .action((flags: PlaceFlags) => withAdmin(flags, async (admin) => printJson(await admin.setFaults({ rules: [] }))));
}

const DRIFT_REQUESTS = `
Requests (ids: cloud-operator local-cloud list COLLECTION):
  {"kind": "deleteRoute", "destinationCIDR": "10.244.1.0/24"}        the route, from the cloud's table
  {"kind": "deleteKernelRoute", "destinationCIDR": "10.244.1.0/24"}  only from where packets go; the table still has it
  {"kind": "patch", "collection": "loadbalancers", "id": ID, "fields": {"sourceRanges": ["198.51.100.0/24"]}}
  {"kind": "delete", "collection": "loadbalancers", "id": ID}
  {"kind": "setTargets", "id": POOL, "targets": [{"instanceID": ID, "port": 30080}]}
  {"kind": "power", "id": INSTANCE, "power": "stopped"}              running, stopped or terminated

Collections: instances, addresses, loadbalancers, pools, routetables, routes
`;

function addDrift(group: Command): void {
  reaching(group, 'drift')
    .description('change something behind the operator’s back')
    .argument('<request>', 'JSON, see below')
    .option('--json', 'print what it was made to, as JSON')
    .addHelpText('after', DRIFT_REQUESTS)
    .action(async (request: string, flags: PlaceFlags & { json?: boolean }) => {
      const parsed = parseJson(request, 'the request') as DriftRequest;
      await withAdmin(flags, async (admin) => {
        const answer = await admin.drift(parsed);
        if (flags.json === true) printJson(answer);
        else process.stdout.write(`${driftText(parsed, answer as DriftAnswer)}\n`);
      });
    });
}

function addRegister(group: Command): void {
  reaching(group, 'register')
    .description('make a machine known that the cloud did not make, under its Node’s name, or its new addresses; prints the providerID')
    .argument('<node>', 'name of the Node')
    .argument('<address...>', 'its IP addresses')
    .option('--zone <zone>', 'where it is', 'local-a')
    .action((name: string, addresses: string[], flags: PlaceFlags & { zone: string }) =>
      withPlace(flags, (place) =>
        withClient(place, async (client) => {
          const [known] = await client.list('instances', { name });
          const { providerID } =
            known === undefined
              ? await client.create('instances', { name, addresses, zone: flags.zone }, randomUUID(), {})
              : await client.update('instances', known.id, { addresses }, {});
          process.stdout.write(`${providerID}\n`);
        }),
      ),
    );
  reaching(group, 'unregister')
    .description('forget a machine; its targets leave, and routes to it become black holes')
    .argument('<node>', 'name of the Node')
    .action((name: string, flags: PlaceFlags) =>
      withPlace(flags, (place) =>
        withClient(place, async (client) => {
          const [found] = await client.list('instances', { name });
          if (found === undefined) throw new OperatorError('NotFound', `the local cloud has no machine "${name}"`);
          await client.remove('instances', found.id, {});
        }),
      ),
    );
}

/** A command that reaches a running local cloud. */
function reaching(parent: Command, name: string): Command {
  return parent
    .command(name)
    .addOption(
      new Option('--name <name>', 'that of this development cluster (default: of the one that is up)').conflicts(['endpoint', 'tokenFile']),
    )
    .option('--endpoint <url>', `http://127.0.0.1:PORT or unix:PATH (default, with no development cluster up: port ${SERVE_PORT})`)
    .option('--token-file <file>', 'the token of the local cloud (default: that of `local-cloud serve`)');
}

async function withPlace(flags: PlaceFlags, use: (place: CloudPlace) => Promise<void>): Promise<void> {
  const { clustersUp } = await import('../../dev/cluster/clusters-up.js');
  const clouds = [...clustersUp()].flatMap(([name, { cloud }]) => (cloud === undefined ? [] : [[name, cloud] as const]));
  await use(cloudPlace(flags, new Map(clouds)));
}

function withAdmin(flags: PlaceFlags, use: (admin: LocalCloudAdmin) => Promise<void>): Promise<void> {
  return withPlace(flags, async ({ endpoint, tokenFile }) => {
    const { LocalCloudAdmin: Admin } = await import('../../providers/local/cloud/admin-client.js');
    const admin = new Admin(endpoint, await readToken(tokenFile));
    try {
      await use(admin);
    } finally {
      await admin.close();
    }
  });
}

async function readToken(file: string): Promise<string> {
  return (await readText(file, 'start a local cloud: cloud-operator dev up; or name its token with --token-file')).trim();
}

function configOf({ directory, port, socket, tokenFile, tier, namespace, logLevel }: ServeFlags): object {
  const listen = socket === undefined ? { port } : { socket };
  return {
    directory,
    listen,
    tokenFile: tokenFile ?? join(directory, 'token'),
    tier,
    ...(namespace !== undefined && { namespace }),
    logLevel,
  };
}

async function callTable({ calls, total, writes }: CallCounts): Promise<string> {
  const { formatTable } = await import('./table.js');
  const rows = calls.map(({ caller, verb, collection, code, count }) => [caller, verb, collection, String(code), String(count)]);
  return `${formatTable(['CALLER', 'VERB', 'COLLECTION', 'CODE', 'COUNT'], rows)}${total} calls, ${writes} of them writes\n`;
}

async function readJson(file: string): Promise<unknown> {
  return parseJson(await readText(file), file);
}

async function readText(file: string, remedy?: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new OperatorError('Invalid', `${file} can't be read: ${(error as Error).message}`, { cause: error, ...(remedy && { remedy }) });
  }
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OperatorError('Invalid', `${what} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
