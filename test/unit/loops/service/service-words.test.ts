import type { Readiness } from '../../../../operator/loops/readiness';
import { inServiceWords, readinessInServiceWords } from '../../../../operator/loops/service/service-words';
import { service } from '../objects';

const ADDRESS = { spec: { loadBalancerIP: '203.0.113.10' } };
const PLACED = { metadata: { annotations: { 'cloud-operator.dev/placement': 'front' } } };

describe('a CloudLoadBalancer’s message, on its Service', () => {
  it.each([
    ['its ports', {}, 'spec.listeners[1].port: taken', 'spec.ports[1].port: taken'],
    [
      'its ranges',
      { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
      'spec.sourceRanges[0] is wide',
      'spec.loadBalancerSourceRanges[0] is wide',
    ],
    ['its address', ADDRESS, 'it is used (spec.addresses[0]).', 'it is used (spec.loadBalancerIP).'],
    [
      'its placement',
      PLACED,
      'spec.placement "a/front" is not allowed',
      'annotation cloud-operator.dev/placement "a/front" is not allowed',
    ],
    ['nothing that it has not', {}, 'spec.placement and spec.addresses', 'spec.placement and spec.addresses'],
    ['no stack', {}, 'stack lb-default-web-1: resource "a": quota reached', 'quota reached'],
    ['nothing of other kinds', ADDRESS, 'spec.local.tokenSecretRef, spec.updatePolicy', 'spec.local.tokenSecretRef, spec.updatePolicy'],
  ])('names %s', (_what, changes, message, expected) => {
    expect(inServiceWords(service(changes), message)).toBe(expected);
  });

  const failed = (message: string): Readiness => ({
    current: true,
    settled: false,
    ready: { type: 'Ready', status: 'False', reason: 'Taken', message, lastTransitionTime: '' },
    failure: { reason: 'Taken', message, stalled: true },
  });

  it.each([
    [
      'begins with the field that asks for the address',
      '203.0.113.10 is address a of b.',
      'spec.loadBalancerIP "203.0.113.10": 203.0.113.10 is address a of b.',
    ],
    ['says it once', 'spec.addresses[0] 203.0.113.10 is used.', 'spec.loadBalancerIP 203.0.113.10 is used.'],
    ['of another address is left', '203.0.113.100 is used', '203.0.113.100 is used'],
  ])('a failure %s', (_what, message, expected) => {
    const { ready, failure } = readinessInServiceWords(service(ADDRESS), failed(message));
    expect([ready?.message, failure?.message]).toEqual([expected, expected]);
  });

  it('what is no failure is no matter of the field', () => {
    const { current, settled, ready } = failed('203.0.113.10 moves');
    expect(readinessInServiceWords(service(ADDRESS), { current, settled, ...(ready && { ready }) }).ready?.message).toBe(
      '203.0.113.10 moves',
    );
  });
});
