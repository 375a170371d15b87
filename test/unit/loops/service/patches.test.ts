import type { ServiceIngress } from '../../../../operator/kube/object';
import { addFinalizerPatch, releasePatch, sameIngress, statusPatch } from '../../../../operator/loops/service/patches';
import { NOW, service } from '../objects';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const READY = 'cloud-operator.dev/Ready';

describe('finalizer', () => {
  test('C-SVC-52 the body that client-go makes', () => {
    expect(addFinalizerPatch(service({ metadata: { finalizers: ['foo'] } }))).toEqual({
      metadata: { '$setElementOrder/finalizers': ['foo', FINALIZER], finalizers: [FINALIZER] },
    });
  });

  test('the first one', () => {
    expect(addFinalizerPatch(service())).toEqual({ metadata: { finalizers: [FINALIZER] } });
  });

  test('C-SVC-15 there already: no patch', () => {
    expect(addFinalizerPatch(service({ metadata: { finalizers: [FINALIZER] } }))).toBeUndefined();
  });

  test('C-SVC-16 not there: no patch to remove it', () => {
    expect(releasePatch(service({ metadata: { finalizers: ['foo'] } }))).toBeUndefined();
  });

  test('removal names the UID and takes nobody else’s', () => {
    expect(releasePatch(service({ metadata: { finalizers: ['foo', FINALIZER] } }))).toEqual({
      metadata: { uid: 'service-1', '$deleteFromPrimitiveList/finalizers': [FINALIZER] },
    });
  });

  test('removal empties the status', () => {
    const before = service({
      metadata: { finalizers: [FINALIZER] },
      status: {
        loadBalancer: { ingress: [{ ip: '8.8.8.8' }] },
        conditions: [
          { type: READY, status: 'True' },
          { type: 'Other', status: 'True' },
        ],
      },
    });
    expect(releasePatch(before)).toMatchObject({
      status: { loadBalancer: { ingress: null }, conditions: [{ $patch: 'delete', type: READY }] },
    });
  });
});

describe('status', () => {
  const showing = (...ingress: ServiceIngress[]): ReturnType<typeof service> => service({ status: { loadBalancer: { ingress } } });

  test('C-SVC-17 the same address: no patch', () => {
    expect(statusPatch(showing({ ip: '8.8.8.8', ipMode: 'VIP' }), { ingress: [{ ip: '8.8.8.8' }] }, NOW)).toBeUndefined();
  });

  test('C-SVC-18 empty to empty: no patch', () => {
    expect(statusPatch(service(), { ingress: [] }, NOW)).toBeUndefined();
    expect(statusPatch(showing(), { ingress: [] }, NOW)).toBeUndefined();
  });

  test.each<[string, ServiceIngress, ServiceIngress, boolean]>([
    ['C-SVC-19 ipMode VIP and unset', { ip: '1.1.1.1', ipMode: 'VIP' }, { ip: '1.1.1.1' }, false],
    [
      'C-SVC-20 equal ports',
      { ip: '1.1.1.1', ports: [{ port: 80, protocol: 'TCP' }] },
      { ip: '1.1.1.1', ports: [{ port: 80, protocol: 'TCP' }] },
      true,
    ],
    ['C-SVC-21 ports and an empty list', { ip: '1.1.1.1', ports: [{ port: 80, protocol: 'TCP' }] }, { ip: '1.1.1.1', ports: [] }, false],
  ])('%s: equal = %s', (_name, a, b, equal) => {
    expect(sameIngress([a], [b])).toBe(equal);
  });

  test('ipMode is written for addresses, never for host names', () => {
    expect(
      statusPatch(service(), { ingress: [{ ip: '8.8.8.8' }, { hostname: 'lb.example' }, { ip: '8.8.4.4', ipMode: 'Proxy' }] }, NOW),
    ).toEqual({
      status: {
        loadBalancer: { ingress: [{ ip: '8.8.8.8', ipMode: 'VIP' }, { hostname: 'lb.example' }, { ip: '8.8.4.4', ipMode: 'Proxy' }] },
      },
    });
  });

  test('the condition comes in the same patch, and its time moves with its status only', () => {
    const ready = { status: 'True', reason: 'Ready', message: 'fine' } as const;
    expect(statusPatch(service(), { ingress: [{ ip: '8.8.8.8' }], ready }, NOW)).toEqual({
      status: {
        loadBalancer: { ingress: [{ ip: '8.8.8.8', ipMode: 'VIP' }] },
        conditions: [{ type: READY, ...ready, lastTransitionTime: NOW }],
      },
    });
    const earlier = service({
      status: { conditions: [{ type: READY, status: 'True', reason: 'Ready', message: 'old', lastTransitionTime: 'before' }] },
    });
    expect(statusPatch(earlier, { ready }, NOW)).toEqual({
      status: { conditions: [{ type: READY, ...ready, lastTransitionTime: 'before' }] },
    });
    expect(statusPatch(earlier, { ready: { ...ready, message: 'old' } }, NOW)).toBeUndefined();
  });

  test('a warning that is over is removed', () => {
    const warned = service({ status: { conditions: [{ type: 'cloud-operator.dev/Warning', status: 'True' }] } });
    expect(statusPatch(warned, { warning: null }, NOW)).toEqual({
      status: { conditions: [{ $patch: 'delete', type: 'cloud-operator.dev/Warning' }] },
    });
    expect(statusPatch(service(), { warning: null }, NOW)).toBeUndefined();
  });
});
