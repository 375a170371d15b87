import { leftByAnnotation } from '../../../operator/explain/left-to';
import { explainService, type ServiceFacts } from '../../../operator/explain/service';
import { compile } from '../../../providers/aws/annotations/annotations';
import { condition, expectFinding, loadBalancer, provider, service, slice, type Expected } from './objects';

const WELL: ServiceFacts = { service: service(), loadBalancer: loadBalancer(), providers: [provider()], slices: [slice('n1', 'n2')] };
const held = (reason: string): ServiceFacts['service'] =>
  service({ status: { conditions: [condition('cloud-operator.dev/Ready', 'False', reason)], loadBalancer: undefined } });
const TYPE = 'service.beta.kubernetes.io/aws-load-balancer-type';
const LEFT = service({ metadata: { annotations: { [TYPE]: 'external' } }, status: { conditions: undefined, loadBalancer: undefined } });
const ON_AWS = provider({ spec: { aws: {} } });

test('a Service that has its address', () => {
  expect(explainService(WELL).map(({ state }) => state)).toEqual(['good', 'good', 'good']);
});

test.each<[string, Partial<ServiceFacts>, ...Expected]>([
  [
    'asks for none',
    { service: service({ spec: { type: 'ClusterIP' }, metadata: { finalizers: undefined } }) },
    'note',
    /of type ClusterIP: it asks for no load balancer$/,
  ],
  ['had one', { service: service({ spec: { type: 'ClusterIP' } }) }, 'waiting', /the one that it had is being deleted/],
  [
    'is another controller’s',
    { service: service({ spec: { loadBalancerClass: 'metallb.io/metallb' } }), loadBalancer: undefined },
    'note',
    /metallb\.io\/metallb is another controller's/,
    /loadBalancerClasses/,
  ],
  [
    'has a class of ours that nobody claims',
    { service: service({ spec: { loadBalancerClass: 'cloud-operator.dev/gone' } }), loadBalancer: undefined },
    'bad',
    /no CloudProvider claims the class/,
    /make the Service anew/,
  ],
  [
    'has no default CloudProvider',
    { providers: [provider({ spec: { default: false } })], loadBalancer: undefined },
    'bad',
    /no CloudProvider has spec\.default: true/,
    /set it on one/,
  ],
  [
    'names a CloudProvider that is not there',
    { service: service({ metadata: { annotations: { 'cloud-operator.dev/provider': 'gone' } } }), loadBalancer: undefined },
    'bad',
    /there is no CloudProvider "gone"/,
  ],
  [
    'would be taken by a CloudProvider that is being deleted',
    { providers: [provider({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } })], loadBalancer: undefined },
    'bad',
    /CloudProvider "local" is being deleted and takes no new Service/,
    /wait and make it anew/,
  ],
  [
    'is left to another controller by annotation, and so not looked at',
    { service: LEFT, providers: [ON_AWS], loadBalancer: undefined },
    'note',
    /left to the AWS Load Balancer Controller by its annotation .*aws-load-balancer-type: "external"/,
    /take the annotation off/,
  ],
  ['has that annotation where the cloud is another one', { service: LEFT, loadBalancer: undefined }, 'waiting', /has not said anything/],
  [
    'was not looked at',
    { service: service({ status: { conditions: undefined, loadBalancer: undefined } }), loadBalancer: undefined },
    'waiting',
    /has not said anything/,
    /--controllers/,
  ],
  [
    'has an annotation that can’t be read',
    { service: held('InvalidAnnotation'), loadBalancer: undefined },
    'bad',
    /InvalidAnnotation/,
    /says what to write/,
  ],
  [
    'has the name of another’s',
    { loadBalancer: loadBalancer({ metadata: { ownerReferences: [] } }) },
    'bad',
    /was not made for it/,
    /rename the Service/,
  ],
  [
    'is being deleted',
    { service: service({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }) },
    'waiting',
    /waits for service\.kubernetes\.io\/load-balancer-cleanup/,
  ],
  ['has no Pod', { service: service({ spec: { selector: { app: 'web' } } }), slices: [slice()] }, 'bad', /no Pod behind it is ready/],
  [
    'has Pods on two Nodes only',
    { service: service({ spec: { externalTrafficPolicy: 'Local' } }) },
    'good',
    /2 endpoints are ready, on 2 Nodes/,
  ],
  ['has no address yet', { service: service({ status: { loadBalancer: undefined } }) }, 'waiting', /nobody is told of an address yet/],
])('a Service that %s', (_, change, ...expected) => {
  expectFinding(explainService({ ...WELL, ...change }), expected);
});

test('where CloudProviders can’t be looked at, nothing is said of who takes it', () => {
  expect(explainService({ ...WELL, providers: undefined }).map(({ state }) => state)).toEqual(['good', 'good', 'good']);
  const found = explainService({ ...WELL, providers: undefined, service: held('ProviderUnavailable'), loadBalancer: undefined });
  expect(found.filter(({ says }) => says.startsWith('CloudProvider') || says.startsWith('there is no'))).toEqual([]);
  expectFinding(found, ['bad', /ProviderUnavailable/, /describe cloudprovider/]);
});

test('what is left to another controller has nothing else to wait for', () => {
  expect(explainService({ ...WELL, service: LEFT, providers: [ON_AWS], loadBalancer: undefined }).map(({ state }) => state)).toEqual([
    'note',
  ]);
});

const SECOND_TYPE = 'service.kubernetes.io/aws-load-balancer-type';

test.each<[Record<string, string>, string | undefined]>([
  [{ [TYPE]: 'external' }, undefined],
  [{ [TYPE]: ' nlb-ip ' }, undefined],
  [{ [TYPE]: 'nlb' }, undefined],
  [{ [TYPE]: 'nlb', [SECOND_TYPE]: 'external' }, undefined],
  [{ [TYPE]: ' ', [SECOND_TYPE]: 'external' }, undefined],
  [{ [TYPE]: 'external' }, 'example.com/class'],
  [{}, undefined],
])('%j, class %s: the AWS provider leaves the same Services to others', (annotations, loadBalancerClass) => {
  const of = service({ metadata: { annotations }, spec: { loadBalancerClass } });
  const left = compile(annotations, { ports: [], ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) }).leftTo !== undefined;
  expect(leftByAnnotation(of, ON_AWS.spec) !== undefined).toBe(left);
});
