import type { CloudRouteSpec } from '../../../crds';
import { overlapWarnings } from '../../../operator/cloud/route-overlaps';
import { RouteStacks, type StoredRoute } from '../../../operator/cloud/route-stacks';
import type { Node } from '../../../operator/kube/object';

function routeOf(spec: Partial<CloudRouteSpec> = {}, owned = false): StoredRoute {
  const name = spec.nodeName ?? 'n1';
  const ownerReferences = owned ? [{ kind: 'Node', name, uid: 'x', apiVersion: 'v1' }] : [];
  const metadata = { name: `to-${name}`, uid: `uid-${name}-${spec.destinationCIDR ?? ''}`, ownerReferences };
  return { metadata, spec: { provider: 'local', destinationCIDR: '10.244.1.0/24', nodeName: name, ...spec } } as StoredRoute;
}

describe('the next hop of a CloudRoute', () => {
  const known: Record<string, string | undefined> = { n1: 'local:///a/i-1', fresh: undefined };
  const node = (name: string): Node | undefined =>
    name in known ? ({ metadata: { name, uid: `uid-of-${name}` }, spec: { providerID: known[name] } } as Node) : undefined;
  const stacks = new RouteStacks({ get: node });

  test.each<[string, Partial<CloudRouteSpec>, string | undefined, string | undefined]>([
    ['is what the spec says', { providerID: 'local:///a/i-9' }, 'local:///a/i-9', undefined],
    ['is the Node’s where the spec does not say it', {}, 'local:///a/i-1', undefined],
    ['is that of the Node with the UID', { nodeUID: 'uid-of-n1' }, 'local:///a/i-1', undefined],
    ['waits for a Node that is not there', { nodeName: 'none' }, undefined, 'NodeNotFound'],
    ['waits where the Node of that name is another one', { nodeUID: 'of-an-older-one' }, undefined, 'NodeNotFound'],
    ['waits for a Node that is not initialized', { nodeName: 'fresh' }, undefined, 'NodeNotInitialized'],
  ])('%s', (_what, spec, providerID, reason) => {
    expect(stacks.inputOf(routeOf(spec)).spec.providerID).toBe(providerID);
    expect(stacks.waiting(routeOf(spec))?.reason).toBe(reason);
  });
});

describe('overlapping destinations', () => {
  const nodes = [1, 2].map((n) => routeOf({ nodeName: `n${n}`, destinationCIDR: `10.244.${n}.0/24` }, true));
  const warned = (spec: Partial<CloudRouteSpec>): string[] => overlapWarnings(routeOf(spec), nodes).map(({ message }) => message);

  test.each(['0.0.0.0/0', '10.244.0.0/16'])('%s is warned of, with whom it overlaps', (destinationCIDR) => {
    const message = `${destinationCIDR} overlaps 10.244.1.0/24 to Node n1 (CloudRoute to-n1) and 1 more: the narrower route takes what both have`;
    expect(warned({ nodeName: 'n3', destinationCIDR })).toEqual([message]);
  });

  test.each<[string, Partial<CloudRouteSpec>]>([
    ['another range', { nodeName: 'n3', destinationCIDR: '10.244.3.0/24' }],
    ['another family', { nodeName: 'n3', destinationCIDR: '::/0' }],
    ['another cloud', { nodeName: 'n3', destinationCIDR: '0.0.0.0/0', provider: 'other' }],
    ['a part of the same Node’s', { nodeName: 'n1', destinationCIDR: '10.244.1.128/25' }],
  ])('%s is not', (_what, spec) => expect(warned(spec)).toEqual([]));

  test('a narrower one in another Node’s range is, and the Nodes’ own are not', () => {
    expect(warned({ nodeName: 'n3', destinationCIDR: '10.244.1.128/25' })).toHaveLength(1);
    const wide = routeOf({ nodeName: 'n3', destinationCIDR: '0.0.0.0/0' });
    expect(overlapWarnings(nodes[0]!, [...nodes, wide])).toEqual([]);
  });
});
