import { DEFAULT_SERVICE_LEVERS, SERVICE_UID_ANNOTATION } from '../../../../crds';
import { OperatorError } from '../../../../operator/base/errors';
import type { Clouds, ServiceChoice } from '../../../../operator/loops/clouds';
import { claimOf } from '../../../../operator/loops/service/claim';
import { cloudLoadBalancer, service } from '../objects';

function clouds(choice: ServiceChoice, changes: Partial<Clouds> = {}): Clouds {
  return {
    forService: () => choice,
    forNode: () => undefined,
    compile: () => ({ blockName: 'local', block: {}, problems: [] }),
    whyNotConnected: () => undefined,
    supports: () => true,
    observes: () => false,
    serviceLevers: () => DEFAULT_SERVICE_LEVERS,
    providers: () => ['cloud-a'],
    leftFor: () => Promise.resolve(undefined),
    ...changes,
  };
}

const A: ServiceChoice = { kind: 'Chosen', provider: 'cloud-a' };
const B: ServiceChoice = { kind: 'Chosen', provider: 'cloud-b' };
const EXISTING = cloudLoadBalancer({ spec: { provider: 'cloud-a' } });
const OWN = cloudLoadBalancer({
  metadata: { annotations: { [SERVICE_UID_ANNOTATION]: service().metadata.uid } },
  spec: { provider: 'cloud-a' },
});

describe('the provider is recorded', () => {
  test('a new Service gets the one that claims it', () => {
    expect(claimOf({ service: service() }, undefined, clouds(A))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
  });

  test('a new default changes nothing', () => {
    expect(claimOf({ service: service() }, EXISTING, clouds(B))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
  });

  test('no default any more changes nothing either', () => {
    const choice: ServiceChoice = { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'none' };
    expect(claimOf({ service: service() }, EXISTING, clouds(choice))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
  });

  test('but where several say that they are the default, the Service is told', () => {
    const choice: ServiceChoice = { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'two defaults (a, b)', several: true };
    expect(claimOf({ service: service() }, EXISTING, clouds(choice))).toMatchObject({
      kind: 'Wanted',
      warnings: [
        { reason: 'SeveralProviders', message: expect.stringContaining('two defaults (a, b). This Service stays with') as string },
      ],
    });
  });

  test('a class that several claim: whose provider is recorded stays with it, and is told; another one named is not taken for it', () => {
    const choice: ServiceChoice = { kind: 'Unavailable', reason: 'ClassClaimedTwice', message: 'both claim it', several: true };
    const ofClass = service({ spec: { loadBalancerClass: 'example.com/b' } });
    expect(claimOf({ service: ofClass }, EXISTING, clouds(choice))).toMatchObject({
      kind: 'Wanted',
      spec: { provider: 'cloud-a' },
      warnings: [{ reason: 'SeveralProviders' }],
    });
    expect(claimOf({ service: ofClass }, undefined, clouds(choice))).toMatchObject({
      kind: 'Held',
      problem: { reason: 'ClassClaimedTwice' },
    });
    const annotations = { 'cloud-operator.dev/provider': 'cloud-b' };
    const named = service({ metadata: { annotations }, spec: { loadBalancerClass: 'example.com/b' } });
    expect(claimOf({ service: named }, EXISTING, clouds(choice))).toMatchObject({ kind: 'Held' });
  });

  const DELETING = { kind: 'Unavailable', reason: 'ProviderDeleting', message: 'it goes' } as const;

  test.each<[string, string, Exclude<ServiceChoice, { kind: 'Chosen' }>]>([
    ['of its own', 'example.com/b', { kind: 'Foreign', leaving: 'cloud-a' }],
    ['that bears its name', 'cloud-operator.dev/cloud-a', { ...DELETING, leaving: 'cloud-a' }],
  ])('one that is being deleted goes on with what it has by a class %s, and takes nothing new', (_which, loadBalancerClass, choice) => {
    const of = { service: service({ spec: { loadBalancerClass } }) };
    expect(claimOf(of, OWN, clouds(choice))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
    expect(claimOf(of, undefined, clouds(choice)).kind).not.toBe('Wanted');
    expect(claimOf(of, OWN, clouds({ ...choice, leaving: 'cloud-b' }))).toMatchObject({ kind: 'Held' });
  });

  const NAMED = service({ metadata: { annotations: { 'cloud-operator.dev/provider': 'cloud-b' } } });

  test.each([
    ['annotation', NAMED],
    ['class', service({ spec: { loadBalancerClass: 'example.com/b' } })],
  ])('another one asked for by %s is followed', (_name, of) => {
    expect(claimOf({ service: of }, EXISTING, clouds(B))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-b' } });
  });

  test('but not before it can be', () => {
    expect(claimOf({ service: NAMED }, EXISTING, clouds(B, { supports: () => false }))).toMatchObject({ kind: 'Held', retry: true });
    const gone: ServiceChoice = { kind: 'Unavailable', reason: 'ProviderNotFound', message: 'none' };
    expect(claimOf({ service: NAMED }, EXISTING, clouds(gone))).toMatchObject({ kind: 'Held', problem: { reason: 'ProviderNotFound' } });
  });
});

describe('what can’t be served', () => {
  test('R-06 a foreign class', () => {
    expect(
      claimOf({ service: service({ spec: { loadBalancerClass: 'example.com/other' } }) }, undefined, clouds({ kind: 'Foreign' })),
    ).toEqual({
      kind: 'Foreign',
    });
  });

  test('no provider', () => {
    const choice: ServiceChoice = { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'no CloudProvider has spec.default' };
    expect(claimOf({ service: service() }, undefined, clouds(choice))).toEqual({
      kind: 'Held',
      retry: true,
      problem: { reason: 'NoDefaultProvider', message: 'no CloudProvider has spec.default' },
    });
  });

  test('a provider without load balancers', () => {
    expect(claimOf({ service: service() }, undefined, clouds(A, { supports: () => false }))).toMatchObject({
      kind: 'Held',
      problem: { message: expect.stringContaining('the cloud provider does not support external load balancers') as string },
    });
  });

  test.each<[string, OperatorError, object]>([
    ['lacks its Secret', new OperatorError('Invalid', 'Secret x/aws is not there', { reason: 'SecretMissing', remedy: 'Make it' }), {}],
    ['has not answered', new OperatorError('Transient', 'Secret x/aws is not there. Make it'), { passes: true }],
  ])('a provider that %s: why, and not that its cloud has none', (_name, why, passes) => {
    const unconnected = clouds(A, { whyNotConnected: () => why, supports: () => false });
    const message = 'CloudProvider "cloud-a" is not connected: Secret x/aws is not there. Make it';
    expect(claimOf({ service: service() }, undefined, unconnected)).toEqual({
      kind: 'Held',
      retry: true,
      problem: { reason: 'ProviderUnavailable', message },
      ...passes,
    });
    // What it has made goes on.
    expect(claimOf({ service: service() }, EXISTING, unconnected)).toMatchObject({ kind: 'Wanted' });
  });

  test('the provider of an existing load balancer is gone', () => {
    const compile = (): never => {
      throw new OperatorError('NotFound', 'there is no CloudProvider "cloud-a"');
    };
    expect(claimOf({ service: service() }, EXISTING, clouds(A, { compile }))).toEqual({
      kind: 'Held',
      retry: true,
      problem: { reason: 'ProviderUnavailable', message: 'there is no CloudProvider "cloud-a"' },
    });
  });

  test('several problems are told together', () => {
    const of = service({ metadata: { annotations: { 'cloud-operator.dev/placement': 'A B' } }, spec: { loadBalancerIP: 'x' } });
    const claim = claimOf({ service: of }, undefined, clouds(A));
    expect(claim).toMatchObject({ kind: 'Held', retry: false });
    expect(claim.kind === 'Held' && claim.problem.message).toMatch(/placement.*; spec\.loadBalancerIP/);
  });
});

describe('a Service that its annotations leave to another controller', () => {
  const left = clouds(A, { compile: () => ({ blockName: 'aws', block: {}, problems: [], leftTo: 'somebody, by the annotation x' }) });

  test('is foreign', () => {
    expect(claimOf({ service: service() }, undefined, left)).toEqual({ kind: 'Foreign' });
    // nor has it anything to do with somebody else's of the same name
    expect(claimOf({ service: service() }, EXISTING, left)).toEqual({ kind: 'Foreign' });
  });

  test('keeps what it has here, and is told how to go on', () => {
    const message = expect.stringMatching(/left to somebody, by the annotation x.*delete CloudLoadBalancer/) as string;
    const held = { kind: 'Held', problem: { reason: 'LeftToOther', message }, retry: false, left: true };
    expect(claimOf({ service: service() }, OWN, left)).toEqual(held);
  });
});

test('a Service of a class that no CloudProvider claims any more keeps what it has here, and is told how to go on', () => {
  const message = expect.stringMatching(
    /the class "example.com\/b", which.*delete CloudLoadBalancer demo\/web.*or claim the class/,
  ) as string;
  const of = service({ spec: { loadBalancerClass: 'example.com/b' } });
  const held = { kind: 'Held', problem: { reason: 'LeftToOther', message }, retry: false, left: true };
  expect(claimOf({ service: of }, OWN, clouds({ kind: 'Foreign' }))).toEqual(held);
});

describe('what the provider is told of a Service', () => {
  test('are its class, ports, labels, namespace and addresses, and what it has been given so far', () => {
    const told = jest.fn(() => ({ blockName: 'aws', block: {}, problems: [] }));
    const asked = { loadBalancerClass: 'example.com/b', loadBalancerIP: '203.0.113.1', ipFamilies: ['IPv4' as const] };
    const one = service({ metadata: { labels: { tier: 'edge' } }, spec: asked });
    claimOf({ service: one }, undefined, clouds(B, { compile: told }));
    const facts = {
      loadBalancerClass: 'example.com/b',
      ports: one.spec.ports,
      labels: { tier: 'edge' },
      namespace: 'demo',
      ipFamilies: ['IPv4'],
      addresses: ['203.0.113.1'],
    };
    expect(told).toHaveBeenCalledWith('cloud-b', one.metadata.annotations ?? {}, facts);
    claimOf({ service: one }, EXISTING, clouds(A, { compile: told }));
    expect(told).toHaveBeenLastCalledWith('cloud-a', one.metadata.annotations ?? {}, { ...facts, current: EXISTING.spec });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...one.metadata, name: 'demo', labels: { team: 'shop' } } };
    claimOf({ service: one, namespace }, undefined, clouds(A, { compile: told }));
    expect(told).toHaveBeenLastCalledWith('cloud-a', one.metadata.annotations ?? {}, { ...facts, namespaceLabels: { team: 'shop' } });
  });

  test('and the others of its CloudProvider, where it wants to know them', () => {
    const others = jest.fn(() => []);
    const compile: Clouds['compile'] = (_provider, _annotations, { neighbors }) => ({
      blockName: 'aws',
      block: {},
      problems: neighbors?.() as [],
    });
    claimOf({ service: service(), neighborsIn: others }, undefined, clouds(B));
    expect(others).not.toHaveBeenCalled();
    claimOf({ service: service(), neighborsIn: others }, EXISTING, clouds(A, { compile }));
    expect(others.mock.calls).toEqual([['cloud-a']]);
  });
});
