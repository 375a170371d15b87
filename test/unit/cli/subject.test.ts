import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { subjectOf } from '../../../operator/cli/cluster/subject';
import { SERVICES } from '../../../operator/kube/object';

const KINDS = [CLOUD_LOAD_BALANCERS, SERVICES, CLOUD_ROUTES];

test.each([
  ['web', 'CloudLoadBalancer', 'shop/web'],
  ['clb/web', 'CloudLoadBalancer', 'shop/web'],
  ['CloudLoadBalancer/web', 'CloudLoadBalancer', 'shop/web'],
  ['cloudloadbalancers.cloud-operator.dev/web', 'CloudLoadBalancer', 'shop/web'],
  ['svc/web', 'Service', 'shop/web'],
  ['cloudroute/n1-10.244.1.0-24', 'CloudRoute', 'n1-10.244.1.0-24'],
])('%s is %s %s', (text, kind, key) => {
  const { resource, key: found } = subjectOf(text, KINDS, 'shop');
  expect([resource.kind, found]).toEqual([kind, key]);
});

test.each([
  [
    'other/web',
    '"other/web": "other" is no kind that this command knows',
    /cloudloadbalancer, service, cloudroute; another namespace is named with -n/,
  ],
  ['node/n1', '"node/n1": "node" is no kind that this command knows', /known here/],
  ['', '"" names no object', undefined],
  ['clb/', '"clb/" names no object', undefined],
  ['clb/a/b', '"clb/a/b" names no object', undefined],
  ['clb/../x', '"clb/../x" names no object', undefined],
  ['-web', '"-web" names no object', undefined],
])('%s is refused', (text, message, remedy) => {
  const refused = refusalOf(text);
  expect([refused.code, refused.message]).toEqual(['Invalid', expect.stringContaining(message)]);
  if (remedy !== undefined) expect(refused.remedy).toMatch(remedy);
});

function refusalOf(text: string): OperatorError {
  try {
    subjectOf(text, KINDS, 'shop');
  } catch (thrown) {
    if (thrown instanceof OperatorError) return thrown;
  }
  throw new Error('it was taken');
}
