import type { CloudRouteSpec } from '../../../crds';
import { overlapWarnings } from '../../../operator/cloud/stack/route-overlaps';
import type { RegisteredCloud } from '../../../operator/cloud/providers/registry';
import { RouteStacks, type StoredRoute } from '../../../operator/cloud/stack/route-stacks';
import { StackIndex } from '../../../operator/cloud/stack/stack-index';
import { systemClock } from '../../../operator/base/clock';
import type { Node } from '../../../operator/kube/object';
import { LocalRoutes } from '../../../providers/local/routes';

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
  const stacks = new RouteStacks({ get: node }, systemClock);

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

describe('the shard of a CloudRoute', () => {
  const cloud = (name: string): RegisteredCloud => ({ name, cloud: { routes: new LocalRoutes('cluster') } }) as unknown as RegisteredCloud;
  const route = (number: number, provider = 'local'): StoredRoute =>
    routeOf({ provider, nodeName: `n${number}`, destinationCIDR: `10.${number}.0.0/24` });

  /** As the controller does it: what stands in the records is remembered, then each object gets its stack. */
  class Assignment {
    readonly index = new StackIndex();
    private readonly stacks = new RouteStacks({ get: () => undefined }, systemClock);

    constructor(private readonly records: ReadonlyMap<string, string> = new Map()) {
      records.forEach((stack, key) => this.index.remember(key, stack));
    }

    add(object: StoredRoute): string {
      const key = object.metadata.name;
      const held = [this.index.stackOf(key), ...this.index.formersOf(key)].filter((stack) => stack !== undefined);
      const providerOf = (stack: string): string | undefined => ([...this.records.values()].includes(stack) ? 'local' : undefined);
      const holdings = { held, providerOf, sizeOf: (stack: string) => this.index.sizeOf(stack) };
      const stack = this.stacks.stackOf(object, cloud(object.spec.provider), holdings) ?? '';
      this.index.assign(key, stack);
      return stack;
    }

    get all(): Map<string, string> {
      return new Map(this.index.stacks().flatMap((stack) => this.index.keys(stack).map((key) => [key, stack] as const)));
    }
  }

  const numbers = Array.from({ length: 101 }, (_, number) => number);

  test('is the first with room, a hundred to a stack, and stays', () => {
    const assignment = new Assignment();
    const stacks = numbers.map((number) => assignment.add(route(number)));
    expect(new Set(stacks.slice(0, 100)).size).toBe(1);
    expect(stacks[100]).not.toBe(stacks[0]);
    expect(numbers.map((number) => assignment.add(route(number)))).toEqual(stacks);
  });

  test('is the same after a restart, in whatever order the routes come, and a gap is filled', () => {
    const before = new Assignment();
    numbers.forEach((number) => before.add(route(number)));
    const after = new Assignment(before.all);
    numbers.toReversed().forEach((number) => after.add(route(number)));
    expect(after.all).toEqual(before.all);
    after.index.forget('to-n7');
    expect(after.add(route(201))).toBe(before.all.get('to-n0'));
    expect(after.add(route(202))).toBe(before.all.get('to-n100'));
  });

  test('is another one under another CloudProvider', () => {
    const assignment = new Assignment();
    const first = assignment.add(route(1));
    expect(assignment.add(route(1, 'other'))).not.toBe(first);
    expect(assignment.index.formersOf('to-n1')).toEqual([first]);
  });
});
