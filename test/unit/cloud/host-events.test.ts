import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { HostEvents } from '../../../operator/cloud/targets/host-events';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import { FakeClock } from '../kube/fake-clock';
import { cloudLoadBalancer, condition } from '../loops/objects';
import { RecordingApi } from '../loops/recording-api';

function of(
  status: 'True' | 'False',
  observedGeneration = 1,
  annotations: object = { 'cloud-operator.dev/service-uid': 'service-1' },
): StoredLoadBalancer {
  const conditions = [condition('Ready', status, 'Ready')];
  return cloudLoadBalancer({ metadata: { annotations }, status: { observedGeneration, conditions } });
}

function setUp(): { api: RecordingApi; synced: boolean[]; hosts: HostEvents } {
  const api = new RecordingApi();
  const synced: boolean[] = [];
  const onSynced = (_tookMs: number, failed: boolean): void => void synced.push(failed);
  return { api, synced, hosts: new HostEvents({ events: api, clock: new FakeClock(), onSynced }) };
}

const SERVING = of('True');
const UPDATED = ['Normal UpdatedLoadBalancer: Updated load balancer with new hosts'];

test.each<[string, { object: StoredLoadBalancer; nodes: string[] }, string[], counted: boolean[]]>([
  ['other targets', { object: SERVING, nodes: ['n1'] }, UPDATED, [false]],
  ['no targets: the service loop says so', { object: SERVING, nodes: [] }, [], [false]],
  ['the first targets belong to Ensured', { object: of('False'), nodes: ['n1'] }, [], []],
  ['those of another spec too', { object: of('True', 0), nodes: ['n1'] }, [], []],
  ['a person’s CloudLoadBalancer has no Service', { object: of('True', 1, {}), nodes: ['n1'] }, [], [false]],
])('%s', async (_name, { object, nodes }, log, counted) => {
  const { api, synced, hosts } = setUp();
  await hosts.tell(object, named(nodes), () => Promise.resolve(1));
  expect([api.log, synced]).toEqual([log, counted]);
  for (const target of api.targets)
    expect(target).toEqual({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'demo', uid: 'service-1' } });
});

test('nothing had to be written: nothing is said', async () => {
  const { api, synced, hosts } = setUp();
  await hosts.tell(SERVING, named(['n1']), () => Promise.resolve(0));
  expect([api.log, synced]).toEqual([[], []]);
});

describe('a failure', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${String(index).padStart(2, '0')}`);
  const said = async (nodes: string[], code: ErrorCode, reason?: string): Promise<string[]> => {
    const { api, synced, hosts } = setUp();
    const error = new OperatorError(code, 'no', reason === undefined ? {} : { reason });
    await expect(hosts.tell(SERVING, named(nodes), () => Promise.reject(error))).rejects.toBe(error);
    expect(synced).toEqual(api.log.map(() => true));
    return api.log;
  };

  test.each<[number, string]>([
    [0, '[] [node names limited, total number of nodes: 0]'],
    [2, '[n00 n01] [node names limited, total number of nodes: 2]'],
    [20, `[${names(20).join(' ')}] [node names limited, total number of nodes: 20]`],
    [25, `[${names(20).join(' ')} <5 more>] [node names limited, total number of nodes: 25]`],
  ])('%d Nodes', async (count, text) => {
    expect(await said(names(count), 'Transient')).toEqual([
      `Warning UpdateLoadBalancerFailed: Error updating load balancer with new hosts ${text}, error: no`,
    ]);
  });

  test('nothing was tried, or there is nothing to update any more', async () => {
    const quiet = [said(['n'], 'Canceled'), said(['n'], 'NotFound'), said(['n'], 'Transient', 'NodeUndecided')];
    expect(await Promise.all(quiet)).toEqual([[], [], []]);
  });
});

function named(nodes: readonly string[]): { nodeName: string }[] {
  return nodes.map((nodeName) => ({ nodeName }));
}
