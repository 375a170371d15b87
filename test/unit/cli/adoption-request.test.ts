import { requestOnLoadBalancer, requestOnService } from '../../../operator/cli/cluster/adoption-request';
import { loadBalancer, service } from '../explain/objects';

const WISH = { from: 'Released', name: 'edge', kind: 'local' } as const;
const ADOPT = 'cloud-operator.dev/adopt';
const ADOPT_ID = 'cloud-operator.dev/adopt-id';
const NAME = 'local.cloud-operator.dev/name';

test.each<[string, Record<string, string>, object]>([
  ['without annotations', {}, { [ADOPT]: null, [NAME]: null }],
  ['with others', { other: 'x', [NAME]: 'mine' }, { [ADOPT]: null, [NAME]: 'mine' }],
  ['that asked before', { [ADOPT]: 'Upstream' }, { [ADOPT]: 'Upstream', [NAME]: null }],
])('a Service %s is asked by annotations, and put back as it was', (_, annotations, back) => {
  const found = requestOnService(service({ metadata: { annotations } }), WISH);
  expect(found).toEqual({
    ask: { metadata: { annotations: { [ADOPT]: 'Released', [NAME]: 'edge' } } },
    back: { metadata: { annotations: back } },
  });
});

test('a CloudLoadBalancer is asked by its spec', () => {
  expect(requestOnLoadBalancer(loadBalancer(), WISH)).toEqual({
    ask: { spec: { adopt: 'Released', local: { name: 'edge' } } },
    back: { spec: { adopt: null, local: null } },
  });
  const named = loadBalancer({ spec: { adopt: 'Upstream', aws: { name: 'before' } } });
  expect(requestOnLoadBalancer(named, { ...WISH, kind: 'aws' })).toEqual({
    ask: { spec: { adopt: 'Released', aws: { name: 'edge' } } },
    back: { spec: { adopt: 'Upstream', aws: { name: 'before' } } },
  });
});

test('by its id, whatever the cloud', () => {
  const wish = { from: 'Unowned', id: 'lb-1', kind: 'other' } as const;
  expect(requestOnService(service({ metadata: { annotations: { [ADOPT_ID]: 'lb-0' } } }), wish)).toEqual({
    ask: { metadata: { annotations: { [ADOPT]: 'Unowned', [ADOPT_ID]: 'lb-1' } } },
    back: { metadata: { annotations: { [ADOPT]: null, [ADOPT_ID]: 'lb-0' } } },
  });
  expect(requestOnLoadBalancer(loadBalancer(), wish)).toEqual({
    ask: { spec: { adopt: 'Unowned', adoptID: 'lb-1' } },
    back: { spec: { adopt: null, adoptID: null } },
  });
});

test('without a name it is found by what the object says', () => {
  const wish = { ...WISH, name: undefined, kind: 'other' };
  expect(requestOnService(service(), wish).ask).toEqual({ metadata: { annotations: { [ADOPT]: 'Released' } } });
  expect(requestOnLoadBalancer(loadBalancer(), wish).ask).toEqual({ spec: { adopt: 'Released' } });
});

test('a cloud whose load balancers have no name here is told so', () => {
  expect(() => requestOnService(service(), { ...WISH, kind: 'other' })).toThrow(
    /--name: load balancers of the cloud "other" are not found by a name/,
  );
  expect(() => requestOnLoadBalancer(loadBalancer(), { ...WISH, kind: 'other' })).toThrow(/--name/);
});
