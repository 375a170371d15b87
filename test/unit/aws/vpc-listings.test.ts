import { VpcListings } from '../../../providers/aws/resources/vpc-listings';

let now = 0;
const listings = (): VpcListings => new VpcListings({ monotonic: () => now });

/** An account whose n-th listing has one thing of that number. */
function account(): { calls: () => number; ec2: Parameters<VpcListings['of']>[1] } {
  let calls = 0;
  const list = (): Promise<never[]> => Promise.resolve([{ SubnetId: `subnet-${(calls += 1)}` }] as never[]);
  return { calls: () => calls, ec2: { subnets: list, routeTables: list } };
}

beforeEach(() => (now = 100_000));

test('one listing serves all for fifteen seconds, however many ask at once', async () => {
  const { calls, ec2 } = account();
  const vpcs = listings().of('a', ec2);
  await Promise.all([vpcs.subnets('vpc-1'), vpcs.subnets('vpc-1')]);
  now += 15_000;
  await vpcs.subnets('vpc-1');
  expect(calls()).toBe(1);
  now += 1;
  expect(await vpcs.subnets('vpc-1')).toEqual([{ SubnetId: 'subnet-2' }]);
});

test('each VPC, account and kind has its own', async () => {
  const { calls, ec2 } = account();
  const all = listings();
  await all.of('a', ec2).subnets('vpc-1');
  await all.of('a', ec2).subnets('vpc-2');
  await all.of('b', ec2).subnets('vpc-1');
  await all.of('a', ec2).routeTables('vpc-1');
  expect(calls()).toBe(4);
});

test('a later update of the same account is served by what an earlier one listed', async () => {
  const { calls, ec2 } = account();
  const all = listings();
  await all.of('a', ec2).subnets('vpc-1');
  await all.of('a', ec2).subnets('vpc-1');
  expect(calls()).toBe(1);
});

test('who asks for one that is no older than its question gets that', async () => {
  const { calls, ec2 } = account();
  const vpcs = listings().of('a', ec2);
  await vpcs.subnets('vpc-1');
  now += 10;
  const asked = vpcs.now();
  await vpcs.subnets('vpc-1', asked);
  await vpcs.subnets('vpc-1', asked);
  expect(calls()).toBe(2);
});

test('a failure is told to those who wait for it, and to nobody later', async () => {
  let refuse = true;
  const subnets = (): Promise<never[]> => (refuse ? Promise.reject(new Error('throttled')) : Promise.resolve([]));
  const vpcs = listings().of('a', { subnets, routeTables: subnets });
  await expect(Promise.all([vpcs.subnets('vpc-1'), vpcs.subnets('vpc-1')])).rejects.toThrow('throttled');
  refuse = false;
  expect(await vpcs.subnets('vpc-1')).toEqual([]);
});
