import type { Node } from '../../../../operator/kube/object';
import type { InstanceLookup, InstanceMetadata } from '../../../../operator/loops/instances';
import { addressesChanged } from '../../../../operator/loops/node/addresses';
import { evaluateAddresses, evaluateInitialize, evaluateLabels } from '../../../../operator/loops/node/evaluate';
import { node } from '../objects';

const TAINT = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
const OTHER = { key: 'other', effect: 'NoExecute' };

function found(metadata: Partial<InstanceMetadata> = {}): InstanceLookup & { state: 'Found' } {
  const addresses = [
    { type: 'Hostname', address: 'node0.cloud.internal' },
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'ExternalIP', address: '132.143.154.163' },
  ];
  const all = { providerID: 'fake://12345', instanceType: '', zone: '', region: '', addresses, additionalLabels: {}, ...metadata };
  return { state: 'Found', provider: 'fake', shutdown: false, metadata: all };
}

function joining(changes: Parameters<typeof node>[0] = {}): Node {
  return node({ ...changes, spec: { providerID: undefined, taints: [TAINT], ...changes.spec } });
}

const SYNCED = { kind: 'Event', type: 'Normal', reason: 'Synced', message: 'Node synced successfully' };

describe('initialization (contract 3.2)', () => {
  test('C-NODE-01 providerID, no taint, the cloud’s three addresses', () => {
    const before = joining({ status: { addresses: [{ type: 'Hostname', address: 'nodeoverriden' }] }, spec: { taints: [OTHER, TAINT] } });
    expect(evaluateInitialize(before, found())).toEqual([
      { kind: 'PatchNode', patch: { metadata: { resourceVersion: '20' }, spec: { providerID: 'fake://12345', taints: [OTHER] } } },
      { kind: 'PatchStatus', patch: { status: { addresses: [...found().metadata.addresses, { $patch: 'replace' }] } } },
      SYNCED,
    ]);
  });

  test('C-NODE-03 zone and region make four labels, and overwrite', () => {
    const before = joining({ metadata: { labels: { 'topology.kubernetes.io/zone': 'old' } } });
    const [patch] = evaluateInitialize(before, found({ zone: 'us-west-1a', region: 'us-west', providerID: 'aws://12345' }));
    expect(patch).toMatchObject({
      patch: {
        metadata: {
          labels: {
            'failure-domain.beta.kubernetes.io/zone': 'us-west-1a',
            'topology.kubernetes.io/zone': 'us-west-1a',
            'failure-domain.beta.kubernetes.io/region': 'us-west',
            'topology.kubernetes.io/region': 'us-west',
          },
        },
        spec: { providerID: 'aws://12345' },
      },
    });
  });

  test('instance type makes two labels', () => {
    const [patch] = evaluateInitialize(joining(), found({ instanceType: 't3.large' }));
    expect(patch).toMatchObject({
      patch: { metadata: { labels: { 'beta.kubernetes.io/instance-type': 't3.large', 'node.kubernetes.io/instance-type': 't3.large' } } },
    });
  });

  test.each<[string, InstanceLookup, string]>([
    [
      'C-NODE-04 nobody’s',
      { state: 'Unclaimed', message: 'no CloudProvider has an instance named n1' },
      'no CloudProvider has an instance named n1',
    ],
    ['two clouds’', { state: 'Ambiguous', message: 'a and b both have it' }, 'a and b both have it'],
    [
      'not listed yet',
      { state: 'Missing', provider: 'fake', listedAt: 0, lateMs: 0 },
      'CloudProvider "fake" has no machine for this Node yet',
    ],
  ])('%s: the taint stays, an event says why, and it is tried again', (_name, lookup, why) => {
    const [event, retry, ...more] = evaluateInitialize(joining(), lookup);
    expect(event).toMatchObject({ kind: 'Event', type: 'Warning', message: expect.stringContaining(why) as string });
    expect(retry).toEqual({ kind: 'Retry' });
    expect(more).toEqual([]);
  });

  test('a Node of which its cloud has nothing to say is initialized with its own providerID, and without one not (contract 3.3)', () => {
    const lookup: InstanceLookup = { state: 'Unmanaged', message: 'its label says so' };
    expect(evaluateInitialize(joining({ spec: { providerID: 'metal://7' } }), lookup)).toEqual([
      { kind: 'PatchNode', patch: { metadata: { resourceVersion: '20' }, spec: { taints: [] } } },
      { kind: 'Event', type: 'Normal', reason: 'Synced', message: 'Node synced successfully' },
    ]);
    const message = expect.stringMatching(/^its label says so, and it has no providerID; the taint .* stays\. Start its kubelet/) as string;
    expect(evaluateInitialize(joining(), lookup)).toEqual([
      { kind: 'Event', type: 'Warning', reason: 'InstanceUnmanaged', message },
      { kind: 'Retry' },
    ]);
  });

  test('C-NODE-05 a provided-node-ip that is none: an error, and nothing is written', () => {
    const before = joining({ metadata: { annotations: { 'alpha.kubernetes.io/provided-node-ip': 'invalid-ip' } } });
    expect(() => evaluateInitialize(before, found())).toThrow(
      'failed to get node modifiers from cloud provider: provided node ip for node "n1" is not valid: failed to parse node IP "invalid-ip": could not parse "invalid-ip"',
    );
  });

  test('C-NODE-06 a providerID is kept', () => {
    const [patch] = evaluateInitialize(joining({ spec: { providerID: 'test-provider-id' } }), found());
    expect(patch).toEqual({ kind: 'PatchNode', patch: { metadata: { resourceVersion: '20' }, spec: { taints: [] } } });
  });

  test('a cloud that gives no providerID', () => {
    expect(() => evaluateInitialize(joining(), found({ providerID: '' }))).toThrow(
      'cloud provider does not set node provider ID for node n1',
    );
    expect(evaluateInitialize(joining({ spec: { providerID: 'fake://1' } }), found({ providerID: '' }))[0]).toMatchObject({
      kind: 'PatchNode',
    });
  });

  test('C-NODE-09 labels of Kubernetes are not set by a provider', () => {
    const additionalLabels = {
      'topology.kubernetes.io/region': 'other',
      'topology.k8s.io/x': '1',
      'kubernetes.io/x': '1',
      'k8s.io/x': '1',
    };
    const [patch] = evaluateInitialize(joining(), found({ region: 'us-west', additionalLabels }));
    expect((patch as { patch: { metadata: { labels: object } } }).patch.metadata.labels).toEqual({
      'failure-domain.beta.kubernetes.io/region': 'us-west',
      'topology.kubernetes.io/region': 'us-west',
    });
  });

  test('C-NODE-10 look-alikes are set; what the Node has stays', () => {
    const before = joining({ metadata: { labels: { 'example.com/kept': 'mine' } } });
    const additionalLabels = {
      'app.k8snio/bar': '1',
      'k8snio/bar': '2',
      'topology.k8s.aws/zone-id': 'euw1-az1',
      'example.com/kept': 'theirs',
    };
    const [patch] = evaluateInitialize(before, found({ additionalLabels }));
    expect((patch as { patch: { metadata: { labels: object } } }).patch.metadata.labels).toEqual({
      'app.k8snio/bar': '1',
      'k8snio/bar': '2',
      'topology.k8s.aws/zone-id': 'euw1-az1',
    });
  });
});

describe('labels (contract 3.5)', () => {
  const beta = {
    'failure-domain.beta.kubernetes.io/zone': 'z',
    'failure-domain.beta.kubernetes.io/region': 'r',
    'beta.kubernetes.io/instance-type': 't',
  };
  const ga = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', 'node.kubernetes.io/instance-type': 't' };

  test.each<[string, Record<string, string>, object | undefined]>([
    ['C-NODE-02 no labels', {}, undefined],
    ['C-NODE-13 only the deprecated ones', beta, ga],
    ['C-NODE-14 others differ', { ...beta, ...ga, 'topology.kubernetes.io/zone': 'edited' }, { 'topology.kubernetes.io/zone': 'z' }],
    ['all equal', { ...beta, ...ga }, undefined],
    ['only the new ones', ga, undefined],
  ])('%s', (_name, labels, wanted) => {
    const expected = wanted === undefined ? [] : [{ kind: 'PatchNode', patch: { metadata: { labels: wanted } } }];
    expect(evaluateLabels(node({ metadata: { labels } }))).toEqual(expected);
  });
});

describe('addresses (contract 3.4)', () => {
  const a = { type: 'InternalIP', address: '10.0.0.1' };
  const b = { type: 'InternalIP', address: 'fd00::1' };
  const host = { type: 'Hostname', address: 'n1' };

  test.each([
    ['C-NODE-15 same', [a, host], [a, host], false],
    ['C-NODE-16 one more', [a], [a, host], true],
    ['C-NODE-16 one fewer', [a, host], [a], true],
    ['dual-stack is not always a change (difference from upstream)', [a, b], [a, b], false],
    ['the first of two of one type changes (upstream misses it)', [a, b], [{ ...a, address: '10.0.0.9' }, b], true],
  ])('%s', (_name, current, wanted, changed) => {
    expect(addressesChanged(current, wanted)).toBe(changed);
  });

  test('no address from the cloud: the Node’s stay', () => {
    const before = node({ status: { addresses: [a] } });
    expect(evaluateAddresses(before, found({ addresses: [] }).metadata)).toEqual([]);
  });

  test('the Node’s Hostname is kept when the cloud gives none', () => {
    const before = node({ status: { addresses: [host, a] } });
    expect(evaluateAddresses(before, found({ addresses: [b] }).metadata)).toEqual([
      { kind: 'PatchStatus', patch: { status: { addresses: [b, host, { $patch: 'replace' }] } } },
    ]);
  });

  test('the first addresses are not a replacement', () => {
    const before = node({ status: {} });
    expect(evaluateAddresses(before, found({ addresses: [a] }).metadata)).toEqual([
      { kind: 'PatchStatus', patch: { status: { addresses: [a] } } },
    ]);
  });
});
