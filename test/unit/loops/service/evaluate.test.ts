import type { Condition } from '../../../../crds';
import type { Service, ServiceIngress } from '../../../../operator/kube/object';
import type { StoredCloudLoadBalancer } from '../../../../operator/loops/kinds';
import type { Action, Memory } from '../../../../operator/loops/service/actions';
import type { Claim } from '../../../../operator/loops/service/claim';
import { bodyOf } from '../../../../operator/loops/service/cloud-load-balancer';
import { compile } from '../../../../operator/loops/service/compile';
import { evaluate, type Gathered } from '../../../../operator/loops/service/evaluate';
import { cloudLoadBalancer, condition, NOW, service } from '../objects';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const READY = 'cloud-operator.dev/Ready';
const STALLED = 'cloud-operator.dev/Stalled';
const INGRESS: ServiceIngress[] = [{ ip: '203.0.113.10', ipMode: 'VIP' }];
const IS_READY = condition('Ready', 'True', 'Ready', 'serving');

function claimFor(of: Service, warnings: (Claim & { kind: 'Wanted' })['warnings'] = []): Claim & { kind: 'Wanted' } {
  const { spec } = compile(of, 'cloud-a', { blockName: 'local', block: {}, problems: [] });
  if (spec === undefined) throw new Error('the Service does not compile');
  return { kind: 'Wanted', spec, warnings };
}

/** The CloudLoadBalancer that the loop made for a Service. */
function made(of: Service, status?: object, metadata: object = {}): StoredCloudLoadBalancer {
  const body = bodyOf(of, claimFor(of), undefined);
  const { annotations, ownerReferences } = body.metadata;
  const spec = { ...body.spec, scheme: 'Public', ipFamilies: ['IPv4'] };
  return cloudLoadBalancer({ metadata: { annotations, ownerReferences, ...metadata }, spec: spec as never, status });
}

function statusOf(conditions: Condition[], ingress?: ServiceIngress[]): object {
  return { observedGeneration: 1, objectUID: 'clb-1', conditions, ...(ingress === undefined ? {} : { ingress }) };
}

function run(changes: Partial<Gathered>): { actions: Action[]; memory: Memory; said: string[] } {
  const of = changes.service ?? service();
  const gathered: Gathered = {
    service: of,
    cloudLoadBalancer: undefined,
    claim: claimFor(of),
    observed: false,
    hasNodes: true,
    memory: { serviceUID: of.metadata.uid },
    now: NOW,
    ...changes,
  };
  const evaluation = evaluate(gathered);
  const said = evaluation.actions.flatMap((action) => (action.kind === 'Event' ? [`${action.reason}: ${action.message}`] : []));
  return { ...evaluation, said };
}

const kinds = (actions: Action[]): string[] => actions.map((action) => (action.kind === 'Event' ? action.reason : action.kind));

const HELD = service({ metadata: { finalizers: [FINALIZER] } });
const SERVED = service({
  metadata: { finalizers: [FINALIZER] },
  status: {
    loadBalancer: { ingress: INGRESS },
    conditions: [{ type: READY, status: 'True', reason: 'Ready', message: 'serving', lastTransitionTime: NOW }],
  },
});

describe('ensure (contract 2.6)', () => {
  test('C-SVC-02 a new Service: event, finalizer, then the CloudLoadBalancer', () => {
    const { actions, memory } = run({});
    expect(kinds(actions)).toEqual(['EnsuringLoadBalancer', 'AddFinalizer', 'Apply']);
    expect(memory.pending).toBe(true);
    const apply = actions[2] as Action & { kind: 'Apply' };
    expect(apply.body.metadata).toEqual({
      name: 'web',
      namespace: 'demo',
      annotations: { 'cloud-operator.dev/service-uid': 'service-1', 'cloud-operator.dev/applied-hash': expect.any(String) as string },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'service-1', controller: true, blockOwnerDeletion: true }],
    });
  });

  test('C-SVC-28 no eligible Node: the warning, and the load balancer is made all the same', () => {
    expect(kinds(run({ hasNodes: false }).actions)).toEqual(['EnsuringLoadBalancer', 'AddFinalizer', 'UnAvailableLoadBalancer', 'Apply']);
  });

  test('a retry of the same spec does not say Ensuring again', () => {
    const first = run({});
    expect(kinds(run({ memory: first.memory }).actions)).toEqual(['AddFinalizer', 'Apply']);
  });

  test('a restart: nothing to do for what is unchanged', () => {
    expect(run({ service: SERVED, cloudLoadBalancer: made(SERVED, statusOf([IS_READY], INGRESS)) }).actions).toEqual([]);
  });

  test.each<[string, Partial<Service['spec']>]>([
    ['C-SVC-12 families', { ipFamilies: ['IPv4', 'IPv6'] }],
    ['C-SVC-10 health check port', { externalTrafficPolicy: 'Local', healthCheckNodePort: 30123 }],
    ['C-SVC-14 appProtocol', { ports: [{ protocol: 'TCP', port: 80, nodePort: 30080, appProtocol: 'tcp' }] }],
    [
      'R-08 one more port',
      {
        ports: [
          { name: 'a', protocol: 'TCP', port: 80, nodePort: 30080 },
          { name: 'b', protocol: 'TCP', port: 90, nodePort: 30090 },
        ],
      },
    ],
  ])('%s: a changed Service is applied', (_name, spec) => {
    const changed = service({ metadata: SERVED.metadata as never, spec, status: SERVED.status });
    const { actions } = run({ service: changed, cloudLoadBalancer: made(SERVED, statusOf([IS_READY], INGRESS)) });
    expect(kinds(actions)).toEqual(['EnsuringLoadBalancer', 'Apply']);
    expect((actions[1] as Action & { kind: 'Apply' }).body.metadata.uid).toBe('clb-1');
  });

  test('a field that is no longer wanted is taken back', () => {
    const before = service({ metadata: SERVED.metadata as never, spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } });
    const { actions } = run({ service: SERVED, cloudLoadBalancer: made(before, statusOf([IS_READY], INGRESS)) });
    const apply = actions.find((action) => action.kind === 'Apply');
    expect(apply?.kind === 'Apply' && apply.body.spec.sourceRanges).toBeUndefined();
    expect(apply).toBeDefined();
  });

  test('a hand edit of the CloudLoadBalancer is undone; what a person added stays', () => {
    const existing = made(SERVED, statusOf([IS_READY], INGRESS));
    const edited = { ...existing, spec: { ...existing.spec, trafficPolicy: 'Local' as const } };
    expect(kinds(run({ service: SERVED, cloudLoadBalancer: edited }).actions)).toContain('Apply');
    const added = { ...existing, spec: { ...existing.spec, healthCheck: { protocol: 'TCP' as const, intervalSeconds: 5 } } };
    expect(run({ service: SERVED, cloudLoadBalancer: added }).actions).toEqual([]);
  });

  test('C-SVC-11 a targetPort is the business of kube-proxy: nothing to apply', () => {
    const changed = service({
      metadata: SERVED.metadata as never,
      spec: { ports: [{ protocol: 'TCP', port: 80, nodePort: 30080, targetPort: 'dns' }] },
      status: SERVED.status,
    });
    expect(run({ service: changed, cloudLoadBalancer: made(SERVED, statusOf([IS_READY], INGRESS)) }).actions).toEqual([]);
  });
});

describe('what becomes of it', () => {
  test('Ready: the event, then ingress and condition in one patch', () => {
    const { actions } = run({
      service: HELD,
      cloudLoadBalancer: made(HELD, statusOf([IS_READY], [{ ip: '203.0.113.10' }])),
      memory: { serviceUID: 'service-1', pending: true },
    });
    expect(kinds(actions)).toEqual(['EnsuredLoadBalancer', 'PatchStatus']);
    expect(actions[1]).toMatchObject({
      patch: {
        status: { loadBalancer: { ingress: INGRESS }, conditions: [{ type: READY, status: 'True', reason: 'Ready', message: 'serving' }] },
      },
    });
  });

  test('not seen yet by its controller: nothing is said', () => {
    expect(run({ service: HELD, cloudLoadBalancer: made(HELD, { observedGeneration: -1 }) }).actions).toEqual([]);
    const older = made(SERVED, statusOf([IS_READY], INGRESS), { generation: 2 });
    expect(run({ service: SERVED, cloudLoadBalancer: older, memory: { serviceUID: 'service-1', pending: true } }).actions).toEqual([]);
  });

  test('work that goes on is not written to the Service', () => {
    const updating = [condition('Ready', 'True', 'Updating'), condition('Reconciling', 'True', 'Updating')];
    expect(run({ service: SERVED, cloudLoadBalancer: made(SERVED, statusOf(updating, INGRESS)) }).actions).toEqual([]);
  });

  test('a status that was written for another object is void', () => {
    const foreign = made(HELD, { ...statusOf([IS_READY], INGRESS), objectUID: 'another' });
    expect(run({ service: HELD, cloudLoadBalancer: foreign }).actions).toEqual([]);
  });

  test('a wiped status is restored at once, even while an update fails', () => {
    const failing = [condition('Ready', 'False', 'CloudUnavailable', 'no answer'), condition('Reconciling', 'True', 'CloudUnavailable')];
    const wiped = service({ metadata: HELD.metadata as never, status: {} });
    const { actions } = run({
      service: wiped,
      cloudLoadBalancer: made(wiped, statusOf(failing, INGRESS)),
      memory: { serviceUID: 'service-1', published: INGRESS },
    });
    expect(actions.at(-1)).toMatchObject({ kind: 'PatchStatus', patch: { status: { loadBalancer: { ingress: INGRESS } } } });
  });

  test('the ingress stays while a later update fails, and the failure is told once', () => {
    const stalled = [condition('Ready', 'False', 'QuotaExceeded', 'no more'), condition('Stalled', 'True', 'QuotaExceeded', 'no more')];
    const failing = made(SERVED, statusOf(stalled, INGRESS));
    const first = run({ service: SERVED, cloudLoadBalancer: failing });
    expect(first.said).toEqual(['SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: no more']);
    const patch = first.actions.find((action) => action.kind === 'PatchStatus');
    expect(patch).toMatchObject({
      patch: {
        status: {
          conditions: [
            { type: READY, status: 'False' },
            { type: STALLED, status: 'True', reason: 'QuotaExceeded' },
          ],
        },
      },
    });
    expect(JSON.stringify(patch)).not.toContain('ingress');
    expect(run({ service: SERVED, cloudLoadBalancer: failing, memory: first.memory }).said).toEqual([]);
    const told = service({
      metadata: SERVED.metadata as never,
      status: {
        loadBalancer: { ingress: INGRESS },
        conditions: [
          { type: READY, status: 'False', reason: 'QuotaExceeded', message: 'no more' },
          { type: STALLED, status: 'True', reason: 'QuotaExceeded', message: 'no more' },
        ],
      },
    });
    expect(run({ service: told, cloudLoadBalancer: failing }).actions).toEqual([]);
  });

  test('R-22: a change that waits for approval is told once as a failure, while the load balancer before it serves; approved, it is ensured', () => {
    const why = 'Plan 1a2b waits for approval: the change of the type replaces the load balancer';
    const waiting = [condition('Ready', 'True', 'AwaitingApproval', why), condition('Reconciling', 'True', 'AwaitingApproval', why)];
    const first = run({ service: SERVED, cloudLoadBalancer: made(SERVED, statusOf(waiting, INGRESS)) });
    expect(first.said).toEqual([`SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: ${why}`]);
    const again = run({ service: SERVED, cloudLoadBalancer: made(SERVED, statusOf(waiting, INGRESS)), memory: first.memory });
    expect(again.said).toEqual([]);
    const conditions = [{ type: READY, status: 'True' as const, reason: 'AwaitingApproval', message: why }];
    const told = service({ metadata: SERVED.metadata as never, status: { loadBalancer: { ingress: INGRESS }, conditions } });
    expect(run({ service: told, cloudLoadBalancer: made(told, statusOf(waiting, INGRESS)) }).said).toEqual([]);
    const done = run({
      service: told,
      cloudLoadBalancer: made(told, statusOf([condition('Ready', 'True', 'Ready', 'serves')], INGRESS)),
      memory: { ...again.memory, pending: true },
    });
    expect(done.said).toEqual(['EnsuredLoadBalancer: Ensured load balancer']);
    expect(done.memory).not.toHaveProperty('failure');
  });

  test.each(['StateStoreUnavailable', 'StateKeyUnavailable'])('%s of a new one is told by an Event, though it is tried again', (reason) => {
    const failing = [condition('Ready', 'False', reason, 'no answer'), condition('Reconciling', 'True', reason, 'no answer')];
    expect(run({ service: HELD, cloudLoadBalancer: made(HELD, statusOf(failing)) }).said).toEqual([
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: no answer',
    ]);
  });

  test('another time of the next try is no news, and not written to the Service', () => {
    const failing = (at: string): StoredCloudLoadBalancer => {
      const message = `no more. Next try at ${at}.`;
      return made(
        SERVED,
        statusOf([condition('Ready', 'False', 'Quota', message), condition('Stalled', 'True', 'Quota', message)], INGRESS),
      );
    };
    const first = run({ service: SERVED, cloudLoadBalancer: failing('2026-01-01T00:00:01Z') });
    expect(first.said).toEqual(['SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: no more.']);
    const conditions = [
      { type: READY, status: 'False' as const, reason: 'Quota', message: 'no more.' },
      { type: STALLED, status: 'True' as const, reason: 'Quota', message: 'no more.' },
    ];
    const told = service({ metadata: SERVED.metadata as never, status: { loadBalancer: { ingress: INGRESS }, conditions } });
    const second = failing('2026-01-01T00:00:03Z');
    expect(run({ service: told, cloudLoadBalancer: second, memory: first.memory }).actions).toEqual([]);
    expect(run({ service: told, cloudLoadBalancer: second }).actions).toEqual([]);
  });

  test('Stalled goes when nobody is needed any more', () => {
    const conditions = [{ type: STALLED, status: 'True' as const, reason: 'Quota', message: 'no more' }];
    const helped = service({ metadata: SERVED.metadata as never, status: { loadBalancer: { ingress: INGRESS }, conditions } });
    const patch = run({ service: helped, cloudLoadBalancer: made(helped, statusOf([IS_READY], INGRESS)) }).actions.at(-1);
    expect(patch).toMatchObject({
      patch: {
        status: {
          conditions: [
            { type: READY, status: 'True' },
            { $patch: 'delete', type: STALLED },
          ],
        },
      },
    });
  });

  test('what the CloudLoadBalancer warns of stands on the Service', () => {
    const warned = made(SERVED, statusOf([IS_READY, condition('Warning', 'True', 'NotSupported', 'no affinity')], INGRESS));
    const patch = run({ service: SERVED, cloudLoadBalancer: warned }).actions.find((action) => action.kind === 'PatchStatus');
    expect(patch).toMatchObject({
      patch: { status: { conditions: [{ type: 'cloud-operator.dev/Warning', reason: 'NotSupported', message: 'no affinity' }] } },
    });
  });

  test('a first address is not published before it is Ready', () => {
    const notYet = made(HELD, statusOf([condition('Ready', 'False', 'MembersFailed', 'no targets')], INGRESS));
    expect(JSON.stringify(run({ service: HELD, cloudLoadBalancer: notYet }).actions)).not.toContain('203.0.113.10');
  });

  test('C-SVC-34 the last Node goes: said once', () => {
    const existing = made(SERVED, statusOf([IS_READY], INGRESS));
    const before = run({ service: SERVED, cloudLoadBalancer: existing });
    const after = run({ service: SERVED, cloudLoadBalancer: existing, memory: before.memory, hasNodes: false });
    expect(after.said).toEqual(['UnAvailableLoadBalancer: There are no available nodes for LoadBalancer']);
    expect(run({ service: SERVED, cloudLoadBalancer: existing, memory: after.memory, hasNodes: false }).said).toEqual([]);
  });

  test('the CloudLoadBalancer is deleted by hand: it is made anew, and the dead address goes', () => {
    const { actions } = run({ service: SERVED, cloudLoadBalancer: undefined });
    expect(kinds(actions)).toEqual(['EnsuringLoadBalancer', 'PatchStatus', 'Apply']);
    expect(actions[1]).toMatchObject({ patch: { status: { loadBalancer: { ingress: null } } } });
  });

  const NOT_READY = [{ type: READY, status: 'False' as const, reason: 'QuotaExceeded', message: 'no more', lastTransitionTime: NOW }];
  const ingressWrittenBy = (manager: string): object => ({
    ...{ manager, operation: 'Update', subresource: 'status' },
    fieldsV1: { 'f:status': { 'f:conditions': {}, 'f:loadBalancer': { 'f:ingress': {} } } },
  });

  test.each<[string, string, string[]]>([
    ['ours: it goes (R-04)', 'cloud-operator-service', ['EnsuringLoadBalancer', 'PatchStatus', 'Apply']],
    ['another controller’s: it stays, for it still serves', 'cloud-controller-manager', ['EnsuringLoadBalancer', 'Apply']],
  ])(
    'after a restart, with a Ready that is not True and no CloudLoadBalancer any more, an address that is %s',
    (_whose, manager, wanted) => {
      const status = { loadBalancer: { ingress: INGRESS }, conditions: NOT_READY };
      const stale = service({ metadata: { finalizers: [FINALIZER], managedFields: [ingressWrittenBy(manager)] }, status });
      const { actions } = run({ service: stale });
      expect(kinds(actions)).toEqual(wanted);
      if (wanted.includes('PatchStatus')) expect(actions[1]).toMatchObject({ patch: { status: { loadBalancer: { ingress: null } } } });
    },
  );

  test('R-10 a restored Service whose condition came along: the address of the other cluster goes when it has its own', () => {
    const status = { loadBalancer: { ingress: INGRESS }, conditions: NOT_READY };
    const restored = service({ metadata: { finalizers: [FINALIZER], managedFields: [ingressWrittenBy('velero')] }, status });
    expect(kinds(run({ service: restored }).actions)).toEqual(['EnsuringLoadBalancer', 'Apply']);
    const own = made(restored, statusOf([IS_READY], [{ ip: '203.0.113.99' }]));
    expect(run({ service: restored, cloudLoadBalancer: own }).actions.at(-1)).toMatchObject({
      patch: { status: { loadBalancer: { ingress: [{ ip: '203.0.113.99', ipMode: 'VIP' }] } } },
    });
  });

  test('R-10 a restored Service: its own CloudLoadBalancer, whatever its status says', () => {
    const restored = service({ metadata: { finalizers: [FINALIZER] }, status: { loadBalancer: { ingress: INGRESS } } });
    expect(kinds(run({ service: restored }).actions)).toEqual(['EnsuringLoadBalancer', 'Apply']);
    const own = made(restored, statusOf([IS_READY], [{ ip: '203.0.113.99' }]));
    expect(run({ service: restored, cloudLoadBalancer: own }).actions.at(-1)).toMatchObject({
      patch: { status: { loadBalancer: { ingress: [{ ip: '203.0.113.99', ipMode: 'VIP' }] } } },
    });
  });
});

/** Another controller serves it, under upstream's finalizer, and it is being deleted. */
const FOREIGN = foreign('example.com/other');

function foreign(loadBalancerClass: string | undefined, status: Service['status'] = { loadBalancer: { ingress: INGRESS } }): Service {
  return service({ metadata: { finalizers: [FINALIZER], deletionTimestamp: NOW }, spec: { loadBalancerClass }, status });
}

describe('what is not ours', () => {
  test.each<[string, Partial<Gathered>]>([
    ['C-SVC-01 ClusterIP without finalizer', { service: service({ spec: { type: 'ClusterIP' } }), claim: { kind: 'Foreign' } }],
    ['C-SVC-03 a foreign class', { claim: { kind: 'Foreign' } }],
    ['R-06 a foreign class being deleted', { service: service({ metadata: { deletionTimestamp: NOW } }), claim: { kind: 'Foreign' } }],
    ['R-06 a foreign class being deleted, with the finalizer of its own controller', { service: FOREIGN, claim: { kind: 'Foreign' } }],
    [
      'being deleted with somebody else’s finalizer only',
      { service: service({ metadata: { deletionTimestamp: NOW, finalizers: ['other'] } }) },
    ],
  ])('%s: nothing at all', (_name, changes) => {
    expect(run(changes).actions).toEqual([]);
  });

  test('once what was to be left to another one is gone here, nobody is asked to delete it any more', () => {
    const conditions = [
      { type: 'cloud-operator.dev/Ready', status: 'False', reason: 'LeftToOther', message: '', lastTransitionTime: NOW },
      { type: STALLED, status: 'True', reason: 'LeftToOther', message: '', lastTransitionTime: NOW },
    ];
    const left = service({ spec: { loadBalancerClass: 'example.com/other' }, status: { conditions } });
    expect(run({ service: left, claim: { kind: 'Foreign' } }).actions).toEqual([
      { kind: 'PatchStatus', patch: { status: { conditions: [{ $patch: 'delete', type: STALLED }] } } },
    ]);
  });

  test.each<[string, Partial<Gathered>]>([
    ['its condition is ours', { service: foreign('example.com/other', SERVED.status) }],
    ['it was being deleted before its class was given up', { memory: { serviceUID: 'service-1', deleting: true } }],
    ['its load balancer was asked for before', { memory: { serviceUID: 'service-1', ensuring: 'hash' } }],
  ])('of a class that nobody here claims any more, but ours before: let go of, since %s', (_name, changes) => {
    expect(kinds(run({ service: FOREIGN, claim: { kind: 'Foreign' }, ...changes }).actions)).toEqual(['Release']);
  });

  test('what its annotations alone leave to another controller is let go of, as upstream does', () => {
    expect(kinds(run({ service: foreign(undefined), claim: { kind: 'Foreign' } }).actions)).toEqual(['Release']);
  });

  test('NameTaken: a CloudLoadBalancer of somebody else is never taken over', () => {
    const other = cloudLoadBalancer({ metadata: { uid: 'other' }, spec: { provider: 'cloud-b' } });
    const { actions, said } = run({ cloudLoadBalancer: other });
    expect(kinds(actions)).toEqual(['SyncLoadBalancerFailed', 'PatchStatus']);
    expect(said[0]).toContain('CloudLoadBalancer demo/web was not made for this Service and is not taken over');
    expect(actions[1]).toMatchObject({ patch: { status: { conditions: [{ type: READY, reason: 'NameTaken' }, { type: STALLED }] } } });
  });

  test('NameTaken by one that is being deleted: waited for without an alarm', () => {
    const leaving = cloudLoadBalancer({ metadata: { uid: 'other', deletionTimestamp: NOW }, spec: { provider: 'cloud-b' } });
    expect(kinds(run({ cloudLoadBalancer: leaving }).actions)).toEqual(['PatchStatus']);
  });

  test('the deletion of a Service leaves somebody else’s CloudLoadBalancer alone', () => {
    const deleting = service({ metadata: { finalizers: [FINALIZER], deletionTimestamp: NOW } });
    expect(kinds(run({ service: deleting, cloudLoadBalancer: cloudLoadBalancer({ metadata: { uid: 'other' } }) }).actions)).toEqual([
      'Release',
    ]);
  });
});

describe('bad input', () => {
  const problem = { reason: 'InvalidAnnotation', message: 'annotation x: "y": write a number' };

  test('the last good CloudLoadBalancer keeps serving, untouched', () => {
    const { actions, said } = run({
      service: SERVED,
      cloudLoadBalancer: made(SERVED, statusOf([IS_READY], INGRESS)),
      claim: { kind: 'Held', problem, retry: false },
    });
    expect(kinds(actions)).toEqual(['SyncLoadBalancerFailed', 'PatchStatus']);
    expect(said).toEqual(['SyncLoadBalancerFailed: Error syncing load balancer: annotation x: "y": write a number']);
    expect(actions[1]).toMatchObject({
      patch: {
        status: {
          conditions: [
            { type: READY, status: 'False', ...problem },
            { type: STALLED, status: 'True', ...problem },
          ],
        },
      },
    });
    expect(JSON.stringify(actions[1])).not.toContain('ingress');
  });

  test('of one that is left to another controller the address is not ours to say any more', () => {
    const others = service({
      metadata: HELD.metadata as never,
      status: { ...SERVED.status, loadBalancer: { ingress: [{ ip: '198.51.100.1' }] } },
    });
    const claim: Claim = { kind: 'Held', problem, retry: false, left: true };
    const { actions } = run({ service: others, cloudLoadBalancer: made(SERVED, statusOf([IS_READY], INGRESS)), claim });
    expect(kinds(actions)).toEqual(['SyncLoadBalancerFailed', 'PatchStatus']);
    expect(JSON.stringify(actions[1])).not.toContain('ingress');
  });

  test('what may change without an event is tried again', () => {
    expect(kinds(run({ claim: { kind: 'Held', problem, retry: true } }).actions)).toEqual([
      'SyncLoadBalancerFailed',
      'PatchStatus',
      'Retry',
    ]);
  });

  test('what passes by itself asks nobody for help', () => {
    const { actions } = run({ claim: { kind: 'Held', problem, retry: true, passes: true } });
    expect(actions[1]).toMatchObject({ patch: { status: { conditions: [{ type: READY, status: 'False', ...problem }] } } });
    expect(JSON.stringify(actions[1])).not.toContain(STALLED);
  });

  test('an unknown annotation is a warning condition and an Event, and the rest is done', () => {
    const claim = claimFor(HELD, [{ reason: 'UnknownAnnotation', message: 'annotation local.dev/x: "1": is not known' }]);
    const { actions } = run({ service: HELD, claim });
    expect(kinds(actions)).toEqual(['EnsuringLoadBalancer', 'UnknownAnnotation', 'PatchStatus', 'Apply']);
    expect(actions[2]).toMatchObject({
      patch: { status: { conditions: [{ type: 'cloud-operator.dev/Warning', reason: 'UnknownAnnotation' }] } },
    });
  });
});

describe('delete (contract 2.7)', () => {
  const deleting = service({
    metadata: { finalizers: [FINALIZER], deletionTimestamp: NOW },
    status: { loadBalancer: { ingress: [{ ip: '8.8.8.8' }] } },
  });

  test('C-SVC-04 first the CloudLoadBalancer, by its UID; the finalizer stays until it is gone', () => {
    const existing = made(deleting, statusOf([IS_READY], INGRESS));
    const first = run({ service: deleting, cloudLoadBalancer: existing });
    expect(kinds(first.actions)).toEqual(['DeletingLoadBalancer', 'Delete']);
    expect(first.actions[1]).toEqual({ kind: 'Delete', uid: 'clb-1' });
    const waiting = made(deleting, statusOf([IS_READY], INGRESS), { deletionTimestamp: NOW });
    expect(run({ service: deleting, cloudLoadBalancer: waiting, memory: first.memory }).actions).toEqual([]);
    expect(kinds(run({ service: deleting, memory: first.memory }).actions)).toEqual(['Release']);
  });

  test('what failed before the deletion is no failure of the deletion', () => {
    const invalid = [condition('Ready', 'False', 'Invalid', 'no SCTP'), condition('Stalled', 'True', 'Invalid', 'no SCTP')];
    const before = made(deleting, statusOf(invalid, INGRESS), { deletionTimestamp: NOW, generation: 2 });
    expect(run({ service: deleting, cloudLoadBalancer: before }).actions).toEqual([]);
  });

  test('a delete that fails is told', () => {
    const failing = made(deleting, statusOf([condition('Ready', 'False', 'CloudUnavailable', 'in use')], INGRESS), {
      deletionTimestamp: NOW,
    });
    expect(run({ service: deleting, cloudLoadBalancer: failing }).said).toEqual([
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to delete load balancer: in use',
    ]);
  });

  test('C-SVC-07 another type: the same path', () => {
    const flipped = service({ metadata: { finalizers: [FINALIZER] }, spec: { type: 'ClusterIP' } });
    expect(kinds(run({ service: flipped, claim: { kind: 'Foreign' }, cloudLoadBalancer: made(flipped) }).actions)).toEqual([
      'DeletingLoadBalancer',
      'Delete',
    ]);
  });

  test('another type of one that was only ever held, and so has no finalizer: what we have said of it goes, and nothing else', () => {
    const said = [READY, STALLED].map((type) => ({ type, status: 'False' as const, reason: 'NoDefaultProvider', message: 'none' }));
    const conditions = [...said, { ...said[0]!, type: 'example.com/other' }];
    const flipped = service({ spec: { type: 'ClusterIP' }, status: { conditions } });
    const patch = { status: { conditions: [READY, STALLED].map((type) => ({ $patch: 'delete', type })) } };
    expect(run({ service: flipped, claim: { kind: 'Foreign' } }).actions).toEqual([{ kind: 'PatchStatus', patch }]);
    expect(run({ observed: true, service: flipped, claim: { kind: 'Foreign' } }).actions).toEqual([]);
  });

  test('R-04 back to LoadBalancer while it is being deleted: waited for, then made anew, in the order of events', () => {
    const leaving = made(HELD, statusOf([IS_READY], INGRESS), { deletionTimestamp: NOW });
    const memory: Memory = { serviceUID: 'service-1', deleting: true, published: INGRESS };
    const waiting = run({ service: HELD, cloudLoadBalancer: leaving, memory });
    expect(waiting.actions).toEqual([]);
    const stale = service({ metadata: HELD.metadata as never, status: { loadBalancer: { ingress: INGRESS } } });
    const after = run({ service: stale, memory: waiting.memory });
    expect(kinds(after.actions)).toEqual(['DeletedLoadBalancer', 'EnsuringLoadBalancer', 'PatchStatus', 'Apply']);
    expect(after.actions[2]).toMatchObject({ patch: { status: { loadBalancer: { ingress: null } } } });
  });

  test('C-SVC-09 made anew under the same name: the old one’s CloudLoadBalancer is not this one’s', () => {
    const anew = service({ metadata: { uid: 'service-2' } });
    const { actions } = run({ service: anew, cloudLoadBalancer: made(SERVED, statusOf([IS_READY], INGRESS), { deletionTimestamp: NOW }) });
    expect(kinds(actions)).toEqual(['PatchStatus']);
    expect(JSON.stringify(actions)).toContain('NameTaken');
  });

  test('R-42 orphan: without the owner reference it is still ours to delete', () => {
    const orphaned = made(deleting, statusOf([IS_READY], INGRESS), { ownerReferences: [] });
    expect(kinds(run({ service: deleting, cloudLoadBalancer: orphaned }).actions)).toEqual(['DeletingLoadBalancer', 'Delete']);
  });

  test('a finalizer that was stripped by hand: the CloudLoadBalancer goes all the same', () => {
    const stripped = service({ spec: { type: 'ClusterIP' } });
    expect(kinds(run({ service: stripped, claim: { kind: 'Foreign' }, cloudLoadBalancer: made(stripped) }).actions)).toEqual([
      'DeletingLoadBalancer',
      'Delete',
    ]);
  });
});

test('of a Service whose CloudProvider is only observed, nothing is written to the Service itself: another controller looks after it', () => {
  const first = run({ observed: true });
  expect(kinds(first.actions)).toEqual(['Apply']);
  expect(first.memory).toEqual({ serviceUID: 'service-1' });
  const failing = statusOf([{ ...IS_READY, status: 'False', reason: 'Invalid', message: 'no' }]);
  expect(run({ observed: true, service: HELD, cloudLoadBalancer: made(HELD, failing) }).actions).toEqual([]);
  const deleting = service({ metadata: { finalizers: [FINALIZER], deletionTimestamp: NOW } });
  expect(run({ observed: true, service: deleting }).actions).toEqual([]);
  expect(kinds(run({ observed: true, service: deleting, cloudLoadBalancer: made(deleting) }).actions)).toEqual(['Delete']);
});
