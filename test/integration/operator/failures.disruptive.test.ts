import { ANNOTATIONS, CLOUD_PROVIDERS } from '../../../crds';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kstatusOf } from '../../harness/kstatus';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { type Scene, serviceOf, withScene } from './scene';
import { WatchedCLI } from './watched-cli';

const BUDGET = 3;

const cli = new WatchedCLI();
let cluster: OperatorCluster;
let scene: Scene;

withScene(
  (made) => {
    scene = made;
    cluster = made.cluster;
  },
  { pulumi: cli.path, flags: [`--retry-failures=${BUDGET}`] },
);

afterAll(() => cli.remove());

test('a quota that is reached stalls the object with the remedy, and it goes on when there is room', async () => {
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers' }, act: { quota: { max: 0 } } });
  await cluster.apply(serviceOf('quota'));
  const { message } = await scene.condition('quota', 'Stalled', 'QuotaExceeded');
  expect(message).toMatch(/quota is 0.*raise the quota/i);
  const stalled = await scene.loadBalancer('quota');
  expect(stalled && kstatusOf(stalled)).toBe('Failed');
  const warning = await scene.until('a Warning on the Service', async () =>
    (await scene.events('Service', 'quota')).find(({ reason }) => reason === 'SyncLoadBalancerFailed'),
  );
  expect(warning).toMatchObject({ type: 'Warning', message: expect.stringContaining('QuotaExceeded') as string });
  const failed = await scene.stackOf('quota');
  expect(failed.status?.attempts?.at(-1)).toMatchObject({ result: 'Failed', code: 'Quota', cloudCalls: expect.any(Number) as number });
  const left = failed.status?.resources?.map(({ type }) => type.split(':').at(-1)).sort();
  expect(left).toEqual(['Address', 'TargetPool']);
  expect(failed.status?.resourceCount).toBe(2);
  await scene.faults();
  await askAgain('quota');
  await scene.expectOneOfEach('quota');
});

test('what fails is tried again after a growing pause, and goes on saying why meanwhile', async () => {
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers' }, act: { status: 409, code: 'InUse' } });
  await cluster.apply(serviceOf('again'));
  await scene.acted(0, 1);
  const startedAt = performance.now();
  await scene.condition('again', 'Reconciling', 'Conflict');
  const seen = new Set<string>();
  await scene.until('two more tries', async () => {
    const found = await scene.loadBalancer('again');
    for (const { type, reason } of found?.status?.conditions ?? []) seen.add(`${type} ${reason}`);
    return ((await cluster.cloud.faults()).rules[0]?.acted ?? 0) >= 3;
  });
  // 0.25 s and 0.5 s.
  expect(performance.now() - startedAt).toBeGreaterThan(700);
  expect([...seen].sort()).toEqual(['Ready Conflict', 'Reconciling Conflict']);
  await scene.faults();
  await scene.expectOneOfEach('again');
});

test('what keeps failing is tried with growing pauses, Stalled once its budget is used up, and begins anew with another spec or when it is asked for', async () => {
  const range = (at: number): object => serviceOf('failing', { spec: { loadBalancerSourceRanges: [`10.${at}.0.0/16`] } });
  await cluster.apply(serviceOf('failing'));
  const address = await scene.published('failing');
  const before = cli.starts().length;
  cli.break();
  await cluster.apply(range(1));
  const first = await scene.condition('failing', 'Reconciling', 'CloudUnavailable');
  expect(first.message).toMatch(
    /the Pulumi engine ended with exit code 1 before the update was complete\. The last good version keeps serving\. Next try at 2[^ ]+Z\.$/,
  );
  const { message } = await scene.condition('failing', 'Stalled', 'RetriesExhausted');
  expect(nextTryIn(message)).toBeGreaterThan(4 * 60_000);
  await scene.until('its stack to say so', async () =>
    (await scene.stackOf('failing')).status?.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'RetriesExhausted'),
  );
  const shown = await scene.loadBalancer('failing');
  expect(shown && kstatusOf(shown)).toBe('Failed');
  expect((await scene.service('failing'))?.status?.loadBalancer?.ingress).toEqual([{ ip: address, ipMode: 'Proxy' }]);
  await scene.settled();
  const tries = cli.starts().slice(before);
  expect(tries.map(({ command }) => command)).toEqual(Array(BUDGET).fill('up'));
  const pauses = tries.slice(1).map(({ at }, n) => at - (tries[n]?.at ?? 0));
  expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
  expect(pauses[1]).toBeGreaterThanOrEqual(2_000);

  await cluster.apply(range(2));
  const anew = await scene.condition('failing', 'Reconciling', 'CloudUnavailable');
  expect(nextTryIn(anew.message)).toBeLessThan(30_000);
  await scene.condition('failing', 'Stalled', 'RetriesExhausted');
  expect(cli.commands(before)).toHaveLength(2 * BUDGET);
  cli.repair();
  await askAgain('failing');
  await scene.expectOneOfEach('failing');
});

test('what can never work is not tried again until somebody changes it, and is then tried at once', async () => {
  const tries = async (): Promise<number> => (await cluster.cloud.faults()).rules[0]?.acted ?? 0;
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers' }, act: { status: 400, code: 'InvalidArgument' } });
  await cluster.apply(serviceOf('hopeless'));
  const { message } = await scene.condition('hopeless', 'Stalled', 'Invalid');
  expect(nextTryIn(message)).toBeGreaterThan(4 * 60_000);
  await scene.settled(3_000);
  expect(await tries()).toBe(1);
  await cluster.apply(serviceOf('hopeless', { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }));
  await scene.acted(0, 2);
  await scene.settled(1_500);
  expect(await tries()).toBe(2);
  await scene.faults();
  await askAgain('hopeless');
  await scene.expectOneOfEach('hopeless');
});

test('refused credentials stall the object, and repaired ones work without a restart', async () => {
  const token = join(cluster.directory, 'another-token');
  writeFileSync(token, 'wrong');
  const { local } = (await scene.provider())?.spec ?? {};
  const use = (tokenFile: string | undefined): Promise<unknown> =>
    cluster.kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { local: { ...local, tokenFile } } });
  await cluster.apply(serviceOf('served'));
  const address = await scene.published('served');
  await use(token);
  await cluster.apply(serviceOf('refused'));
  const { message } = await scene.condition('refused', 'Stalled', 'CredentialsRefused');
  expect(message).toMatch(/tokenFile.*Next try at 2/);
  await scene.condition('served', 'Stalled', 'CredentialsRefused');
  await scene.until('the CloudProvider to say so', async () =>
    (await scene.provider())?.status?.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'CredentialsRefused'),
  );
  expect((await scene.service('served'))?.status?.loadBalancer?.ingress).toEqual([{ ip: address, ipMode: 'Proxy' }]);
  const pid = cluster.operatorPid;

  writeFileSync(token, await cluster.tokenText());
  await scene.published('refused');
  expect(cluster.operatorPid).toBe(pid);
  await use(local?.tokenFile);
  rmSync(token);
  await scene.expectOneOfEach('served', 'refused');
});

test('a cloud that is down for longer is shown, and comes back by itself', async () => {
  await scene.faults({ match: { verb: 'create', collection: 'addresses' }, act: { status: 503, code: 'Unavailable' } });
  await cluster.apply(serviceOf('down'));
  const condition = await scene.until(
    'CloudUnavailable',
    async () => {
      const conditions = (await scene.loadBalancer('down'))?.status?.conditions ?? [];
      return conditions.find(({ type, reason }) => type === 'Reconciling' && reason === 'CloudUnavailable');
    },
    40_000,
  );
  expect(condition.message).toContain('Unavailable');
  await scene.faults();
  await scene.expectOneOfEach('down');
});

/** As a person does who has repaired something in the cloud. */
async function askAgain(name: string): Promise<void> {
  await cluster.kubectl(['annotate', 'cloudloadbalancer', name, `${ANNOTATIONS.reconcile}=${Date.now()}`, '--overwrite']);
}

/** Milliseconds until the time that a condition names. */
function nextTryIn(message: string): number {
  return Date.parse(/Next try at ([^ ]+Z)\./.exec(message)?.[1] ?? '') - Date.now();
}
