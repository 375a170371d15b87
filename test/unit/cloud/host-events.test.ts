import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { HostEvents } from '../../../operator/cloud/host-events';
import type { StoredLoadBalancer } from '../../../operator/cloud/load-balancer-stacks';
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

const SERVING = of('True');
const UPDATED = ['Normal UpdatedLoadBalancer: Updated load balancer with new hosts'];

test.each<[string, StoredLoadBalancer, string[], string[]]>([
  ['other targets', SERVING, ['n1'], UPDATED],
  ['no targets: the service loop says so', SERVING, [], []],
  ['the first targets belong to Ensured', of('False'), ['n1'], []],
  ['those of another spec too', of('True', 0), ['n1'], []],
  ['a person’s CloudLoadBalancer has no Service', of('True', 1, {}), ['n1'], []],
])('%s', (_name, object, nodes, log) => {
  const api = new RecordingApi();
  new HostEvents(api).updated(object, nodes);
  expect(api.log).toEqual(log);
  for (const target of api.targets)
    expect(target).toEqual({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'demo', uid: 'service-1' } });
});

describe('a failure', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${String(index).padStart(2, '0')}`);
  const said = (nodes: string[], code: ErrorCode, reason?: string): string[] => {
    const api = new RecordingApi();
    new HostEvents(api).failed(SERVING, nodes, new OperatorError(code, 'no', reason === undefined ? {} : { reason }));
    return api.log;
  };

  test.each<[number, string]>([
    [0, '[] [node names limited, total number of nodes: 0]'],
    [2, '[n00 n01] [node names limited, total number of nodes: 2]'],
    [20, `[${names(20).join(' ')}] [node names limited, total number of nodes: 20]`],
    [25, `[${names(20).join(' ')} <5 more>] [node names limited, total number of nodes: 25]`],
  ])('%d Nodes', (count, text) => {
    expect(said(names(count), 'Transient')).toEqual([
      `Warning UpdateLoadBalancerFailed: Error updating load balancer with new hosts ${text}, error: no`,
    ]);
  });

  test('nothing was tried, or there is nothing to update any more', () => {
    expect([said(['n'], 'Canceled'), said(['n'], 'NotFound'), said(['n'], 'Transient', 'NodeUndecided')]).toEqual([[], [], []]);
  });
});
