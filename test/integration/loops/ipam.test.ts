import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import type { KubeApi } from '../../../operator/kube/api';
import { type Node, NODES } from '../../../operator/kube/object';
import { KeyedQueue } from '../../../operator/kube/queue';
import { IpamLoop } from '../../../operator/loops/ipam/loop';
import { parseNodeCidrs } from '../../../operator/loops/ipam/settings';
import { CLUSTER_START_MS } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';
import { LoopCluster } from './cluster';

/** Sixteen blocks of IPv4, and as many of IPv6. */
const FLAGS = { mask: 0, maskIPv4: 28, maskIPv6: 0, allocatorType: 'RangeAllocator', clusterCidr: '10.244.0.0/24,2001:db8::/60' };

describe('node IPAM against a real API server', () => {
  let loops: LoopCluster;
  let running: { stop: AbortController; ended: Promise<void>; queue: KeyedQueue } | undefined;

  beforeAll(async () => {
    loops = await LoopCluster.start();
  }, CLUSTER_START_MS);

  afterAll(async () => {
    await stop();
    await loops?.stop();
  });

  function start(flags: Partial<typeof FLAGS> & { serviceRanges?: string } = {}, api: KubeApi = loops.api): void {
    const queue = new KeyedQueue({ name: 'cidrallocator_node', logger: silentLogger, backOff: { baseMs: 20, maxMs: 200 } });
    const loop = new IpamLoop({
      ...{ api, nodes: loops.nodes.store, events: loops.recorder('cidrAllocator'), queue, clock: systemClock, logger: silentLogger },
      metrics: () => ({ allocated: () => undefined, released: () => undefined, tries: () => undefined, usage: () => undefined }),
      observes: () => false,
      settings: parseNodeCidrs({ ...FLAGS, serviceRanges: '', ...flags }),
    });
    const controller = new AbortController();
    running = { stop: controller, ended: loop.run(controller.signal), queue };
  }

  async function stop(): Promise<void> {
    running?.stop.abort(new Error('the test is over'));
    await running?.ended;
    running?.queue.close();
    running = undefined;
  }

  const register = (name: string): Promise<Node> => loops.client.create<Node>(NODES, undefined, { metadata: { name } });

  const given = (names: readonly string[]): Promise<string[][]> =>
    waitFor(
      async () => {
        const nodes = await Promise.all(names.map((name) => loops.client.get<Node>(NODES, name)));
        const podCIDRs = nodes.map((node) => node?.spec.podCIDRs ?? []);
        return podCIDRs.every((list) => list.length > 0) ? podCIDRs : undefined;
      },
      { timeoutMs: 15_000, what: `the podCIDRs of ${names.join(', ')}` },
    );

  const writesOf = (name: string): number => loops.writes.filter((write) => write === `patch nodes/${name}`).length;

  const names = Array.from({ length: 12 }, (_, index) => `n${index}`);

  test('twelve Nodes at once: each gets one block of each range, none the same, none of the Services', async () => {
    start({ serviceRanges: '10.244.0.0/28' });
    await Promise.all(names.map(register));
    const all = await given(names);
    expect(all.every(([ipv4 = '', ipv6 = '']) => /^10\.244\.0\.\d+\/28$/.test(ipv4) && /^2001:db8:.*\/64$/.test(ipv6))).toBe(true);
    expect(new Set(all.flat()).size).toBe(24);
    expect(all.flat()).not.toContain('10.244.0.0/28');
    expect(names.map(writesOf)).toEqual(names.map(() => 1));
    const node = await loops.client.get<Node>(NODES, 'n0');
    expect(node?.spec.podCIDR).toBe(node?.spec.podCIDRs?.[0]);
  });

  test('a restart takes up what Nodes have; when none is left, an Event says so, and a Node that goes makes room', async () => {
    await stop();
    const before = await given(names);
    start();
    const more = ['m0', 'm1', 'm2', 'm3'];
    await Promise.all(more.map(register));
    const all = [...before, ...(await given(more))];
    expect(new Set(all.flat()).size).toBe(32);
    const { metadata } = await register('late');
    await waitFor(() => loops.saidOf(metadata.uid).length >= 2, { timeoutMs: 10_000, what: 'two failures' });
    expect(new Set(loops.saidOf(metadata.uid))).toEqual(new Set(['CIDRNotAvailable: Node late status is now: CIDRNotAvailable']));
    expect(writesOf('late')).toBe(0);
    await loops.client.remove(NODES, 'n5');
    expect(await given(['late'])).toEqual([before[5]]);
    const [event] = (await loops.events(metadata.uid)).filter(({ reason }) => reason === 'CIDRNotAvailable');
    expect([event?.source.component, event?.involvedObject.apiVersion]).toEqual(['cidrAllocator', 'v1']);
    expect(await given(names.filter((name) => name !== 'n5'))).toEqual(before.filter((_, index) => index !== 5));
  });

  test('answers that get lost, and Nodes that are made anew meanwhile: nobody gets what another has', async () => {
    await stop();
    await Promise.all([...names, 'm0', 'm1', 'm2', 'm3', 'late'].map((name) => loops.client.remove(NODES, name)));
    await waitFor(() => loops.nodes.store.list().length === 0, { timeoutMs: 10_000, what: 'an empty store' });
    start({}, losing(loops.api));
    await Promise.all(names.map(register));
    await Promise.all(
      ['n1', 'n2', 'n3'].map(async (name) => {
        await loops.client.remove(NODES, name);
        await register(name);
      }),
    );
    const all = await given(names);
    expect(new Set(all.flat()).size).toBe(24);
  });

  test('a Node with podCIDRs outside ends the start; one that comes later is told so', async () => {
    const { metadata } = await loops.client.create<Node>(NODES, undefined, {
      metadata: { name: 'outside' },
      spec: { podCIDR: '172.16.0.0/24', podCIDRs: ['172.16.0.0/24'] },
    });
    const problem =
      'failed to mark cidr[172.16.0.0/24] at idx [0] as occupied for node: outside: cidr 172.16.0.0/24 is out the range of cluster cidr 10.244.0.0/24';
    await loops.expectSaid(metadata.uid, [`PodCIDRNotAccepted`]);
    expect(loops.saidOf(metadata.uid)).toEqual([`PodCIDRNotAccepted: ${problem}`]);
    await stop();
    start();
    const failed = running?.ended;
    running = undefined;
    await expect(failed).rejects.toThrow(problem);
  });

  /** Every second answer to a patch is lost: of the request before it came to the API server, or after it was done. */
  function losing(api: KubeApi): KubeApi {
    let patches = 0;
    return new Proxy(api, {
      get: (target, name: keyof KubeApi) => {
        if (name !== 'patch') return target[name].bind(target);
        return async (...args: Parameters<KubeApi['patch']>): Promise<unknown> => {
          const turn = patches++ % 4;
          const lost = new OperatorError('Transient', 'ECONNRESET');
          if (turn === 1) throw lost;
          const answer = await target.patch(...args);
          if (turn === 3) throw lost;
          return answer;
        };
      },
    });
  }
});
