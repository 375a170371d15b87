import type { ErrorCode } from '../../../../operator/base/errors';
import type { Node } from '../../../../operator/kube/object';
import type { NodeCidrFlags } from '../../../../operator/loops/ipam/settings';
import { nodeOf, World } from './world';

const DUAL = { clusterCidr: '10.10.0.0/23,2001:db8::/63' };

const worlds: World[] = [];

async function world(flags: Partial<NodeCidrFlags>, ...nodes: Node[]): Promise<World> {
  const made = await new World(flags).start(...nodes);
  worlds.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((made) => made.end()));
});

describe('start', () => {
  test.each<[string, Partial<NodeCidrFlags>, Node]>([
    ['C-IPAM-01 a Node without CIDR', {}, nodeOf('n1')],
    ['C-IPAM-02 a Node with a CIDR that has host bits', {}, nodeOf('n1', ['10.10.0.1/24'])],
  ])('%s: starts', async (_name, flags, first) => {
    const { api, podCIDRs } = await world(flags, first).then((made) => ({ api: made.api, podCIDRs: made.podCIDRs('n1') }));
    expect([podCIDRs, api.events]).toEqual([first.spec.podCIDRs ?? ['10.10.0.0/24'], []]);
  });

  test.each<[string, Partial<NodeCidrFlags>, string[], string]>([
    [
      'C-IPAM-03 a CIDR outside',
      {},
      ['172.10.0.1/24'],
      'failed to mark cidr[172.10.0.0/24] at idx [0] as occupied for node: n1: cidr 172.10.0.0/24 is out the range of cluster cidr 10.10.0.0/16',
    ],
    [
      'C-IPAM-04 dual-stack, both outside',
      DUAL,
      ['172.10.0.1/24', 'a00::/86'],
      'failed to mark cidr[172.10.0.0/24] at idx [0] as occupied for node: n1: cidr 172.10.0.0/24 is out the range of cluster cidr 10.10.0.0/23',
    ],
    [
      'more CIDRs than ranges',
      {},
      ['10.10.0.0/24', '2001:db8::/64'],
      'node:n1 has an allocated cidr: 2001:db8::/64 at index:1 that does not exist in cluster cidrs configuration',
    ],
    ['text that is no CIDR', {}, ['10.10.0.0'], 'failed to parse node n1, CIDR 10.10.0.0'],
  ])('%s: fails, and nothing is handed out', async (_name, flags, podCIDRs, message) => {
    const made = await new World(flags).start(nodeOf('n1', podCIDRs), nodeOf('n2'));
    await expect(made.running).rejects.toThrow(message);
    expect(made.api.patches).toEqual([]);
  });

  test('what the last leader wrote, and the store doesn’t show yet, is taken up', async () => {
    const made = new World();
    worlds.push(made);
    made.api.live.set('n1', nodeOf('n1', ['10.10.0.0/24']));
    made.api.live.set('n2', nodeOf('n2'));
    made.store.replace([nodeOf('n1'), nodeOf('n2')]);
    made.running = made.loop.run(made.stop.signal);
    await made.settle();
    expect(made.api.patches).toEqual([['n2', ['10.10.1.0/24']]]);
    expect(made.podCIDRs('n1')).toEqual(['10.10.0.0/24']);
    expect(made.api.events).toEqual([]);
  });

  test('without a list nothing is handed out; it is asked for every 10 s', async () => {
    const made = new World();
    worlds.push(made);
    made.api.listFailures = 2;
    await made.start(nodeOf('n1'));
    await made.settle(10_000);
    expect([made.api.lists, made.api.patches]).toEqual([2, []]);
    await made.settle(10_000);
    expect(made.podCIDRs('n1')).toEqual(['10.10.0.0/24']);
  });
});

describe('allocate and release', () => {
  const SMALL = { clusterCidr: '127.123.234.0/28', mask: 30 };
  const ALL = ['127.123.234.0/30', '127.123.234.4/30', '127.123.234.8/30', '127.123.234.12/30'].map((cidr, index) =>
    nodeOf(`t${index}`, [cidr]),
  );

  test('C-IPAM-05 the first block', async () => {
    const made = await world({ clusterCidr: '127.123.234.0/24', mask: 30 }, nodeOf('n1'));
    expect(made.podCIDRs('n1')).toEqual(['127.123.234.0/30']);
    expect(made.api.patches).toHaveLength(1);
  });

  test('C-IPAM-06 neither in the service range nor what others have', async () => {
    const taken = ['64', '68', '72', '80'].map((last) => nodeOf(`t${last}`, [`127.123.234.${last}/30`]));
    const flags = { clusterCidr: '127.123.234.0/24', mask: 30, serviceRanges: '127.123.234.0/26' };
    const made = await world(flags, ...taken, nodeOf('n1'));
    expect(made.podCIDRs('n1')).toEqual(['127.123.234.76/30']);
  });

  test('the secondary service range counts too', async () => {
    const flags = { clusterCidr: '2001:db8::/60,10.0.0.0/22', serviceRanges: '10.0.0.0/24,2001:db8::/63' };
    const made = await world(flags, nodeOf('n1'));
    expect(made.podCIDRs('n1')).toEqual(['2001:db8:0:2::/64', '10.0.1.0/24']);
  });

  test('C-IPAM-07 none is left: the event, no write, and a retry', async () => {
    const made = await world(SMALL, ...ALL, nodeOf('n1'));
    expect(made.api.patches).toEqual([]);
    expect(made.api.events).toEqual(['Normal CIDRNotAvailable: Node n1 status is now: CIDRNotAvailable']);
    expect(made.queue.failuresOf('n1')).toBe(1);
    await made.settle(5);
    expect(made.api.events).toHaveLength(2);
  });

  test('C-IPAM-08 what a Node gives back is the next, for the one that has waited longest, at once', async () => {
    const made = await world(SMALL, ...ALL, nodeOf('n1'), nodeOf('n2'));
    await made.remove('t1');
    expect(made.podCIDRs('n1')).toEqual(['127.123.234.4/30']);
    expect(made.podCIDRs('n2')).toBeUndefined();
  });

  test('C-IPAM-09 a Node that stays keeps its block', async () => {
    const made = await world({}, nodeOf('n1', ['10.10.0.0/24']));
    await made.loop.sync('n1');
    await made.add(nodeOf('n2'));
    expect([made.podCIDRs('n2'), made.api.patches]).toEqual([['10.10.1.0/24'], [['n2', ['10.10.1.0/24']]]]);
  });

  test('a Node whose CloudProvider is only observed gets nothing: another controller gives it its block, which is taken then; afterwards it is like any other', async () => {
    const made = new World();
    worlds.push(made);
    made.observed.add('n1').add('n2');
    await made.start(nodeOf('n1'), nodeOf('n2', ['10.10.0.0/24']), nodeOf('n3'));
    expect([made.api.patches, made.api.events]).toEqual([[['n3', ['10.10.1.0/24']]], []]);
    made.observed.clear();
    made.loop.requeueAll();
    await made.settle();
    expect(made.podCIDRs('n1')).toEqual(['10.10.2.0/24']);
  });

  test('C-IPAM-10 a Node that is gone: the first block is free', async () => {
    const made = await world({});
    await made.loop.sync('gone');
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toEqual(['10.10.0.0/24']);
  });

  test('one that is being deleted gets nothing, and keeps what it has', async () => {
    const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const made = await world({}, nodeOf('d1', [], deleting), nodeOf('d2', ['10.10.0.0/24'], deleting), nodeOf('n1'));
    expect(made.api.patches).toEqual([['n1', ['10.10.1.0/24']]]);
  });

  test('dual-stack: one of each; where one range is full, the other gives back what it gave', async () => {
    const made = await world(DUAL, nodeOf('t1', ['10.10.1.0/24', '2001:db8:0:1::/64']), nodeOf('n1'));
    expect(made.podCIDRs('n1')).toEqual(['10.10.0.0/24', '2001:db8::/64']);
    const full = await world({ clusterCidr: '10.10.0.0/22,2001:db8::/64' }, nodeOf('n1'), nodeOf('n2'));
    for (let retry = 0; retry < 8; retry++) await full.settle(5 * 2 ** retry);
    expect(full.api.events.length).toBeGreaterThan(4);
    // Upstream loses a block of the first range at each retry.
    expect(full.usage.get('10.10.0.0/22')).toBe(1 / 4);
    await full.remove('n1');
    expect(full.podCIDRs('n2')?.[1]).toBe('2001:db8::/64');
  });
});

describe('writes that go wrong', () => {
  const lost = (count: number, written?: boolean): World['api']['failures'] =>
    Array.from({ length: count }, () => ({ code: 'Transient' as const, ...(written === undefined ? {} : { written }) }));

  test('a lost answer: the Node is read again, and keeps what it got', async () => {
    const made = new World();
    made.api.failures.push(...lost(1, true));
    worlds.push(await made.start(nodeOf('n1')));
    expect([made.podCIDRs('n1'), made.api.patches.length, made.api.events]).toEqual([['10.10.0.0/24'], 1, []]);
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toEqual(['10.10.1.0/24']);
  });

  test('three tries without an answer: the event, the block stays this Node’s, and is written at the next try', async () => {
    const made = new World();
    made.api.failures.push(...lost(3));
    worlds.push(await made.start(nodeOf('n1')));
    expect(made.api.events).toEqual(['Normal CIDRAssignmentFailed: Node n1 status is now: CIDRAssignmentFailed']);
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toEqual(['10.10.1.0/24']);
    await made.settle(5);
    expect(made.podCIDRs('n1')).toEqual(['10.10.0.0/24']);
  });

  test.each<[string, { written?: boolean }]>([
    ['none of them was stored', {}],
    ['the last one was stored', { written: true }],
  ])('R-20 three patches without an answer, while another Node comes; %s: each has a block of its own', async (_what, last) => {
    const made = new World({ clusterCidr: '198.18.0.0/22', mask: 24 });
    made.api.failures.push(...lost(2), { code: 'Transient', ...last });
    worlds.push(await made.start(nodeOf('a')));
    const failed = last.written === true ? [] : ['Normal CIDRAssignmentFailed: Node a status is now: CIDRAssignmentFailed'];
    expect(made.api.events).toEqual(failed);
    await made.add(nodeOf('b'));
    await made.settle(60_000);
    const blocks = ['a', 'b'].map((name) => made.podCIDRs(name));
    expect(blocks).toEqual([['198.18.0.0/24'], ['198.18.1.0/24']]);
    expect(made.usage.get('198.18.0.0/22')).toBe(2 / 4);
    const patched = made.api.patches.length;
    await made.settle(600_000);
    expect([made.api.patches.length, ['a', 'b'].map((name) => made.podCIDRs(name))]).toEqual([patched, blocks]);
  });

  const answered = (code: number, reason: string, message = ''): World['api']['failures'] =>
    Array.from({ length: 3 }, () => ({ code: code === 429 ? 'Throttled' : 'Transient', answer: { code, reason, message } }) as const);

  test.each([
    ['500', answered(500, 'InternalError', 'Internal error occurred')],
    ['500 by something in front of it', answered(500, 'NoStatus', 'oops')],
    ['429', answered(429, 'TooManyRequests')],
    ['503', answered(503, 'ServiceUnavailable')],
  ])('R-20 three patches answered %s: the block is given back, and the Node asks afresh', async (_what, failures) => {
    const made = new World({ clusterCidr: '198.18.0.0/22', mask: 24 });
    made.api.failures.push(...failures);
    worlds.push(await made.start(nodeOf('a')));
    expect(made.api.events).toEqual(['Normal CIDRAssignmentFailed: Node a status is now: CIDRAssignmentFailed']);
    expect(made.usage.get('198.18.0.0/22')).toBe(0);
    await made.add(nodeOf('b'));
    await made.settle(60_000);
    expect(['a', 'b'].map((name) => made.podCIDRs(name))).toEqual([['198.18.2.0/24'], ['198.18.1.0/24']]);
    expect(made.usage.get('198.18.0.0/22')).toBe(2 / 4);
  });

  test.each([
    ['a server timeout', answered(500, 'ServerTimeout')],
    ['a timeout of etcd', answered(500, 'InternalError', 'etcdserver: request timed out')],
    ['504', answered(504, 'Timeout')],
    ['502 by a proxy', answered(502, 'NoStatus')],
    ['503 by a proxy', answered(503, 'NoStatus')],
  ])('three patches answered with %s: they may still come through, and the block stays this Node’s', async (_what, failures) => {
    const made = new World({ clusterCidr: '198.18.0.0/22', mask: 24 });
    made.api.failures.push(...failures);
    worlds.push(await made.start(nodeOf('a')));
    expect(made.usage.get('198.18.0.0/22')).toBe(1 / 4);
    await made.settle(60_000);
    expect(made.podCIDRs('a')).toEqual(['198.18.0.0/24']);
  });

  test.each<[string, ErrorCode]>([
    ['401 or 403', 'Credentials'],
    ['409', 'Conflict'],
    ['410', 'NotFound'],
    ['429', 'Throttled'],
    ['500, or nothing', 'Transient'],
  ])(
    'an API server that answers %s to every write for an hour: asked ever more seldom, and done once it takes them',
    async (_what, code) => {
      const made = new World();
      made.api.failures.push(...Array.from({ length: 10_000 }, () => ({ code })));
      worlds.push(await made.start(nodeOf('n1')));
      await made.settle(3_600_000);
      // Its back-off grows from 5 ms to 1000 s, and each try is three patches (contract 6.2).
      expect(made.api.patches.length).toBeGreaterThan(3 * 15);
      expect(made.api.patches.length).toBeLessThanOrEqual(3 * 25);
      expect(new Set(made.api.events)).toEqual(new Set(['Normal CIDRAssignmentFailed: Node n1 status is now: CIDRAssignmentFailed']));
      made.api.failures.length = 0;
      await made.settle(1_000_000);
      expect(made.podCIDRs('n1')).toHaveLength(1);
      expect(made.usage.get('10.10.0.0/16')).toBe(1 / 256);
    },
  );

  test('refused three times: the block is free again', async () => {
    const made = new World({ clusterCidr: '10.10.0.0/24' });
    made.api.failures.push(...Array.from({ length: 3 }, () => ({ code: 'Credentials' as const })));
    worlds.push(await made.start(nodeOf('n1')));
    expect(made.api.events).toEqual(['Normal CIDRAssignmentFailed: Node n1 status is now: CIDRAssignmentFailed']);
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toEqual(['10.10.0.0/24']);
  });

  test('somebody else was quicker: theirs is taken, ours is free again', async () => {
    const made = await world({ clusterCidr: '10.10.0.0/23' });
    made.api.live.set('n1', nodeOf('n1', ['10.10.1.0/24']));
    made.store.set(nodeOf('n1'));
    await made.settle();
    expect([made.podCIDRs('n1'), made.api.events]).toEqual([['10.10.1.0/24'], []]);
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toEqual(['10.10.0.0/24']);
  });

  test('a Node that registered anew under the name gets a block of its own', async () => {
    const made = await world({ clusterCidr: '10.10.0.0/24' });
    made.api.live.set('n1', nodeOf('n1', [], { uid: 'new' }));
    made.store.set(nodeOf('n1', [], { uid: 'old' }));
    await made.settle();
    expect([made.podCIDRs('n1'), made.api.patches.length, made.api.events]).toEqual([undefined, 1, []]);
    made.store.set(nodeOf('n1', [], { uid: 'new' }));
    await made.settle();
    expect(made.podCIDRs('n1')).toEqual(['10.10.0.0/24']);
  });

  test('a store that lags behind our write: nothing is written twice, nothing is given twice', async () => {
    const made = await world({}, nodeOf('n1'));
    await made.loop.sync('n1');
    expect(made.api.patches).toHaveLength(1);
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toEqual(['10.10.1.0/24']);
  });
});

describe('podCIDRs that others gave', () => {
  test('they are taken at once; on a Node that goes they are free', async () => {
    const made = await world({ clusterCidr: '10.10.0.0/23' });
    made.api.live.set('n2', nodeOf('n2'));
    made.store.set(nodeOf('n2'));
    made.store.set(nodeOf('n1', ['10.10.0.0/24']));
    await made.settle();
    expect(made.podCIDRs('n2')).toEqual(['10.10.1.0/24']);
    await made.remove('n1');
    await made.add(nodeOf('n3'));
    expect(made.podCIDRs('n3')).toEqual(['10.10.0.0/24']);
  });

  test('those outside are told once, and tried no more', async () => {
    const made = await world({});
    await made.add(nodeOf('n1', ['172.16.0.0/24']));
    made.loop.requeueAll();
    await made.settle(1_000);
    expect(made.api.events).toEqual([
      'Warning PodCIDRNotAccepted: failed to mark cidr[172.16.0.0/24] at idx [0] as occupied for node: n1: cidr 172.16.0.0/24 is out the range of cluster cidr 10.10.0.0/16',
    ]);
  });

  test('two Nodes with one block: it is free when both are gone', async () => {
    const made = await world({ clusterCidr: '10.10.0.0/23' }, nodeOf('n1', ['10.10.0.0/24']), nodeOf('n2', ['10.10.0.0/24']));
    await made.remove('n1');
    await made.add(nodeOf('n3'));
    await made.add(nodeOf('n4'));
    expect([made.podCIDRs('n3'), made.podCIDRs('n4')]).toEqual([['10.10.1.0/24'], undefined]);
    await made.remove('n2');
    expect(made.podCIDRs('n4')).toEqual(['10.10.0.0/24']);
  });

  test('a Node with what belongs to the Services: it stays theirs', async () => {
    const made = await world({ clusterCidr: '10.10.0.0/24', serviceRanges: '10.10.0.0/26' }, nodeOf('n1', ['10.10.0.0/24']));
    await made.remove('n1');
    await made.add(nodeOf('n2'));
    expect(made.podCIDRs('n2')).toBeUndefined();
  });
});

test('5,000 Nodes in an IPv4 /8 and an IPv6 /48: every one its own, in a moment', async () => {
  const nodes = Array.from({ length: 5_000 }, (_, index) => nodeOf(`n${index}`));
  const made = await world({ clusterCidr: '10.0.0.0/8,2001:db8:1234::/48' }, ...nodes);
  await made.settle();
  const given = [...made.api.live.values()].flatMap(({ spec }) => spec.podCIDRs ?? []);
  expect(new Set(given).size).toBe(10_000);
});
