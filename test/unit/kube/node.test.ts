import { eligibleForLoadBalancers, excludedFromLoadBalancers, hasTaint, isReady } from '../../../operator/kube/node';
import type { Node } from '../../../operator/kube/object';

interface Parts {
  labels?: Record<string, string>;
  deletionTimestamp?: string;
  spec?: Node['spec'];
  status?: Node['status'];
}

function node({ labels = {}, deletionTimestamp, spec = {}, status }: Parts): Node {
  const metadata = {
    name: 'n1',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    labels,
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  };
  return { apiVersion: 'v1', kind: 'Node', metadata, spec, ...(status === undefined ? {} : { status }) };
}

const LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

describe('the exclude label (contract 2.9 rule 2)', () => {
  it.each(['0', 'f', 'F', 'false', 'FALSE', 'False'])('does not exclude when it is %s', (value) => {
    expect(excludedFromLoadBalancers(node({ labels: { [LABEL]: value } }))).toBe(false);
  });

  it.each(['1', 't', 'T', 'true', 'TRUE', 'True', '', ' ', 'fALSE', 'falsE', 'no', 'off', '00', 'garbage'])(
    'excludes when it is "%s"',
    (value) => {
      expect(excludedFromLoadBalancers(node({ labels: { [LABEL]: value } }))).toBe(true);
    },
  );

  it('does not exclude when it is absent', () => {
    expect(excludedFromLoadBalancers(node({}))).toBe(false);
  });
});

describe('eligibleForLoadBalancers (contract 2.9)', () => {
  const cases: [string, Parts, boolean][] = [
    ['a plain Node', {}, true],
    ['a Node being deleted', { deletionTimestamp: '2030-01-01T00:00:00Z' }, false],
    ['an excluded Node', { labels: { [LABEL]: '' } }, false],
    [
      'a Node that the autoscaler removes',
      { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', value: '17', effect: 'NoSchedule' }] } },
      false,
    ],
    ['the same with another effect', { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'PreferNoSchedule' }] } }, false],
    ['a Node that is not ready', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, true],
    ['a cordoned Node', { spec: { unschedulable: true } }, true],
    [
      'an uninitialized Node',
      { spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }] } },
      true,
    ],
    ['a control plane', { labels: { 'node-role.kubernetes.io/control-plane': '' } }, true],
    ['a Node with an empty providerID', { spec: { providerID: '' } }, true],
  ];

  it.each(cases)('%s', (_name, parts, eligible) => {
    expect(eligibleForLoadBalancers(node(parts))).toBe(eligible);
  });
});

describe('isReady and hasTaint', () => {
  it('takes only the condition Ready with status True', () => {
    expect(isReady(node({ status: { conditions: [{ type: 'Ready', status: 'True' }] } }))).toBe(true);
    expect(isReady(node({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }))).toBe(false);
    expect(isReady(node({ status: { conditions: [{ type: 'MemoryPressure', status: 'True' }] } }))).toBe(false);
    expect(isReady(node({}))).toBe(false);
  });

  it('compares the effect only when one is asked for', () => {
    const tainted = node({ spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
    expect(hasTaint(tainted, 'k')).toBe(true);
    expect(hasTaint(tainted, 'k', 'NoExecute')).toBe(true);
    expect(hasTaint(tainted, 'k', 'NoSchedule')).toBe(false);
    expect(hasTaint(tainted, 'other')).toBe(false);
  });
});
