import type { Ec2 } from '../../../providers/aws/client/ec2';
import { OpenedMembers } from '../../../providers/aws/members/opened-members';
import type { NodeGroups } from '../../../providers/aws/nodes/node-groups';
import type { Target, TargetGroup } from '../../../providers/provider';

const NODES: Target[] = [{ nodeName: 'n1', providerID: 'aws:///eu-central-1a/i-0a', addresses: [] }];

/** What is there, and how often rules were written. */
class Cloud {
  readonly registered = new Map<string, string>();
  nodeGroups = ['sg-0d'];
  written = 0;
  read = 0;
  rules: object[] = [];

  readonly members = new OpenedMembers(
    {
      sync: ({ id }) => Promise.resolve(this.registered.set(id, 'hash').size),
      hash: () => 'hash',
      assume: () => undefined,
      skipped: () => [],
      observe: () => Promise.resolve(new Map(this.registered)),
    },
    { ec2: this.ec2, groups: this.groups, clusterID: 'c', maxRules: 60, shared: false },
  );

  /** The sizes of what is remembered. */
  get remembered(): { things: number; groups: number } {
    const { opened } = this.members as unknown as { opened: Map<string, Set<string>> };
    return { things: opened.size, groups: [...opened.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  private groupOfNode(id: string): string {
    return this.nodeGroups[Number(id !== 'i-0a')] ?? '';
  }

  private get ec2(): Ec2 {
    return {
      securityGroupRules: () => {
        this.read += 1;
        return Promise.resolve(this.rules);
      },
      authorize: () => Promise.resolve((this.written += 1)),
    } as unknown as Ec2;
  }

  private get groups(): NodeGroups {
    const all = (): string[] => this.nodeGroups;
    return {
      get all() {
        return all();
      },
      list: () => Promise.resolve(),
      learn: () => Promise.resolve(),
      of: (ids: readonly string[]) => [...new Set(ids.map((id) => this.groupOfNode(id)))].sort(),
    } as unknown as NodeGroups;
  }
}

const OTHER: Target = { nodeName: 'n2', providerID: 'aws:///eu-central-1a/i-0b', addresses: [] };

const groupOf = (number: number): TargetGroup => {
  const rules = [`tcp 31080:31080 192.0.2.${number % 250}/32 client`];
  return { id: `tg-${number}`, port: 31_080, access: { loadBalancer: `lb-${number}`, rules } };
};

test('what was opened for load balancers and groups of Nodes that are gone is forgotten; the others are not opened again', async () => {
  const cloud = new Cloud();
  for (let number = 0; number < 1000; number++) await cloud.members.sync(groupOf(number), NODES, () => true);
  expect(cloud.remembered).toEqual({ things: 1000, groups: 1000 });
  for (let number = 1; number < 1000; number++) cloud.registered.delete(`tg-${number}`);
  await cloud.members.observe();
  expect(cloud.remembered).toEqual({ things: 1, groups: 1 });
  expect(cloud.written).toBe(1000);
  await cloud.members.sync(groupOf(0), NODES, () => true);
  expect(cloud.written).toBe(1000);

  cloud.nodeGroups = ['sg-0e'];
  await cloud.members.sync(groupOf(0), NODES, () => true);
  expect(cloud.remembered).toEqual({ things: 1, groups: 2 });
  await cloud.members.observe();
  expect(cloud.remembered).toEqual({ things: 1, groups: 1 });
});

test('after a restart, a Node of a group that others were registered from before asks for nothing; of another one it is opened', async () => {
  const cloud = new Cloud();
  const group = groupOf(0);
  cloud.members.assume(group, NODES);
  await cloud.members.sync(group, [...NODES, { ...OTHER, providerID: 'aws:///eu-central-1a/i-0a' }], () => true);
  expect(cloud).toMatchObject({ read: 0, written: 0 });
  cloud.nodeGroups = ['sg-0d', 'sg-0e'];
  await cloud.members.sync(group, [...NODES, OTHER], () => true);
  expect(cloud).toMatchObject({ read: 1, written: 1 });
});

test('what was opened for one load balancer before a restart says nothing of another one', async () => {
  const cloud = new Cloud();
  cloud.members.assume(groupOf(0), NODES);
  await cloud.members.sync(groupOf(1), NODES, () => true);
  expect(cloud).toMatchObject({ read: 1, written: 1 });
});

test('what a load balancer that is made during a look has asked for is not forgotten', async () => {
  const cloud = new Cloud();
  cloud.registered.set('tg-0', 'hash');
  await cloud.members.sync(groupOf(0), NODES, () => true);
  const looking = cloud.members.observe();
  await cloud.members.sync(groupOf(1), NODES, () => true);
  await looking;
  cloud.rules = [{ GroupId: 'sg-0d', IsEgress: true }];
  expect((await cloud.members.observe()).get('tg-1')).toBe('hash shut');
});

test('what was taken for open after a restart and is shut by the look for drift is opened again', async () => {
  const cloud = new Cloud();
  const group = groupOf(0);
  cloud.registered.set(group.id, 'hash');
  cloud.members.assume(group, NODES);
  cloud.rules = [{ GroupId: 'sg-0d', IsEgress: true }];
  expect((await cloud.members.observe()).get(group.id)).toBe('hash shut');
  await cloud.members.sync(group, NODES, () => true);
  expect(cloud.written).toBe(1);
});
