import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CloudLoadBalancerKind, CloudRouteKind, validateSpec } from '../../../crds';
import { PROJECT_ROOT } from '../../../operator/entry';
import { BAD, FULL, SMALLEST, SMALLEST_OF_CLOUDS } from './spec-cases';

describe('validateSpec', () => {
  test.each(BAD)('refuses $title', ({ kind, spec, field, message }) => {
    const result = validateSpec(kind, spec);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    const problem = result.problems.find((at) => at.field.startsWith(field));
    expect(problem).toBeDefined();
    if (message !== undefined) expect(problem?.message).toContain(message);
  });

  test.each([...SMALLEST, ...SMALLEST_OF_CLOUDS])('accepts the smallest $kind.kind', ({ kind, spec }) => {
    expect(validateSpec(kind, spec)).toMatchObject({ ok: true, value: spec });
  });

  test.each(FULL)('accepts a full $kind.kind as it is', ({ kind, spec }) => {
    expect(validateSpec(kind, spec)).toEqual({ ok: true, value: spec });
  });

  it('accepts the example of a load balancer without a Service', () => {
    const { kind, spec } = parse(readFileSync(join(PROJECT_ROOT, 'examples/load-balancer.yaml'), 'utf8')) as { kind: string; spec: object };
    expect([kind, validateSpec(CloudLoadBalancerKind, spec)]).toMatchObject(['CloudLoadBalancer', { ok: true, value: spec }]);
  });

  it('fills in the defaults and drops what it does not know', () => {
    const spec = { provider: 'local', listeners: [{ name: 'http', port: 80, colour: 'red' }], local: {} };
    expect(validateSpec(CloudLoadBalancerKind, spec)).toEqual({
      ok: true,
      value: {
        provider: 'local',
        listeners: [{ name: 'http', port: 80, protocol: 'TCP' }],
        local: {},
        scheme: 'Public',
        ipFamilies: ['IPv4'],
        trafficPolicy: 'Cluster',
      },
    });
  });

  it('says everything that is wrong, not only the first', () => {
    const result = validateSpec(CloudRouteKind, { provider: 'A', destinationCIDR: 'x', nodeName: '' });
    expect(result.ok ? [] : [...new Set(result.problems.map(({ field }) => field))]).toEqual([
      'spec.provider',
      'spec.destinationCIDR',
      'spec.nodeName',
    ]);
  });

  it.each([undefined, null, 'x', 7, []])('refuses %p, which is no spec', (value) => {
    expect(validateSpec(CloudRouteKind, value)).toMatchObject({ ok: false, problems: [{ field: 'spec' }] });
  });
});
