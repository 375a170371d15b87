import type { Condition } from '../../../crds';
import type { Finding } from '../../../operator/explain/finding';
import type { ServiceFacts } from '../../../operator/explain/service';
import type { EndpointSlice, StoredInstance, StoredLoadBalancer, StoredProvider, StoredRoute } from '../../../operator/explain/kinds';
import type { Node } from '../../../operator/kube/object';

/** What an explanation is about, with a part of it replaced. */
type Part<T> = {
  [K in keyof T]?:
    (NonNullable<T[K]> extends unknown[] ? object[] : NonNullable<T[K]> extends object ? Part<NonNullable<T[K]>> : T[K]) | undefined;
};

const AT = '2026-01-02T03:04:05Z';

export function condition(type: string, status: 'True' | 'False', reason: string, message = `${reason} it is`): Condition {
  return { type, status, reason, message, lastTransitionTime: AT };
}

const READY = [condition('Ready', 'True', 'Ready', 'as the spec asks')];

export const provider = (part: Part<StoredProvider> = {}): StoredProvider =>
  merged({ metadata: meta('local'), spec: { default: true, freeze: false }, status: { observedGeneration: 1, conditions: READY } }, part);

export const loadBalancer = (part: Part<StoredLoadBalancer> = {}): StoredLoadBalancer =>
  merged(
    {
      metadata: { ...meta('web', 'shop'), ownerReferences: [{ kind: 'Service', uid: 'web-uid' }] },
      spec: { provider: 'local', trafficPolicy: 'Cluster', listeners: [] },
      status: { observedGeneration: 1, conditions: READY, ingress: [{ ip: '203.0.113.7' }], ports: '80/TCP', stack: 'lb-shop-web' },
    },
    part,
  );

export const route = (part: Part<StoredRoute> = {}): StoredRoute =>
  merged(
    {
      metadata: meta('n1-10.244.1.0-24'),
      spec: { provider: 'local', nodeName: 'n1' },
      status: { observedGeneration: 1, conditions: READY },
    },
    part,
  );

export const instance = (part: Part<StoredInstance> = {}): StoredInstance =>
  merged({ metadata: meta('n1'), spec: { provider: 'local', nodeName: 'n1' }, status: { id: 'i-1', state: 'Running' } }, part);

export const node = (part: Part<Node> = {}): Node =>
  merged(
    {
      metadata: {
        ...meta('n1'),
        labels: {
          'node.kubernetes.io/instance-type': 'small',
          'topology.kubernetes.io/region': 'here',
          'topology.kubernetes.io/zone': 'here-a',
        },
      },
      spec: { providerID: 'local://i-1', podCIDR: '10.244.1.0/24' },
      status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }], conditions: [{ type: 'Ready', status: 'True' }] },
    },
    part,
  );

export const service = (part: Part<ServiceFacts['service']> = {}): ServiceFacts['service'] =>
  merged(
    {
      metadata: { ...meta('web', 'shop'), finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
      spec: { type: 'LoadBalancer' },
      status: {
        loadBalancer: { ingress: [{ ip: '203.0.113.7' }] },
        conditions: [condition('cloud-operator.dev/Ready', 'True', 'Ready')],
      },
    },
    part,
  );

export const slice = (...nodeNames: string[]): EndpointSlice =>
  ({
    metadata: meta('web-1', 'shop'),
    endpoints: nodeNames.map((nodeName) => ({ nodeName, conditions: { ready: true } })),
  }) as unknown as EndpointSlice;

function meta(name: string, namespace?: string): object {
  return {
    name,
    uid: `${name}-uid`,
    generation: 1,
    creationTimestamp: AT,
    resourceVersion: '1',
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** Objects are merged, lists replaced; `undefined` takes a field away. */
function merged<T>(base: object, part: object): T {
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = Object.entries(part).map(([key, value]): [string, unknown] => {
    const before = (base as Record<string, unknown>)[key];
    return [key, isObject(value) && isObject(before) ? merged(before, value) : value];
  });
  return Object.fromEntries(Object.entries({ ...base, ...Object.fromEntries(entries) }).filter(([, value]) => value !== undefined)) as T;
}

/** What is expected of one of the findings: its state, what it says, what to do. */
export type Expected = [Finding['state'], RegExp, RegExp?];

export function expectFinding(findings: Finding[], [state, says, next]: Expected): void {
  const found = findings.find((one) => says.test(one.says));
  expect(found ?? findings).toMatchObject({ state });
  if (next !== undefined) expect(found?.next).toMatch(next);
}
