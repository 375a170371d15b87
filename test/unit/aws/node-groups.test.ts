import type { Filter, Instance, SecurityGroup } from '@aws-sdk/client-ec2';
import type { Ec2 } from '../../../providers/aws/client/ec2';
import { AwsInstances } from '../../../providers/aws/nodes/instances';
import { NodeGroups, nodeGroupOf } from '../../../providers/aws/nodes/node-groups';

const SCOPE = { region: 'eu-central-1', clusterName: 'prod', nodeIPFamilies: ['IPv4'] as const };
const MINUTE = 60_000;

/** Instances with their groups, and what was asked. */
class Account {
  readonly calls: string[] = [];
  now = 0;
  instances: Record<string, string[]> = { 'i-0a': ['sg-0a'], 'i-0b': ['sg-0a'] };
  tagged: string[] = [];

  readonly ec2 = {
    retryPolicy: { clock: { monotonic: () => this.now } },
    instances: ([filter]: Filter[]): Promise<Instance[]> => {
      const ids = filter?.Name === 'instance-id' ? (filter.Values ?? []) : undefined;
      this.calls.push(ids === undefined ? 'all' : ids.join());
      const found = Object.entries(this.instances).filter(([id]) => ids?.includes(id) ?? true);
      return Promise.resolve(found.map(([InstanceId, groups]) => ({ InstanceId, SecurityGroups: groups.map((GroupId) => ({ GroupId })) })));
    },
    securityGroups: ([filter]: Filter[]): Promise<SecurityGroup[]> => {
      const ids = filter?.Values ?? [];
      this.calls.push(`tags of ${ids.join()}`);
      const Tags = [{ Key: 'kubernetes.io/cluster/prod', Value: 'owned' }];
      return Promise.resolve(ids.map((GroupId) => ({ GroupId, Tags: this.tagged.includes(GroupId) ? Tags : [] })));
    },
  } as unknown as Ec2;

  readonly groups = new NodeGroups(this.ec2, SCOPE);
  readonly machines = new AwsInstances(this.ec2, SCOPE, undefined, (found) => this.groups.saw(found));

  /** Also what was asked for since the last time. */
  asked(): string[] {
    return this.calls.splice(0);
  }
}

test('a listing of the instances that somebody else made is not made again, also for an instance that is new in it', async () => {
  const account = new Account();
  await account.machines.list();
  account.now += 9 * MINUTE;
  await account.groups.list();
  expect(account.groups.all).toEqual(['sg-0a']);
  expect(account.asked()).toEqual(['all']);

  account.instances['i-0c'] = ['sg-0c'];
  await account.machines.list();
  await account.groups.learn(['i-0a', 'i-0c']);
  expect(account.groups.all).toEqual(['sg-0a', 'sg-0c']);
  expect(account.groups.of(['i-0c', 'i-unknown'])).toEqual(['sg-0c']);
  expect(account.asked()).toEqual(['all']);
});

test('an old listing says nothing, and an instance that no listing has is asked for by its id', async () => {
  const account = new Account();
  await account.machines.list();
  account.now += 10 * MINUTE;
  await account.groups.list();
  expect(account.asked()).toEqual(['all', 'all']);
  account.instances['i-0c'] = ['sg-0c'];
  await account.groups.learn(['i-0c']);
  expect(account.asked()).toEqual(['i-0c']);
  await account.machines.list();
  account.now += 10 * MINUTE - 1;
  await account.groups.learn(['i-0c']);
  expect(account.asked()).toEqual(['all']);
});

test('tags are asked for where they decide between several groups', async () => {
  const account = new Account();
  account.instances = { 'i-0a': ['sg-0a'], 'i-0b': ['sg-0b', 'sg-0a'] };
  account.tagged = ['sg-0b'];
  await account.groups.list();
  expect(account.asked()).toEqual(['all', 'tags of sg-0b,sg-0a']);
  expect(account.groups.all).toEqual(['sg-0a', 'sg-0b']);
  account.instances['i-0c'] = ['sg-0c'];
  await account.groups.learn(['i-0c']);
  expect(account.asked()).toEqual(['i-0c']);
});

test('of several groups the one with either tag of the cluster, as upstream has it', () => {
  const tags: Record<string, Record<string, string>> = {
    'sg-0a': { KubernetesCluster: 'other' },
    'sg-0b': { KubernetesCluster: 'prod' },
    'sg-0c': { 'kubernetes.io/cluster/prod': 'owned' },
  };
  const chosen = (...groups: string[]): string | undefined => nodeGroupOf(groups, (group) => tags[group] ?? {}, SCOPE);
  expect([chosen('sg-0a', 'sg-0b'), chosen('sg-0a', 'sg-0c'), chosen('sg-0a', 'sg-0d')]).toEqual(['sg-0b', 'sg-0c', undefined]);
});

test('what was learned since a listing is not forgotten for it', async () => {
  const account = new Account();
  await account.groups.list();
  account.now += 5 * MINUTE;
  await account.machines.list();
  account.instances['i-0c'] = ['sg-0c'];
  await account.groups.learn(['i-0c']);
  account.asked();
  account.now += 5 * MINUTE;
  await account.groups.list();
  expect(account.asked()).toEqual(['all']);
  expect(account.groups.all).toEqual(['sg-0a', 'sg-0c']);
});
