import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Condition } from '../../../crds';
import type { LoadBalancer } from '../../../providers/local/api';
import { kstatusOf } from '../../harness/kstatus';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, type Scene, serviceOf, type StoredStack, withScene } from '../operator/scene';

/** What programs of extensions do wrong; each is asked for by a source range of its own. */
const MISTAKES = ['throws', 'loops', 'exits', 'doubles', 'says', 'prints', 'null', 'strays', 'grows', 'allocates', 'hangs'] as const;
type Mistake = (typeof MISTAKES)[number];

const DEADLINE_MS = 10_000;
/** The deadline, and what ends a program by force. */
const ENDED_MS = DEADLINE_MS + 30_000;

const EXTENSION = `
import { randomBytes } from 'node:crypto';
import { CustomResource } from '@pulumi/pulumi';
import { defineExtension, type LoadBalancer } from 'cloud-operator/extensions';

class Address extends CustomResource {}
class Any extends CustomResource {}

const MISTAKES = ${JSON.stringify(MISTAKES)};

function mistakeFor({ spec }: LoadBalancer): string {
  return MISTAKES.find((_, n) => spec.sourceRanges?.includes('10.66.' + n + '.0/24')) ?? 'none';
}

function makeSpare({ uid, namespace, name }: LoadBalancer): void {
  new Address('local:index:Address', 'spare', { name: 'spare-' + uid, ownerUID: uid, owner: namespace + '/' + name, family: 'IPv4', ip: undefined });
}

function sizeOf({ name }: LoadBalancer): number {
  throw new Error('no size for ' + name);
}

const TRANSFORMS: Record<string, (loadBalancer: LoadBalancer) => unknown> = {
  throws: (loadBalancer) => sizeOf(loadBalancer),
  loops: () => {
    for (;;);
  },
  exits: () => process.exit(3),
  doubles: (loadBalancer) => {
    makeSpare(loadBalancer);
    makeSpare(loadBalancer);
  },
  says: () => 'yes',
  prints: () => {
    process.stdout.write(JSON.stringify({ type: 'done', id: 'forged' }) + '\\n');
  },
};

const EXTRAS: Record<string, (loadBalancer: LoadBalancer) => unknown> = {
  null: () => null,
  strays: ({ name }) => {
    new Any('nowhere:index:Thing', name, {});
  },
  grows: (loadBalancer) => {
    makeSpare(loadBalancer);
    return { noise: randomBytes(1_500_000).toString('base64') };
  },
  allocates: async () => {
    for (const kept: Buffer[] = []; ; await new Promise((resolve) => setTimeout(resolve, 20))) kept.push(Buffer.alloc(32 * 1024 * 1024, 1));
  },
  hangs: () => new Promise(() => undefined),
};

export default defineExtension({
  transform({ type, loadBalancers: [loadBalancer] }) {
    return type === 'local:index:TargetPool' ? TRANSFORMS[mistakeFor(loadBalancer)]?.(loadBalancer) : undefined;
  },
  extra({ loadBalancers: [loadBalancer] }) {
    return EXTRAS[mistakeFor(loadBalancer)]?.(loadBalancer);
  },
});
`;

/** Of the extension, which a stack trace is to name. */
function lineOf(text: string): number {
  return EXTENSION.split('\n').findIndex((line) => line.includes(text)) + 1;
}

const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-bad-'));
writeFileSync(join(folder, 'index.ts'), EXTENSION);

let cluster: OperatorCluster;
let scene: Scene;

withScene(
  (made) => {
    scene = made;
    cluster = made.cluster;
  },
  { flags: [`--extension=${folder}`, `--update-deadline=${DEADLINE_MS / 1000}s`, '--update-memory=512'] },
);

afterAll(() => rmSync(folder, { recursive: true }));

let good: LoadBalancer;
let address: string;

beforeAll(async () => {
  await cluster.apply(serviceOf('web'), serviceOf('beside'));
  address = await scene.published('web');
  await scene.published('beside');
  good = await scene.inCloud('web');
});

function withRange(name: string, range: string): object {
  return serviceOf(name, { spec: { loadBalancerSourceRanges: [range] } });
}

/** Waits until a load balancer has been changed. */
async function isChanged(name: string, range: string): Promise<void> {
  await scene.until(`${name} to be changed`, async () => (await scene.inCloud(name)).sourceRanges.includes(range));
  await scene.ready(name);
}

/** The load balancer `web` is to meet a mistake; the one beside it is changed, and must not notice. */
async function meet(mistake: Mistake): Promise<string> {
  const at = MISTAKES.indexOf(mistake);
  const [bad, harmless] = [`10.66.${at}.0/24`, `10.7.${at}.0/24`];
  await cluster.apply(withRange('web', bad), withRange('beside', harmless));
  await isChanged('beside', harmless);
  return bad;
}

/** What serves: without what each write changes. */
function served({ id, scheme, addressIDs, listeners, sourceRanges }: LoadBalancer): object {
  return { id, scheme, addressIDs, listeners, sourceRanges };
}

/** What a condition of `web` says, once that is what a mistake leads to, and no longer what the one before has led to. */
function said(type: string, message: RegExp): Promise<Condition> {
  return scene.until(
    `the condition ${type} to say ${message}`,
    async () => {
      const conditions = (await scene.loadBalancer('web'))?.status?.conditions ?? [];
      const found = conditions.find((condition) => condition.type === type);
      if (found !== undefined && message.test(found.message)) return found;
      throw new Error(JSON.stringify(conditions));
    },
    ENDED_MS,
  );
}

function isServing(): Promise<true> {
  return scene.until('the address to be told', async () => addressOf(await scene.service('web')) === address || undefined);
}

test.each<[Mistake, RegExp]>([
  [
    'throws',
    new RegExp(
      `transform\\(local:index:TargetPool .*\\) of the extension .* failed: Error: no size for web\\n {4}at sizeOf \\(index\\.ts:${lineOf('no size for')}:\\d+\\)\\n {4}at .*index\\.ts:${lineOf('throws:')}:`,
    ),
  ],
  ['loops', /transform\(local:index:TargetPool .*\) of the extension .*index\.ts did not end within 1 s and was stopped/],
  ['exits', /the program called process\.exit\(3\)/],
  ['doubles', /Duplicate resource URN/i],
  ['says', /gave a string instead of the resource's arguments.* Return an object/],
])('a transform that %s stalls its load balancer, whose last good version keeps serving', async (mistake, message) => {
  await meet(mistake);
  const stalled = await said('Stalled', message);
  expect(stalled.reason).toBe('Invalid');
  expect(stalled.message).toMatch(/The last good version keeps serving\. Next try at [0-9T:-]+Z\.$/);
  await isServing();
  expect(served(await scene.inCloud('web'))).toEqual(served(good));
  expect(await scene.counts('web')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
});

test('one that writes to standard output does no harm, even where that looks like our own events', async () => {
  await isChanged('web', await meet('prints'));
  expect((await scene.ready('web')).status?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
});

describe('an extra', () => {
  async function extraOf(name: string): Promise<StoredStack['status']> {
    const { metadata } = await scene.stackOf(name);
    return (await scene.stack(`${metadata.name}-extra`))?.status;
  }

  /** While the extra of `web` hangs, the load balancer beside it is changed, and its extra too. */
  async function goOnBeside(): Promise<void> {
    const isHanging = async (): Promise<boolean> => (await extraOf('web'))?.attempts?.[0]?.result === 'Running';
    await scene.until('it to hang', isHanging);
    const before = (await extraOf('beside'))?.inputsHash;
    await cluster.apply(withRange('beside', '10.8.0.0/24'));
    await isChanged('beside', '10.8.0.0/24');
    await scene.until('the extra beside it to be changed', async () => (await extraOf('beside'))?.inputsHash !== before);
    expect(await isHanging()).toBe(true);
  }

  test.each<[Mistake, string, RegExp]>([
    ['allocates', 'UpdateFailed', /the program used more than 512 MB of memory and was stopped.* --update-memory/],
    ['null', 'Invalid', /gave null instead of an object with outputs/],
    ['strays', 'Invalid', /no resource plugin 'pulumi-resource-nowhere' found .*put pulumi-resource-nowhere into \/usr\/local\/bin/],
    [
      'grows',
      'StateTooLarge',
      /the state of stack lb-default-web-.*-extra would have \d+ KB; an update makes it \d+ KB at most.* split the stack/,
    ],
    ['hangs', 'CloudUnavailable', new RegExp(`did not end within ${DEADLINE_MS} ms and was stopped`)],
  ])('that meets "%s" is a warning of its load balancer, which is changed and stays Ready', async (mistake, reason, message) => {
    const range = await meet(mistake);
    if (mistake === 'hangs') await goOnBeside();
    const warning = await said('ExtraFailed', message);
    expect(warning).toMatchObject({ status: 'True', reason });
    expect(warning.message).toContain('The load balancer itself is not affected.');
    expect(kstatusOf(await scene.ready('web'))).toBe('Current');
    await isServing();
    expect((await scene.inCloud('web')).sourceRanges).toEqual([range]);
    // What could not be stored is there once.
    if (mistake === 'grows') expect(await scene.counts('web')).toEqual({ addresses: 2, pools: 1, loadbalancers: 1 });
  });
});

test('mended, all is as if nothing had been', async () => {
  await cluster.apply(serviceOf('web'));
  // One more try of what hangs may have begun.
  const isWell = async (): Promise<boolean> => (await scene.ready('web')).status?.conditions?.length === 1;
  await scene.until('no warning', isWell, ENDED_MS);
  await scene.until('nothing to be left of the mistakes', async () => {
    expect(await scene.counts('web')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
    return true;
  });
  expect(served(await scene.inCloud('web'))).toEqual(served(good));
  await scene.deleteServices('web', 'beside');
});
