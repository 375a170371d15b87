import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compiled, PROJECT_ROOT } from '../../../operator/entry';
import { Processes, type CloudProcess } from './process';

const SCRIPT = `
const { Command } = require('commander');
const program = new Command('cloud-operator');
require(${JSON.stringify(compiled('operator/cli/local-cloud'))}).localCloud(program);
program.parseAsync(process.argv.slice(1), { from: 'user' }).catch((error) => {
  process.stderr.write(error.message + '\\n');
  process.exitCode = 1;
});`;

describe('cloud-operator local-cloud', () => {
  const processes = new Processes();
  let cloud: CloudProcess;
  beforeAll(async () => {
    cloud = await processes.start();
  });
  afterAll(() => processes.cleanUp());

  async function run(...args: string[]): Promise<string> {
    const flags = ['--endpoint', cloud.ready.endpoint, '--token-file', join(cloud.directory, 'token')];
    const all = ['-e', SCRIPT, '--', 'local-cloud', ...args, ...flags];
    return (await promisify(execFile)(process.execPath, all, { cwd: PROJECT_ROOT })).stdout;
  }

  test('topology', async () => {
    expect(JSON.parse(await run('topology'))).toMatchObject({ tier: 'none' });
  });

  test('register: a machine with its own addresses, new ones for it, and forgotten again', async () => {
    const providerID = (await run('register', 'kind-worker', '172.18.0.3', '--zone', 'b')).trim();
    expect(providerID).toMatch(/^local:\/\/\/b\/i-/);
    expect((await run('register', 'kind-worker', '172.18.0.4', 'fc00::4')).trim()).toBe(providerID);
    const [machine] = (JSON.parse(await run('list', 'instances')) as { name: string; addresses: object[] }[]).filter(
      ({ name }) => name === 'kind-worker',
    );
    expect(machine?.addresses).toEqual([
      { family: 'IPv4', ip: '172.18.0.4' },
      { family: 'IPv6', ip: 'fc00::4' },
    ]);
    await run('unregister', 'kind-worker');
    await expect(run('unregister', 'kind-worker')).rejects.toThrow('the local cloud has no machine "kind-worker"');
  });

  test('calls: a table, JSON, and anew', async () => {
    await run('calls', '--reset');
    await cloud.list('pools');
    await cloud.create('addresses', { name: 'counted' });
    expect(await run('calls')).toMatch(
      /^CALLER +VERB +COLLECTION +CODE +COUNT\ntest +list +pools +200 +1\n.*\n2 calls, 1 of them writes\n$/,
    );
    expect(JSON.parse(await run('calls', '--json'))).toMatchObject({ total: 2, writes: 1 });
  });

  test('list: what the cloud has, and not what it never has', async () => {
    const { id } = (await cloud.create('addresses', { name: 'listed' })).body.resource;
    expect(JSON.parse(await run('list', 'addresses'))).toContainEqual(expect.objectContaining({ id, name: 'listed' }));
    await expect(run('list', 'moons')).rejects.toThrow('Allowed choices are instances, addresses,');
  });

  test('faults: set from a file, seen, cleared', async () => {
    const file = join(cloud.directory, 'faults.json');
    await writeFile(file, JSON.stringify({ rules: [{ match: { verb: 'list' }, act: { status: 503, code: 'Unavailable' } }] }));
    await run('faults', 'set', file);
    expect((await cloud.call('GET', '/v1/pools')).status).toBe(503);
    expect(JSON.parse(await run('faults', 'get'))).toMatchObject({ rules: [{ matched: 1, acted: 1 }] });
    await run('faults', 'clear');
    expect((await cloud.call('GET', '/v1/pools')).status).toBe(200);
  });

  test('drift changes the cloud without a call being counted', async () => {
    const { id } = (await cloud.create('instances', { name: 'node' })).body.resource;
    await run('calls', '--reset');
    expect(await run('drift', JSON.stringify({ kind: 'power', id, power: 'stopped' }))).toBe(`instances/${id} (node) is stopped.\n`);
    expect(JSON.parse(await run('drift', '--json', JSON.stringify({ kind: 'power', id, power: 'stopped' })))).toMatchObject({
      resource: { id },
    });
    expect(JSON.parse(await run('calls', '--json'))).toMatchObject({ total: 0 });
    expect((await cloud.call('GET', `/v1/instances/${id}`)).body).toMatchObject({ power: 'stopped' });
  });

  test.each<[string, string[], RegExp]>([
    ['a request that is not JSON', ['drift', '{'], /the request is not JSON/],
    ['a file that is not there', ['faults', 'set', '/nonexistent'], /\/nonexistent can't be read/],
    ['a drift that there is not', ['drift', '{"kind":"earthquake"}'], /kind: must be one of deleteRoute, deleteKernelRoute, patch, /],
    [
      'a request that the cloud refuses',
      ['drift', '{"kind":"delete","collection":"pools","id":"p"}'],
      /pools\/p does not exist \(.*: NotFound\)/,
    ],
  ])('%s is told in one line', async (_title, args, message) => {
    const failure = await run(...args).then(
      () => 'it worked',
      (error: Error & { stderr?: string }) => error.stderr ?? error.message,
    );
    expect(failure).toMatch(message);
    expect(failure.trim().split('\n')).toHaveLength(1);
  });
});
