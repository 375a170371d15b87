import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controllerManagerCommand } from '../../../operator/cli/controller-manager-command';
import { programVersion } from '../../../operator/cli/version';

const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-ccm-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

const LOCAL = ['--cloud-provider=local', `--cloud-config=${file('local.yaml', 'local: {endpoint: "http://127.0.0.1:1"}')}`];

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function run(...args: string[]): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    jest.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[stream] += String(text);
      return true;
    }),
  );
  try {
    return { code: await controllerManagerCommand(args), ...said };
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
}

const NOT_IN_LIST = '"red-controller" is not in the list of known controllers';
const MIGRATION =
  'apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\nleaderName: m\nresourceLock: endpoints\n';
const MISSING = join(directory, 'missing');

/** Contract 7.1, 7.4: what is wrong with flags is exit code 1; what upstream finds when it makes its parts is 255. */
test.each<[string, string[], code: number, stderr: string | RegExp]>([
  [
    'an unknown flag, behind the usage',
    ['--nope'],
    1,
    /^Usage:\n {2}cloud-controller-manager \[flags\]\n\n[\s\S]*\nError: unknown flag: --nope\n$/,
  ],
  [
    'a value that is none',
    [...LOCAL, '--node-monitor-period=soon'],
    1,
    /\nError: invalid argument "soon" for "--node-monitor-period" flag: /,
  ],
  ['words', ['a', 'b'], 1, 'Error: "cloud-controller-manager" does not take any arguments, got ["a" "b"]\n'],
  ['no cloud', [], 1, '--cloud-provider cannot be empty\n'],
  ['all problems together', ['--controllers=red-controller'], 1, `[${NOT_IN_LIST}, --cloud-provider cannot be empty]\n`],
  ['one problem', [...LOCAL, '--controllers=red-controller'], 1, `${NOT_IN_LIST}\n`],
  [
    'a leader migration that is not there',
    [...LOCAL, '--enable-leader-migration', `--leader-migration-config=${MISSING}`],
    1,
    `unable to read leader migration configuration from "${MISSING}": ${MISSING} does not exist\n`,
  ],
  [
    'the lock of old',
    [...LOCAL, '--enable-leader-migration', `--leader-migration-config=${file('migration.yaml', MIGRATION)}`],
    255,
    /^error creating lock: endpoints lock is removed, migrate to leases/,
  ],
  [
    'a cloud that there is not',
    ['--cloud-provider=nowhere'],
    255,
    /^Cloud provider could not be initialized: unknown cloud provider "nowhere": /,
  ],
  ['a cloud’s file that is not there', ['--cloud-provider=local', `--cloud-config=${MISSING}`], 255, /missing does not exist/],
  [
    'a cluster CIDR that is none',
    [...LOCAL, '--cluster-cidr=10.0.0.0/33'],
    255,
    /^--cluster-cidr: cluster CIDR "10\.0\.0\.0\/33" is not a CIDR/,
  ],
  ['two cluster CIDRs of one family', [...LOCAL, '--cluster-cidr=10.0.0.0/16,10.1.0.0/16'], 255, /at most one of each family/],
  ['three cluster CIDRs', [...LOCAL, '--cluster-cidr=10.0.0.0/16,fd00::/48,10.1.0.0/16'], 255, /at most one of each family/],
  ['node IPAM without a range', [...LOCAL, '--allocate-node-cidrs'], 255, /cluster-cidr/],
  [
    'an allocator that upstream refuses too',
    [...LOCAL, '--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16', '--cidr-allocator-type=CloudAllocator'],
    255,
    'invalid CIDR allocator type: CloudAllocator\n',
  ],
  [
    'three service ranges',
    [...LOCAL, '--service-cluster-ip-range=10.0.0.0/16,fd00::/108,10.1.0.0/16'],
    255,
    /can not contain more than two entries/,
  ],
])('%s', async (_what, args, code, stderr) => {
  const ended = await run(...args);
  expect(ended).toMatchObject({ code, stdout: '' });
  if (typeof stderr === 'string') expect(ended.stderr).toBe(stderr);
  else expect(ended.stderr).toMatch(stderr);
});

/** What is not read is not judged; each of these goes on to the next mistake, which is another one. */
test.each<[string, string[]]>([
  ['cluster CIDRs without routes', ['--cluster-cidr=nonsense', '--configure-cloud-routes=false']],
  ['cluster CIDRs without the route controller', ['--cluster-cidr=nonsense', '--controllers=*,-route']],
  ['no cluster CIDR, with routes', ['--configure-cloud-routes=true']],
  ['a leader migration that is not switched on', [`--leader-migration-config=${MISSING}`]],
  ['a leader migration without an election', ['--enable-leader-migration', `--leader-migration-config=${MISSING}`, '--leader-elect=false']],
  ['masks without node IPAM', ['--node-cidr-mask-size=8', '--node-cidr-mask-size-ipv4=8']],
])('%s: no problem', async (_what, args) => {
  expect(await run(...args, '--cloud-provider=nowhere')).toMatchObject({
    code: 255,
    stderr: expect.stringMatching(/^Cloud provider could not be initialized/) as string,
  });
});

test.each<[string, RegExp]>([
  ['--help', /^The loops of .*[\s\S]*\nUsage:\n {2}cloud-controller-manager \[flags\]\n\nDebugging flags:\n/],
  ['-h', /\nGlobal flags:\n/],
  ['--version', new RegExp(`^cloud-operator v${programVersion().replaceAll('.', '\\.')}( \\(commit [0-9a-f]{40}\\))?\n$`)],
  ['--version=raw', /^version\.Info\{Major:"\d+", Minor:"\d+", GitVersion:"v/],
])('%s', async (flag, stdout) => {
  expect(await run(flag)).toEqual({ code: 0, stdout: expect.stringMatching(stdout) as string, stderr: '' });
});
