import type { ClassicElb } from '../../../providers/aws/client/classic-elb';
import { ClassicMembers } from '../../../providers/aws/members/classic-members';
import { TAG, toAwsTags } from '../../../providers/aws/tags';
import type { Target } from '../../../providers/provider';

const GROUP = { id: 'a0000000100004000800022222222222', port: 30_080 };
const always = (): boolean => true;

function targets(from: number, count: number): Target[] {
  const ids = Array.from({ length: count }, (_, at) => `i-${String(from + at).padStart(8, '0')}`);
  return ids.map((id) => ({ nodeName: id, providerID: `aws:///eu-central-1a/${id}`, addresses: [] }));
}

/** One Classic load balancer. */
class FakeClassic {
  readonly registered = new Set<string>();
  /** How many instances each write was of. */
  readonly batches: [verb: string, count: number][] = [];

  readonly api = {
    loadBalancers: () => {
      const Instances = [...this.registered].map((InstanceId) => ({ InstanceId }));
      return Promise.resolve([{ LoadBalancerName: GROUP.id, VPCId: 'vpc-1', Instances }]);
    },
    tags: () => Promise.resolve(new Map([[GROUP.id, toAwsTags({ [TAG.clusterID]: 'c' })]])),
    register: (_name: string, ids: readonly string[]) => {
      this.batches.push(['register', ids.length]);
      ids.forEach((id) => this.registered.add(id));
      return Promise.resolve();
    },
    deregister: (_name: string, ids: readonly string[]) => {
      this.batches.push(['deregister', ids.length]);
      ids.forEach((id) => this.registered.delete(id));
      return Promise.resolve();
    },
  } as unknown as ClassicElb;
}

test('more instances than one call takes go in, and out, by several; those that stay are in no call', async () => {
  const classic = new FakeClassic();
  const members = new ClassicMembers(classic.api, { takeable: () => Promise.resolve([]) }, 'c');
  expect(await members.sync(GROUP, targets(0, 230), always)).toBe(3);
  expect(await members.sync(GROUP, targets(220, 120), always)).toBe(5);
  expect(classic.batches).toEqual([
    ...[
      ['register', 100],
      ['register', 100],
      ['register', 30],
    ],
    ...[
      ['register', 100],
      ['register', 10],
    ],
    ...[
      ['deregister', 100],
      ['deregister', 100],
      ['deregister', 20],
    ],
  ]);
  expect([...classic.registered].sort()).toEqual(targets(220, 120).map(({ nodeName }) => nodeName));
});
