import type { Condition } from '../../../../crds';
import type { Node } from '../../../../operator/kube/object';
import { parseCidr } from '../../../../operator/loops/cidr';
import type { StoredCloudRoute } from '../../../../operator/loops/kinds';
import { bodyOf, routeName } from '../../../../operator/loops/route/cloud-route';
import { type Action, evaluate, type Gathered } from '../../../../operator/loops/route/evaluate';
import { isResponsible, parseClusterCidrs } from '../../../../operator/loops/route/responsibility';
import { cloudRoute, condition, NOW, node } from '../objects';

const READY = condition('Ready', 'True', 'Ready');
const REFUSED = condition('Ready', 'False', 'CredentialsRefused', 'expired');
const FAILED = condition('Ready', 'False', 'QuotaExceeded', 'table full');

function withCidrs(podCIDRs: string[], network?: object): Node {
  return node({
    spec: { podCIDRs },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.0.2.11' }],
      conditions: network === undefined ? [] : [{ type: 'NetworkUnavailable', ...network }],
    },
  });
}

/** A CloudRoute as the loop made it for a Node. */
function made(of: Node, cidr: string, conditions: Condition[] = [READY], metadata: object = {}): StoredCloudRoute {
  const body = bodyOf(of, cidr, 'cloud-a', undefined);
  return cloudRoute({
    metadata: { ...body.metadata, uid: `uid-${cidr}`, ...metadata },
    spec: body.spec,
    status: { observedGeneration: 1, conditions },
  });
}

function run(of: Node | undefined, routes: StoredCloudRoute[], changes: Partial<Gathered> = {}): ReturnType<typeof evaluate> {
  return evaluate({ node: of, routes, provider: 'cloud-a', clusterCidrs: [], now: NOW, ...changes });
}

const brief = (actions: Action[]): string[] =>
  actions.map((action) => {
    if (action.kind === 'Apply') return `apply ${action.body.spec.destinationCIDR}`;
    if (action.kind === 'Delete') return `delete ${action.name}`;
    const [wanted] = (action.patch as { status: { conditions: { status: string; reason: string; message: string }[] } }).status.conditions;
    return `${wanted?.status}/${wanted?.reason}: ${wanted?.message}`;
  });

const CREATED = 'False/RouteCreated: RouteController created a route';
const NOT_CREATED = 'True/NoRouteCreated: RouteController failed to create a route';
const ROUTED = { status: 'False', reason: 'RouteCreated' };

describe('responsibility (contract 5.3)', () => {
  test.each([
    ['C-ROUTE-01', '10.244.0.0/16', '10.244.0.0/24', true],
    ['C-ROUTE-01', '10.244.0.0/16', '10.244.10.0/24', true],
    ['C-ROUTE-01', '10.244.0.0/16', '10.244.255.0/24', true],
    ['C-ROUTE-02', 'a00:100::/10', 'a00:100::/24', true],
    ['C-ROUTE-03', '10.244.0.0/14', '10.248.0.0/24', false],
    ['C-ROUTE-03', '10.244.0.0/14', '10.243.255.0/24', false],
    ['a wider one that touches at one end', '10.244.0.0/16', '10.244.0.0/12', false],
    ['a wider one that begins with it', '10.240.0.0/16', '10.240.0.0/12', true],
    ['not a CIDR', '10.244.0.0/16', 'default', false],
  ])('%s: cluster %s, route %s: %s', (_name, cluster, route, ours) => {
    expect(isResponsible([parseCidr(cluster)!], route)).toBe(ours);
  });

  test.each([['x'], ['10.0.0.0/8', '10.1.0.0/16'], ['10.0.0.0/8', 'fd00::/8', '10.1.0.0/16']])(
    'cluster CIDRs %s,%s are refused',
    (...texts) => {
      expect(() => parseClusterCidrs(texts.filter((text) => typeof text === 'string'))).toThrow(/cluster CIDR/);
    },
  );
});

describe('names', () => {
  test('readable, and valid whatever the CIDR', () => {
    expect(routeName('n1', '10.244.1.0/24')).toBe('n1-10.244.1.0-24');
    expect(routeName('n1.example.com', 'FD00:10:244::/64')).toBe('n1.example.com-fd00-10-244---64');
    const long = `${'a'.repeat(120)}.${'b'.repeat(130)}`;
    const name = routeName(long, 'fd00::/64');
    expect(name.length).toBeLessThanOrEqual(253);
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
    expect(routeName(`${long}c`, 'fd00::/64')).not.toBe(name);
  });
});

describe('reconcile (contract 5.4)', () => {
  test('C-ROUTE-04 everything is there', () => {
    const of = withCidrs(['10.120.0.0/24'], ROUTED);
    expect(run(of, [made(of, '10.120.0.0/24')])).toEqual({ actions: [], failures: [] });
  });

  test('C-ROUTE-05 no route yet: one CloudRoute with the Node’s addresses', () => {
    const { actions } = run(withCidrs(['10.120.0.0/24']), []);
    expect(brief(actions)).toEqual(['apply 10.120.0.0/24']);
    expect(actions[0]).toMatchObject({
      body: {
        metadata: { name: 'n1-10.120.0.0-24', ownerReferences: [{ kind: 'Node', name: 'n1', uid: 'node-1' }] },
        spec: { provider: 'cloud-a', nodeName: 'n1', nodeUID: 'node-1', providerID: 'fake://1', nodeAddresses: ['192.0.2.11'] },
      },
    });
  });

  test('a Node without an address yet: the route waits, so that it needs no change a moment later', () => {
    expect(
      run(node({ spec: { podCIDRs: ['10.120.0.0/24'] }, status: { addresses: [{ type: 'Hostname', address: 'n1' }] } }), []).actions,
    ).toEqual([]);
  });

  test('C-ROUTE-06 the routes of a Node that is gone', () => {
    const gone = withCidrs(['10.120.3.0/24']);
    expect(brief(run(undefined, [made(gone, '10.120.3.0/24')]).actions)).toEqual(['delete n1-10.120.3.0-24']);
  });

  test('a Node that is being deleted keeps its routes until it is gone: its Pods are drained meanwhile', () => {
    const leaving = withCidrs(['10.120.3.0/24']);
    const drained = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: NOW, finalizers: ['karpenter.sh/termination'] } };
    expect(brief(run(drained, [made(leaving, '10.120.3.0/24')]).actions)).toEqual(
      brief(run(leaving, [made(leaving, '10.120.3.0/24')]).actions),
    );
  });

  // A route that is none of ours is left, blackhole or not (difference from upstream): what we made for a Node that is gone, goes.
  test('C-ROUTE-07 a CloudRoute that leads nowhere', () => {
    const clusterCidrs = parseClusterCidrs(['10.120.0.0/16']);
    const nowhere = { ...made(withCidrs(['10.120.2.0/24']), '10.120.2.0/24', [FAILED]) };
    expect(brief(run(undefined, [nowhere], { clusterCidrs, provider: undefined }).actions)).toEqual(['delete n1-10.120.2.0-24']);
    const persons = { ...nowhere, metadata: { ...nowhere.metadata, labels: {} } };
    expect(run(undefined, [persons], { clusterCidrs }).actions).toEqual([]);
  });

  test('C-ROUTE-08 dual-stack', () => {
    expect(brief(run(withCidrs(['10.120.0.0/24', 'fd00:1::/64']), []).actions)).toEqual(['apply 10.120.0.0/24', 'apply fd00:1::/64']);
  });

  test('C-ROUTE-09 dual-stack, the CIDRs of two Nodes are swapped: all four go, and four are made', () => {
    const cidrs = [['10.120.0.0/24', 'fd00:1::/64'] as const, ['10.120.1.0/24', 'fd00:2::/64'] as const];
    const named = (index: number, of: readonly string[]): Node => {
      const base = withCidrs([...of], ROUTED);
      return { ...base, metadata: { ...base.metadata, name: `node-${index}`, uid: `uid-${index}` } };
    };
    const all = cidrs.flatMap((swapped, index) => {
      const before = named(index, cidrs[index] ?? []);
      const after = named(index, cidrs[1 - index] ?? []);
      return brief(
        run(
          after,
          swapped.map((cidr) => made(before, cidr)),
        ).actions,
      );
    });
    expect(all).toEqual([
      ...['apply 10.120.1.0/24', 'apply fd00:2::/64', 'delete node-0-10.120.0.0-24', 'delete node-0-fd00-1---64'],
      ...['apply 10.120.0.0/24', 'apply fd00:1::/64', 'delete node-1-10.120.1.0-24', 'delete node-1-fd00-2---64'],
    ]);
  });

  test('C-ROUTE-10 a route without the Node’s addresses gets them', () => {
    const of = withCidrs(['10.120.0.0/24'], ROUTED);
    const before = made(of, '10.120.0.0/24');
    const without = { ...before, spec: { ...before.spec, nodeAddresses: undefined } } as unknown as StoredCloudRoute;
    const { actions } = run(of, [without]);
    expect(brief(actions)).toEqual(['apply 10.120.0.0/24']);
    expect(actions[0]).toMatchObject({ body: { spec: { nodeAddresses: ['192.0.2.11'] } } });
  });

  test('C-ROUTE-11 the Node’s addresses change', () => {
    const before = withCidrs(['10.120.0.0/24'], ROUTED);
    const after = node({ spec: { podCIDRs: ['10.120.0.0/24'] }, status: { addresses: [{ type: 'InternalIP', address: '192.0.2.99' }] } });
    expect(brief(run(after, [made(before, '10.120.0.0/24')]).actions)).toEqual(['apply 10.120.0.0/24']);
  });

  test('C-ROUTE-12 a CIDR that is listed twice counts once', () => {
    expect(brief(run(withCidrs(['10.120.0.0/24', '10.120.0.0/24']), []).actions)).toEqual(['apply 10.120.0.0/24']);
  });

  test('R-18 made anew with another CIDR: the new route and the end of the old one in one pass', () => {
    const before = withCidrs(['198.18.1.0/24']);
    const anew = withCidrs(['198.18.7.0/24']);
    const after = { ...anew, metadata: { ...anew.metadata, uid: 'node-2' } };
    expect(brief(run(after, [made(before, '198.18.1.0/24')]).actions)).toEqual(['apply 198.18.7.0/24', 'delete n1-198.18.1.0-24']);
  });

  test('made anew with the same CIDR: waits while the old CloudRoute goes', () => {
    const of = withCidrs(['10.120.0.0/24']);
    const leaving = made(node({ metadata: { uid: 'node-0' } }), '10.120.0.0/24', [READY], { deletionTimestamp: NOW });
    expect(run(of, [leaving]).actions).toEqual([]);
  });

  test('another provider than the one that made it: a new object, after the old one', () => {
    const of = withCidrs(['10.120.0.0/24']);
    expect(brief(run(of, [made(of, '10.120.0.0/24')], { provider: 'cloud-b' }).actions)).toEqual(['delete n1-10.120.0.0-24']);
  });

  test('outside of the cluster CIDRs: not ours to delete, and not made', () => {
    const clusterCidrs = parseClusterCidrs(['10.120.0.0/16']);
    const of = withCidrs(['10.99.0.0/24']);
    const evaluation = run(of, [made(of, '10.98.0.0/24')], { clusterCidrs });
    expect(brief(evaluation.actions)).toEqual([NOT_CREATED]);
    expect(evaluation.failures).toEqual([
      { cidr: '10.99.0.0/24', message: expect.stringContaining('outside of the cluster CIDRs') as string },
    ]);
  });

  test('one of two CIDRs is outside of the cluster CIDRs: it is told, and the other one says whether the Node has its network', () => {
    const clusterCidrs = parseClusterCidrs(['10.120.0.0/16']);
    const of = withCidrs(['10.120.0.0/24', 'fd00:1::/64']);
    const failures = [{ cidr: 'fd00:1::/64', message: expect.stringContaining('outside of the cluster CIDRs') as string }];
    const { actions, ...told } = run(of, [made(of, '10.120.0.0/24')], { clusterCidrs });
    expect([brief(actions), told]).toEqual([[CREATED], { failures }]);
    expect(brief(run(of, [], { clusterCidrs }).actions)).toEqual(['apply 10.120.0.0/24']);
    const failed = run(of, [made(of, '10.120.0.0/24', [FAILED])], { clusterCidrs });
    expect(brief(failed.actions)).toEqual([NOT_CREATED]);
  });

  test('CloudRoutes of people are left alone, and not taken over', () => {
    const of = withCidrs(['10.120.0.0/24']);
    const persons = made(of, '10.120.0.0/24', [READY], { labels: {} });
    const { actions, failures } = run(of, [persons, made(of, '10.77.0.0/24', [READY], { labels: {} })]);
    expect(brief(actions)).toEqual([NOT_CREATED]);
    expect(failures[0]?.message).toContain('was not made by the route loop and is not taken over');
  });

  test('a Node whose cloud is not known, or has no routes', () => {
    const of = withCidrs(['10.120.0.0/24']);
    expect(run(of, [made(of, '10.121.0.0/24')], { provider: undefined })).toEqual({ actions: [], failures: [] });
  });
});

describe('condition NetworkUnavailable (contract 5.5)', () => {
  const CIDR = '10.120.0.0/24';
  type Case = [string, object | undefined, Condition[], string[]];

  test.each<Case>([
    ['C-ROUTE-13 none; made', undefined, [READY], [CREATED]],
    ['C-ROUTE-14 there already', ROUTED, [READY], []],
    ['C-ROUTE-15 of somebody else', { status: 'False', reason: 'ExternalCNI' }, [READY], [CREATED]],
    ['C-ROUTE-16 failed', ROUTED, [FAILED, condition('Stalled', 'True', 'QuotaExceeded', 'table full')], [NOT_CREATED]],
    ['failed and said', { status: 'True', reason: 'NoRouteCreated' }, [FAILED], []],
    [
      'failed because the cloud could not be asked, and there already',
      ROUTED,
      [REFUSED, condition('Stalled', 'True', 'CredentialsRefused')],
      [],
    ],
    ['the same of a new one', undefined, [REFUSED, condition('Stalled', 'True', 'CredentialsRefused')], [NOT_CREATED]],
    ['failed because the state can not be read, and there already', ROUTED, [condition('Ready', 'False', 'StateStoreUnavailable')], []],
    ...['Paused', 'Invalid', 'ApprovalUnprotected', 'ProviderNotFound', 'StateDamaged'].map((reason): Case => {
      return [
        `${reason} with a route that there is`,
        ROUTED,
        [condition('Ready', 'False', reason), condition('Stalled', 'True', reason)],
        [],
      ];
    }),
    ...['Conflict', 'Taken', 'NotFound', 'UpdateFailed', 'RouteConflict'].map((reason): Case => {
      return [
        `${reason} with a route that there was`,
        ROUTED,
        [condition('Ready', 'False', reason), condition('Stalled', 'True', reason)],
        [NOT_CREATED],
      ];
    }),
    ['the state of a new one can not be read', undefined, [condition('Ready', 'False', 'StateStoreUnavailable')], [NOT_CREATED]],
    ...['AwaitingWindow', 'AwaitingApproval', 'Paused', 'Frozen', 'Observed', 'StackHeld', 'StackAwaitingApproval', 'KindDeleted'].flatMap(
      (reason): Case[] => {
        const held = (serving: 'True' | 'False'): Condition[] => [
          condition('Ready', serving, reason),
          condition('Reconciling', 'True', reason),
        ];
        return [
          [`${reason} before it is made`, undefined, held('False'), [NOT_CREATED]],
          [`${reason} of one that was said to be there`, ROUTED, held('False'), []],
          [`${reason} while an earlier version serves`, undefined, held('True'), []],
        ];
      },
    ),
    ['still being made', undefined, [condition('Ready', 'False', 'Updating'), condition('Reconciling', 'True', 'Updating')], []],
  ])('%s', (_name, network, conditions, wanted) => {
    const of = withCidrs([CIDR], network);
    expect(brief(run(of, [made(of, CIDR, conditions)]).actions)).toEqual(wanted);
  });

  test('one of two is not there yet: nothing is said', () => {
    const of = withCidrs([CIDR, 'fd00:1::/64']);
    expect(brief(run(of, [made(of, CIDR)]).actions)).toEqual(['apply fd00:1::/64']);
  });

  test('no podCIDRs any more, but routes', () => {
    const before = withCidrs([CIDR]);
    const { actions } = run(withCidrs([]), [made(before, CIDR)]);
    expect(brief(actions)).toEqual(['delete n1-10.120.0.0-24', NOT_CREATED]);
    expect(run(withCidrs([]), []).actions).toEqual([]);
  });

  test('both times are now', () => {
    const of = withCidrs([CIDR]);
    const [patch] = run(of, [made(of, CIDR)]).actions;
    expect(patch).toMatchObject({ patch: { status: { conditions: [{ lastTransitionTime: NOW, lastHeartbeatTime: NOW }] } } });
  });
});
