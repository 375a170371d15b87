import { cloudLoadBalancerSpec } from '../../../../crds';
import type { Service } from '../../../../operator/kube/object';
import type { CompiledBlock } from '../../../../operator/loops/clouds';
import { compile } from '../../../../operator/loops/service/compile';
import { healthCheckOf, needsCleanup, wantsOnlyLocalTraffic } from '../../../../operator/loops/service/rules';
import { allowsAll, sourceRangesOf } from '../../../../operator/loops/service/source-ranges';
import { service } from '../objects';

const BLOCK: CompiledBlock = { blockName: 'local', block: { drainSeconds: 5 }, problems: [] };
const RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

const PLACEMENT = 'annotation cloud-operator.dev/placement';

const placed = (placement: string) => ({ metadata: { annotations: { 'cloud-operator.dev/placement': placement } } });
const adopting = (adopt?: string, id?: string) => ({
  metadata: {
    annotations: {
      ...(adopt !== undefined && { 'cloud-operator.dev/adopt': adopt }),
      ...(id !== undefined && { 'cloud-operator.dev/adopt-id': id }),
    },
  },
});
const ports = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `p${n}`, port: n + 1, nodePort: 30_000 + n }));
const manyRanges = Array.from({ length: 201 }, (_, n) => `10.0.${n}.0/24`);

function specOf(changes: Parameters<typeof service>[0]): object | undefined {
  return compile(service(changes), 'cloud-a', BLOCK).spec;
}

describe('compile', () => {
  test('the smallest Service, valid by the schema of the kind', () => {
    const spec = specOf({});
    expect(spec).toEqual({
      provider: 'cloud-a',
      listeners: [{ name: 'tcp-80', protocol: 'TCP', port: 80, nodePort: 30080 }],
      trafficPolicy: 'Cluster',
      local: { drainSeconds: 5 },
    });
    expect(cloudLoadBalancerSpec.safeParse(spec).success).toBe(true);
  });

  test('whose load balancer it takes over', () => {
    const spec = specOf(adopting(' Upstream '));
    expect(spec).toMatchObject({ adopt: 'Upstream' });
    expect(specOf(adopting('Unowned', ' lb-1 '))).toMatchObject({ adopt: 'Unowned', adoptID: 'lb-1' });
  });

  test('settings that are not there leave the block out', () => {
    expect(compile(service({}), 'cloud-a', { ...BLOCK, block: {} }).spec).not.toHaveProperty('local');
  });

  test('everything that a Service can say', () => {
    const spec = specOf({
      metadata: { annotations: { 'cloud-operator.dev/placement': 'shared/edge' }, labels: { 'app.kubernetes.io/instance': 'argo' } },
      spec: {
        ports: [
          { name: 'web', port: 443, nodePort: 30443, appProtocol: 'https' },
          { name: 'dns', port: 53, nodePort: 30053, protocol: 'UDP' },
        ],
        loadBalancerIP: '203.0.113.10',
        loadBalancerSourceRanges: ['198.51.100.0/24'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 31000,
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
        ipFamilies: ['IPv6', 'IPv4'],
      },
    });
    expect(spec).toEqual({
      provider: 'cloud-a',
      placement: { namespace: 'shared', name: 'edge' },
      listeners: [
        { name: 'web', protocol: 'TCP', port: 443, nodePort: 30443, appProtocol: 'https' },
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 },
      ],
      healthCheck: { protocol: 'HTTP', path: '/healthz', port: 31000 },
      sourceRanges: ['198.51.100.0/24'],
      addresses: ['203.0.113.10'],
      ipFamilies: ['IPv6', 'IPv4'],
      trafficPolicy: 'Local',
      sessionAffinity: { type: 'ClientIP', timeoutSeconds: 60 },
      local: { drainSeconds: 5 },
    });
    expect(cloudLoadBalancerSpec.safeParse(spec).success).toBe(true);
  });

  test('all that a load balancer can have', () => {
    const full = specOf({
      ...placed(`${'n'.repeat(63)}/${'p'.repeat(253)}`),
      spec: { ports: ports(100), loadBalancerSourceRanges: manyRanges.slice(1) },
    });
    expect(cloudLoadBalancerSpec.safeParse(full).success).toBe(true);
  });

  test('R-38 no node ports: a listener without one, never with 0', () => {
    const spec = specOf({
      spec: { allocateLoadBalancerNodePorts: false, ports: [{ name: 'sql', port: 5432, protocol: 'TCP', nodePort: 0 }] },
    });
    expect(spec).toMatchObject({ listeners: [{ name: 'sql', protocol: 'TCP', port: 5432 }] });
    expect(JSON.stringify(spec)).not.toContain('nodePort');
  });

  test.each<[string, Parameters<typeof service>[0], string]>([
    ['address', { spec: { loadBalancerIP: '203.0.113' } }, 'spec.loadBalancerIP: "203.0.113" is not an IP address'],
    [
      'placement',
      { metadata: { annotations: { 'cloud-operator.dev/placement': 'a/b/c' } } },
      'annotation cloud-operator.dev/placement: "a/b/c" is not a name',
    ],
    ['range', { metadata: { annotations: { [RANGES]: '10.0.0.0/33' } } }, `annotation ${RANGES}: "10.0.0.0/33" is not a CIDR`],
    ['placement’s namespace', placed('x-/b'), `${PLACEMENT}: "x-/b" is not a name: "x-" can't be a Namespace's`],
    [
      'namespace, too long,',
      placed(`${'n'.repeat(64)}/b`),
      `"${'n'.repeat(64)}" can't be a Namespace's (letters, digits and "-" between them, at most 63)`,
    ],
    ['adopt', adopting('yes'), '"yes" is not known; write one of Released, Upstream, Unowned'],
    ['adopt without an id', adopting('Unowned'), 'Unowned needs cloud-operator.dev/adopt-id'],
    ['id without adopt', adopting(undefined, 'lb-1'), 'adopt-id needs cloud-operator.dev/adopt: whose it is'],
    ['id', adopting('Released', 'the edge'), '"the edge" is no id of anything in a cloud'],
    ['placement without a name', placed('a/'), '"a/" is not a name: "" can\'t be an object\'s'],
    ['placement, too long,', placed('p'.repeat(300)), `${PLACEMENT}: "${'p'.repeat(64)}…" (300 characters) is not a name: `],
    [
      'number of ports',
      { spec: { ports: ports(101) } },
      'spec.ports: 101 ports, and a load balancer has at most 100; divide them among several Services',
    ],
    ['number of ranges', { spec: { loadBalancerSourceRanges: manyRanges } }, 'spec.loadBalancerSourceRanges: 201 ranges, and at most 200'],
    [
      'number of ranges',
      { metadata: { annotations: { [RANGES]: manyRanges.join() } } },
      `annotation ${RANGES}: 201 ranges, and at most 200`,
    ],
    ['port', { spec: { ports: [{ name: 'x', port: 80, appProtocol: 'x'.repeat(318) }] } }, 'spec.ports[0].appProtocol: '],
    ['address', { spec: { loadBalancerIP: '::ffff:192.0.2.1' } }, 'spec.loadBalancerIP: "::ffff:192.0.2.1": must be an IP address such as'],
  ])('a bad %s is a problem that names field and value', (_name, changes, message) => {
    const { spec, problems } = compile(service(changes), 'cloud-a', BLOCK);
    expect(spec).toBeUndefined();
    expect(JSON.stringify(problems).length).toBeLessThan(500);
    expect(problems).toEqual([{ reason: expect.any(String) as string, message: expect.stringContaining(message) as string }]);
  });

  test.each([
    ['cloud-operator.dev/approve', 'has no effect on a Service: set it on CloudLoadBalancer demo/web'],
    ['cloud-operator.dev/placment', 'has no effect on a Service: did you mean cloud-operator.dev/placement?'],
    ['cloud-operater.dev/placement', 'has no effect on a Service: did you mean cloud-operator.dev/placement?'],
    ['cloud-operator.dev/puase', 'has no effect on a Service: did you mean cloud-operator.dev/pause?'],
    ['cloud-operator.dev/aprove', 'has no effect on a Service: did you mean cloud-operator.dev/approve, on CloudLoadBalancer demo/web?'],
    ['cloud-operator.dev/providr', 'has no effect on a Service: did you mean cloud-operator.dev/provider?'],
    [
      'cloud-operator.dev/colour',
      'has no effect on a Service: remove it, or use one of cloud-operator.dev/provider, cloud-operator.dev/placement, cloud-operator.dev/adopt',
    ],
  ])('our own annotation %s is a warning', (key, message) => {
    const { warnings } = compile(service({ metadata: { annotations: { [key]: 'x' } } }), 'cloud-a', BLOCK);
    expect(warnings).toEqual([{ reason: 'UnknownAnnotation', message: expect.stringMatching(`^annotation ${key} `) as string }]);
    expect(warnings[0]?.message).toContain(message);
  });

  test('the provider’s errors are problems, its warnings are not', () => {
    const problems: CompiledBlock['problems'] = [
      { severity: 'Error', field: 'local.dev/drain', value: 'x', message: 'write a number' },
      { severity: 'Warning', field: 'local.dev/unknown', value: '1', message: 'is not known' },
    ];
    const compiled = compile(service(), 'cloud-a', { ...BLOCK, problems });
    expect(compiled.problems).toEqual([{ reason: 'InvalidAnnotation', message: 'annotation local.dev/drain: "x": write a number' }]);
    expect(compiled.warnings).toEqual([{ reason: 'UnknownAnnotation', message: 'annotation local.dev/unknown: "1": is not known' }]);
    expect(compile(service(), 'cloud-a', { ...BLOCK, problems: problems.slice(1) }).spec).toBeDefined();
  });
});

describe('source ranges (contract 2.12)', () => {
  const annotated = (text: string): Service => service({ metadata: { annotations: { [RANGES]: text } } });

  test.each(['10.0.0.1/33', 'foo.bar', '10.0.0.1/32,*', '10.0.0.1/32,', '10.0.0.1'])('C-SVC-47 "%s" is an error', (text) => {
    expect(sourceRangesOf(annotated(text)).problems).not.toEqual([]);
    expect(sourceRangesOf(service({ spec: { loadBalancerSourceRanges: text.split(',') } })).problems).not.toEqual([]);
  });

  test('C-SVC-48 blanks are trimmed', () => {
    expect(sourceRangesOf(annotated('  192.168.0.1/32 , 192.168.0.2/32   '))).toEqual({
      ranges: ['192.168.0.1/32', '192.168.0.2/32'],
      problems: [],
    });
  });

  test('C-SVC-49 anything/0 lets everybody in', () => {
    expect(allowsAll(['192.168.0.0/0'])).toBe(true);
    expect(allowsAll(['192.168.0.0/1', '::/0'])).toBe(false);
  });

  test('the field comes first, duplicates collapse, and nothing means everybody', () => {
    const both = service({
      metadata: { annotations: { [RANGES]: '10.0.0.0/8' } },
      spec: { loadBalancerSourceRanges: ['10.1.0.0/16', '10.1.2.3/16'] },
    });
    expect(sourceRangesOf(both).ranges).toEqual(['10.1.0.0/16']);
    expect(sourceRangesOf(service()).ranges).toBeUndefined();
    expect(sourceRangesOf(annotated('  ')).ranges).toBeUndefined();
  });
});

describe('rules', () => {
  const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

  test.each<[string, Parameters<typeof service>[0], boolean]>([
    ['C-SVC-05 no finalizer', { metadata: { deletionTimestamp: 'x' } }, false],
    ['C-SVC-06 finalizer, no timestamp, LoadBalancer', { metadata: { finalizers: [FINALIZER] } }, false],
    ['finalizer and timestamp', { metadata: { finalizers: [FINALIZER], deletionTimestamp: 'x' } }, true],
    ['finalizer and another type', { metadata: { finalizers: [FINALIZER] }, spec: { type: 'ClusterIP' } }, true],
  ])('%s: needs cleanup = %s', (_name, changes, wanted) => {
    expect(needsCleanup(service(changes))).toBe(wanted);
  });

  test('C-SVC-50 NodePort with policy Local is only local', () => {
    expect(wantsOnlyLocalTraffic(service({ spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } }))).toBe(true);
  });

  test('C-SVC-51 NodePort with policy Local needs no health check', () => {
    expect(
      healthCheckOf(service({ spec: { type: 'NodePort', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 } })),
    ).toBeUndefined();
  });
});

test('what annotations say of the portable core is in the spec', () => {
  expect(compile(service(), 'cloud-a', { ...BLOCK, core: { scheme: 'Internal' } }).spec).toMatchObject({ scheme: 'Internal' });
  expect(compile(service(), 'cloud-a', BLOCK).spec).not.toHaveProperty('scheme');
});
