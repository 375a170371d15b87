import { stackName } from '../../../operator/cloud/stack/stack-name';
import { kindsOf } from '../../../providers/stack-kinds';

const [lb, routes] = (['lb', 'routes'] as const).map((kind) => stackName(kind, 'shop/web', ['aws'])) as [string, string];

test.each([
  ['all', undefined, true, true],
  ['none', [], true, true],
  ['load balancers', [lb], true, false],
  ['routes', [routes], false, true],
  ['both', [lb, routes], true, true],
  ['another name', ['backend-sg-0a'], true, true],
])('of %s', (_what, stacks, loadBalancers, isOfRoutes) => expect(kindsOf(stacks)).toEqual({ loadBalancers, routes: isOfRoutes }));
