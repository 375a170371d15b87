import type { Service } from '../../../../operator/kube/object';
import type { Clouds, ServiceChoice } from '../../../../operator/loops/clouds';
import { evaluateDeparted } from '../../../../operator/loops/service/departed';
import { isObserved } from '../../../../operator/loops/service/observed';
import { cloudLoadBalancer, service } from '../objects';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const NEW = service();
const HELD = service({ metadata: { finalizers: [FINALIZER] } });
const SERVED = service({ status: { loadBalancer: { ingress: [{ hostname: 'a.elb.example' }] } } });
const OURS = service({
  metadata: { finalizers: [FINALIZER] },
  status: {
    loadBalancer: { ingress: [{ hostname: 'a.elb.example' }] },
    conditions: [{ type: 'cloud-operator.dev/Ready', status: 'False', reason: 'NoDefaultProvider', message: 'none' }],
  },
});

const chosen = (provider: string): ServiceChoice => ({ kind: 'Chosen', provider });
const NONE: ServiceChoice = { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'none' };

interface Scene {
  choice: ServiceChoice;
  /** CloudProviders by name, and whether each is only observed. */
  known: Record<string, boolean>;
}

function clouds({ choice, known }: Scene): Pick<Clouds, 'forService' | 'observes' | 'providers'> {
  return { forService: () => choice, observes: (provider) => known[provider] === true, providers: () => Object.keys(known) };
}

test.each<[string, Service, Scene, boolean]>([
  ['the one that would take it is observed', NEW, { choice: chosen('a'), known: { a: true, b: false } }, true],
  ['the one that would take it is not', NEW, { choice: chosen('b'), known: { a: true, b: false } }, false],
  ['a class of somebody else’s', HELD, { choice: { kind: 'Foreign' }, known: { a: true } }, false],
  ['no default, and all are observed', NEW, { choice: NONE, known: { a: true, b: true } }, true],
  ['no default, and one is not observed: it is told', HELD, { choice: NONE, known: { a: true, b: false } }, false],
  ['no CloudProvider, and nobody has ever served it: it is told', NEW, { choice: NONE, known: {} }, false],
  ['no CloudProvider, and it has an address', SERVED, { choice: NONE, known: {} }, true],
  ['no CloudProvider, and it has the finalizer', HELD, { choice: NONE, known: {} }, true],
  ['no CloudProvider, and it is ours by what we said: it is told, and let go', OURS, { choice: NONE, known: {} }, false],
])('%s', (_name, of, scene, expected) => {
  expect(isObserved(of, undefined, clouds(scene))).toBe(expected);
});

test('whoever has it decides, whatever the choice is by now', () => {
  const owned = cloudLoadBalancer({ spec: { provider: 'a' } });
  expect(isObserved(NEW, owned, clouds({ choice: chosen('b'), known: { a: true, b: false } }))).toBe(true);
  expect(isObserved(NEW, owned, clouds({ choice: NONE, known: { a: false, b: true } }))).toBe(false);
});

test('of a Service that is gone, and was only observed, nothing is said: its CloudLoadBalancer goes', () => {
  const owned = cloudLoadBalancer({
    metadata: { annotations: { 'cloud-operator.dev/service-uid': 'service-1' }, ownerReferences: [{ kind: 'Service', uid: 'service-1' }] },
  });
  const last = { service: HELD, memory: { serviceUID: 'service-1' } };
  const kinds = (observed: boolean): string[] => evaluateDeparted(last, owned, observed).actions.map(({ kind }) => kind);
  expect(kinds(false)).toEqual(['Event', 'Delete']);
  expect(kinds(true)).toEqual(['Delete']);
});
