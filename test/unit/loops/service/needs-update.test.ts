import fc from 'fast-check';
import type { Service } from '../../../../operator/kube/object';
import { isAskedFor, needsUpdate } from '../../../../operator/loops/service/needs-update';
import { NOW, service } from '../objects';

const PORT = { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053, targetPort: 53 } as const;
type Changes = NonNullable<Parameters<typeof service>[0]>;
type Case = [name: string, before: Changes, after: Changes, wanted: boolean];

const spec = (name: string, before: Required<Changes>['spec'], after: Required<Changes>['spec'], wanted: boolean): Case => [
  name,
  { spec: before },
  { spec: after },
  wanted,
];

describe('needsUpdate (contract 2.3)', () => {
  test.each<Case>([
    spec('neither is a load balancer', { type: 'ClusterIP', ports: [] }, { type: 'NodePort' }, false),
    spec('C-SVC-07 another type', {}, { type: 'ClusterIP' }, true),
    spec('C-SVC-08 one external IP more', { externalIPs: ['1.1.1.1'] }, { externalIPs: ['1.1.1.1', '1.1.1.2'] }, true),
    spec('external IPs: none and an empty list', {}, { externalIPs: [] }, false),
    ['C-SVC-09 another UID', {}, { metadata: { uid: 'other' } }, true],
    spec('C-SVC-10 health check port', { healthCheckNodePort: 0 }, { healthCheckNodePort: 30123 }, true),
    spec('C-SVC-11 target port by name', { ports: [PORT] }, { ports: [{ ...PORT, targetPort: 'dns' }] }, true),
    spec('C-SVC-12 one family more', { ipFamilies: ['IPv4'] }, { ipFamilies: ['IPv4', 'IPv6'] }, true),
    spec('C-SVC-13 the same families', { ipFamilies: ['IPv4'] }, { ipFamilies: ['IPv4'] }, false),
    spec('as many families', { ipFamilies: ['IPv4'] }, { ipFamilies: ['IPv6'] }, false),
    spec('C-SVC-14 appProtocol', { ports: [{ ...PORT, appProtocol: 'http' }] }, { ports: [{ ...PORT, appProtocol: 'tcp' }] }, true),
    spec(
      'ports in another order',
      { ports: [PORT, { ...PORT, name: 'b', port: 54 }] },
      { ports: [{ ...PORT, name: 'b', port: 54 }, PORT] },
      true,
    ),
    spec('an unset and a zero nodePort', { ports: [{ port: 80 }] }, { ports: [{ port: 80, nodePort: 0, name: '' }] }, false),
    spec('source ranges: none and an empty list', {}, { loadBalancerSourceRanges: [] }, true),
    spec(
      'source ranges in another order',
      { loadBalancerSourceRanges: ['10.0.0.0/8', '11.0.0.0/8'] },
      { loadBalancerSourceRanges: ['11.0.0.0/8', '10.0.0.0/8'] },
      true,
    ),
    spec('affinity', { sessionAffinity: 'None' }, { sessionAffinity: 'ClientIP' }, true),
    spec(
      'affinity’s time',
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } },
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 2 } } },
      true,
    ),
    spec('address', {}, { loadBalancerIP: '1.2.3.4' }, true),
    spec('traffic policy', { externalTrafficPolicy: 'Cluster' }, { externalTrafficPolicy: 'Local' }, true),
    ['an annotation of anybody', {}, { metadata: { annotations: { x: '1' } } }, true],
    ['labels', {}, { metadata: { labels: { x: '1' } } }, false],
    ['deletion: that is the cleanup’s', {}, { metadata: { deletionTimestamp: NOW } }, false],
    ['status', {}, { status: { loadBalancer: { ingress: [{ ip: '8.8.8.8' }] } } }, false],
    spec(
      'what is not looked at',
      {},
      { clusterIP: '10.0.0.1', ipFamilyPolicy: 'PreferDualStack', allocateLoadBalancerNodePorts: false },
      false,
    ),
  ])('%s', (_name, before, after, wanted) => {
    expect(needsUpdate(service(before), service(after))).toBe(wanted);
    expect(needsUpdate(service(after), service(before))).toBe(wanted);
  });

  const text = fc.option(fc.constantFrom('', 'a', 'b'), { nil: undefined });
  const number = fc.option(fc.constantFrom(0, 1, 30080), { nil: undefined });
  const strings = fc.option(fc.array(fc.constantFrom('10.0.0.0/8', '192.0.2.1'), { maxLength: 2 }), { nil: undefined });
  const port = fc.record({
    name: text,
    protocol: fc.constantFrom('TCP', 'UDP'),
    port: fc.constantFrom(80, 90),
    nodePort: number,
    targetPort: fc.oneof(number, text),
    appProtocol: text,
  });
  const services = fc
    .record({
      type: fc.constantFrom('LoadBalancer', 'ClusterIP'),
      ports: fc.array(port, { maxLength: 2 }),
      externalIPs: strings,
      loadBalancerSourceRanges: strings,
      loadBalancerIP: text,
      healthCheckNodePort: number,
      ipFamilies: fc.option(fc.array(fc.constantFrom('IPv4', 'IPv6'), { maxLength: 2 }), { nil: undefined }),
    })
    .map((fields) => service({ spec: fields as Partial<Service['spec']> }));

  test('nothing changed is never an update, and the order of the two doesn’t matter', () => {
    fc.assert(
      fc.property(services, services, (a, b) => {
        expect(needsUpdate(a, JSON.parse(JSON.stringify(a)) as Service)).toBe(false);
        expect(needsUpdate(a, b)).toBe(needsUpdate(b, a));
      }),
    );
  });

  test('no chain of changes that need no update ends in one that does', () => {
    fc.assert(
      fc.property(
        services,
        services,
        services,
        (a, b, c) =>
          needsUpdate(a, b) || needsUpdate(b, c) || !needsUpdate(a, c) || a.spec.type !== b.spec.type || b.spec.type === 'ClusterIP',
      ),
    );
  });

  test('metadata and status that are not looked at never matter', () => {
    fc.assert(
      fc.property(services, fc.dictionary(fc.string(), fc.string()), (a, labels) => {
        const metadata = { ...a.metadata, labels, resourceVersion: '99', generation: 7 };
        expect(needsUpdate(a, { ...a, metadata, status: { loadBalancer: {} } })).toBe(false);
      }),
    );
  });
});

test('asked for is also what begins, ends or needs cleanup; not what controllers write', () => {
  const of = service();
  const finalizers = ['service.kubernetes.io/load-balancer-cleanup'];
  expect(isAskedFor(undefined, of)).toBe(true);
  expect(isAskedFor(of, undefined)).toBe(true);
  expect(isAskedFor(of, service({ metadata: { deletionTimestamp: NOW } }))).toBe(true);
  expect(isAskedFor(of, service({ metadata: { finalizers } }))).toBe(false);
  expect(isAskedFor(of, service({ status: { loadBalancer: { ingress: [{ ip: '8.8.8.8' }] } } }))).toBe(false);
});
