import { OperatorError } from '../../../../operator/base/errors';
import type { Clouds, ServiceChoice } from '../../../../operator/loops/clouds';
import { claimOf } from '../../../../operator/loops/service/claim';
import { cloudLoadBalancer, service } from '../objects';

function clouds(choice: ServiceChoice, changes: Partial<Clouds> = {}): Clouds {
  return {
    forService: () => choice,
    forNode: () => undefined,
    compile: () => ({ blockName: 'local', block: {}, problems: [] }),
    supports: () => true,
    ...changes,
  };
}

const A: ServiceChoice = { kind: 'Chosen', provider: 'cloud-a' };
const B: ServiceChoice = { kind: 'Chosen', provider: 'cloud-b' };
const EXISTING = cloudLoadBalancer({ spec: { provider: 'cloud-a' } });

describe('the provider is recorded', () => {
  test('a new Service gets the one that claims it', () => {
    expect(claimOf(service(), undefined, clouds(A))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
  });

  test('a new default changes nothing', () => {
    expect(claimOf(service(), EXISTING, clouds(B))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
  });

  test('no default any more changes nothing either', () => {
    const choice: ServiceChoice = { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'none' };
    expect(claimOf(service(), EXISTING, clouds(choice))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-a' } });
  });

  const NAMED = service({ metadata: { annotations: { 'cloud-operator.dev/provider': 'cloud-b' } } });

  test.each([
    ['annotation', NAMED],
    ['class', service({ spec: { loadBalancerClass: 'example.com/b' } })],
  ])('another one asked for by %s is followed', (_name, of) => {
    expect(claimOf(of, EXISTING, clouds(B))).toMatchObject({ kind: 'Wanted', spec: { provider: 'cloud-b' } });
  });

  test('but not before it can be', () => {
    expect(claimOf(NAMED, EXISTING, clouds(B, { supports: () => false }))).toMatchObject({ kind: 'Held', retry: true });
    const gone: ServiceChoice = { kind: 'Unavailable', reason: 'ProviderNotFound', message: 'none' };
    expect(claimOf(NAMED, EXISTING, clouds(gone))).toMatchObject({ kind: 'Held', problem: { reason: 'ProviderNotFound' } });
  });
});

describe('what can’t be served', () => {
  test('R-06 a foreign class', () => {
    expect(claimOf(service({ spec: { loadBalancerClass: 'example.com/other' } }), undefined, clouds({ kind: 'Foreign' }))).toEqual({
      kind: 'Foreign',
    });
  });

  test('no provider', () => {
    const choice: ServiceChoice = { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'no CloudProvider has spec.default' };
    expect(claimOf(service(), undefined, clouds(choice))).toEqual({
      kind: 'Held',
      retry: true,
      problem: { reason: 'NoDefaultProvider', message: 'no CloudProvider has spec.default' },
    });
  });

  test('a provider without load balancers', () => {
    expect(claimOf(service(), undefined, clouds(A, { supports: () => false }))).toMatchObject({
      kind: 'Held',
      problem: { message: expect.stringContaining('the cloud provider does not support external load balancers') as string },
    });
  });

  test('the provider of an existing load balancer is gone', () => {
    const compile = (): never => {
      throw new OperatorError('NotFound', 'there is no CloudProvider "cloud-a"');
    };
    expect(claimOf(service(), EXISTING, clouds(A, { compile }))).toEqual({
      kind: 'Held',
      retry: true,
      problem: { reason: 'ProviderUnavailable', message: 'there is no CloudProvider "cloud-a"' },
    });
  });

  test('several problems are told together', () => {
    const of = service({ metadata: { annotations: { 'cloud-operator.dev/placement': 'A B' } }, spec: { loadBalancerIP: 'x' } });
    const claim = claimOf(of, undefined, clouds(A));
    expect(claim).toMatchObject({ kind: 'Held', retry: false });
    expect(claim.kind === 'Held' && claim.problem.message).toMatch(/placement.*; spec\.loadBalancerIP/);
  });
});
