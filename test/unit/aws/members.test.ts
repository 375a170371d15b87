import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import type { AwsInstances } from '../../../providers/aws/nodes/instances';
import type { ElbV2 } from '../../../providers/aws/client/elbv2';
import { AwsMembers } from '../../../providers/aws/members/members';
import { TAG } from '../../../providers/aws/tags';
import type { Target, TargetGroup } from '../../../providers/provider';

const ARN = 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/k8s/1';
const GROUP: TargetGroup = { id: ARN, port: 30_000 };
const always = (): boolean => true;
const targets = (...ids: string[]): Target[] =>
  ids.map((id) => ({ nodeName: id, providerID: `aws:///eu-central-1a/${id}`, addresses: [] }));

/** One target group, whose looks can be held up. */
class FakeElb {
  readonly registered = new Set<string>();
  /** AWS lists them until their connections have ended. */
  readonly draining = new Set<string>();
  readonly writes: string[] = [];
  /** How many targets each write was of. */
  readonly batches: [verb: string, count: number][] = [];
  /** Awaited between the moment that an answer is of, and its arrival. */
  onTheWay: () => Promise<void> = () => Promise.resolve();

  readonly api = {
    retryPolicy: { clock: systemClock, budgetMs: 0 },
    targetGroups: () => Promise.resolve([{ TargetGroupArn: ARN, Port: GROUP.port }]),
    tags: (ids: string[]) => Promise.resolve(new Map(ids.map((id) => [id, { [TAG.clusterID]: 'c' }]))),
    presentTags: (ids: string[]) => Promise.resolve(new Map(ids.map((id) => [id, { [TAG.clusterID]: 'c' }]))),
    targetHealth: async (id: string) => {
      if (id !== ARN) throw new OperatorError('NotFound', 'it is gone');
      const told = (ids: ReadonlySet<string>, State: string): object[] =>
        [...ids].map((Id) => ({ Target: { Id, Port: GROUP.port }, TargetHealth: { State } }));
      const answer = [...told(this.registered, 'healthy'), ...told(this.draining, 'draining')];
      await this.onTheWay();
      return answer;
    },
    registerTargets: ({ Targets }: { Targets: { Id: string }[] }) => {
      this.batches.push(['register', Targets.length]);
      for (const { Id } of Targets) {
        this.writes.push(`register ${Id}`);
        this.registered.add(Id);
        this.draining.delete(Id);
      }
      return Promise.resolve();
    },
    deregisterTargets: ({ Targets }: { Targets: { Id: string }[] }) => {
      this.batches.push(['deregister', Targets.length]);
      for (const { Id } of Targets) {
        this.writes.push(`deregister ${Id}`);
        this.registered.delete(Id);
        this.draining.add(Id);
      }
      return Promise.resolve();
    },
  } as unknown as ElbV2;
}

test('a look that began before a write does not tell what is known after it', async () => {
  const elb = new FakeElb();
  const members = new AwsMembers(elb.api, {} as AwsInstances, 'c');
  await members.sync(GROUP, targets('i-0a', 'i-0b'), always);
  let arrive!: () => void;
  const asked = new Promise<void>((resolve) => {
    elb.onTheWay = () => {
      resolve();
      return new Promise((answered) => (arrive = answered));
    };
  });
  const looking = members.observe();
  await asked;
  elb.onTheWay = () => Promise.resolve();
  await members.sync(GROUP, targets('i-0b', 'i-0c'), always);
  arrive();
  await looking;
  // By what the look saw, i-0a were there still, and i-0c not yet.
  await members.sync(GROUP, targets('i-0a'), always);
  expect([...elb.registered]).toEqual(['i-0a']);
});

test('a look that failed is not remembered', async () => {
  const members = new AwsMembers(new FakeElb().api, {} as AwsInstances, 'c');
  for (let number = 0; number < 1000; number++) {
    const group = { id: `${ARN}${number}`, port: 30_000 };
    await expect(members.sync(group, targets('i-0a'), always)).rejects.toMatchObject({ code: 'NotFound' });
  }
  expect((members as unknown as { looks: Map<string, object> }).looks.size).toBe(0);
});

test('who drains counts as gone: it is left to that, also by another process, and registered again when it comes back meanwhile', async () => {
  const elb = new FakeElb();
  const members = (): AwsMembers => new AwsMembers(elb.api, {} as AwsInstances, 'c');
  const [first, later] = [members(), members()];
  await first.sync(GROUP, targets('i-0a', 'i-0b'), always);
  await first.sync(GROUP, targets('i-0a'), always);
  expect(elb.writes).toEqual(['register i-0a', 'register i-0b', 'deregister i-0b']);
  expect((await later.observe()).get(ARN)).toBe(later.hash(GROUP, targets('i-0a')));
  for (const one of [first, later]) expect(await one.sync(GROUP, targets('i-0a'), always)).toBe(0);
  expect(await later.sync(GROUP, targets('i-0a', 'i-0b'), always)).toBe(1);
  expect(elb.writes.slice(3)).toEqual(['register i-0b']);
  expect([[...elb.registered].sort(), [...elb.draining]]).toEqual([['i-0a', 'i-0b'], []]);
});

test('more targets than one call takes go in, and out, by several, none of them twice', async () => {
  const elb = new FakeElb();
  const members = new AwsMembers(elb.api, {} as AwsInstances, 'c');
  const ids = Array.from({ length: 250 }, (_, at) => `i-${String(at).padStart(8, '0')}`);
  expect(await members.sync(GROUP, targets(...ids), always)).toBe(3);
  expect(await members.sync(GROUP, targets('i-0a'), always)).toBe(4);
  const expected = [
    ['register', 100],
    ['register', 100],
    ['register', 50],
    ['register', 1],
  ];
  expect(elb.batches).toEqual([...expected, ['deregister', 100], ['deregister', 100], ['deregister', 50]]);
  expect([...elb.registered]).toEqual(['i-0a']);
  expect(new Set(elb.writes).size).toBe(elb.writes.length);
});

describe('target groups that are looked at in turn', () => {
  const IDS = Array.from({ length: 12 }, (_unused, index) => `${ARN}${index}`);

  function many(): { members: AwsMembers; reads: string[]; hands: Map<string, string[]> } {
    const reads: string[] = [];
    const hands = new Map<string, string[]>();
    const tags = (ids: string[]) => Promise.resolve(new Map(ids.map((id) => [id, { [TAG.clusterID]: 'c' }])));
    const api = {
      retryPolicy: { clock: systemClock, budgetMs: 0 },
      targetGroups: () => Promise.resolve(IDS.map((id) => ({ TargetGroupArn: id, Port: GROUP.port }))),
      ...{ tags, presentTags: tags },
      targetHealth: (id: string) => {
        reads.push(id);
        const ids = hands.get(id) ?? ['i-0a'];
        return Promise.resolve(ids.map((Id) => ({ Target: { Id, Port: GROUP.port }, TargetHealth: { State: 'healthy' } })));
      },
    } as unknown as ElbV2;
    return { members: new AwsMembers(api, {} as AwsInstances, 'c'), reads, hands };
  }

  test('are read once, and a sixth of them each time after that; of the others it is told what is known', async () => {
    const { members, reads } = many();
    const all = await members.observe(true);
    expect([...all.keys()].sort()).toEqual([...IDS].sort());
    expect(reads.splice(0)).toHaveLength(12);
    for (let look = 0; look < 6; look++) expect(await members.observe(true)).toEqual(all);
    expect(reads.sort()).toEqual([...IDS].sort());
    reads.length = 0;
    await members.observe();
    expect(reads).toHaveLength(12);
  });

  test('are read when what is known is only assumed', async () => {
    const { members, reads } = many();
    for (const id of IDS) members.assume({ ...GROUP, id }, targets('i-0b'));
    const seen = await members.observe(true);
    expect(reads).toHaveLength(12);
    expect(seen.get(IDS[0] ?? '')).toBe(members.hash(GROUP, targets('i-0a')));
  });

  test('what somebody has changed is seen within six looks, and looked at again at the next one', async () => {
    const { members, reads, hands } = many();
    await members.observe(true);
    const [id = ''] = IDS;
    hands.set(id, []);
    let looks = 0;
    while ((await members.observe(true)).get(id) !== members.hash(GROUP, [])) looks += 1;
    expect(looks).toBeLessThan(6);
    reads.length = 0;
    await members.observe(true);
    expect(reads).toContain(id);
  });
});
