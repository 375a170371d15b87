import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { RenderedClassic } from '../../../providers/aws/load-balancers/classic';
import { AwsLoadBalancers, type RenderedStack } from '../../../providers/aws/load-balancers/load-balancers';
import type { LoadBalancerScope } from '../../../providers/aws/scope';
import { loadBalancersOf } from '../../../providers/aws/served';
import type { LoadBalancerInput } from '../../../providers/provider';

const SCOPE: LoadBalancerScope = {
  clusterID: '0a1b2c3d-1111-4222-8333-444455556666',
  clusterName: 'prod',
  legacyClusterTag: false,
  vpcID: 'vpc-0a',
  subnetIDs: ['subnet-0b', 'subnet-0a'],
  nodeRules: 'PerService',
};
const CERTIFICATE = 'arn:aws:acm:eu-west-1:111122223333:certificate/0a1b';
const HTTP = { name: 'http', port: 80, nodePort: 30_080 };
const OWN = 'k8s-elb-a0000000100004000800022222222222';
const HTTPS = { name: 'https', port: 443, nodePort: 30_443 };

function input(more: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
  const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [HTTP], ...more, aws: { type: 'Classic', ...more.aws } });
  const ownerUID = '00000001-0000-4000-8000-222222222222';
  return { uid: '00000001-0000-4000-8000-111111111111', ownerUID, namespace: 'shop', name: 'web', spec };
}

function rendered(more: Partial<CloudLoadBalancerSpecInput> = {}, scope = SCOPE): RenderedClassic {
  const { classicLoadBalancers, networkLoadBalancers } = new AwsLoadBalancers(scope).render('s', [input(more)]) as unknown as RenderedStack;
  expect(networkLoadBalancers).toEqual([]);
  return classicLoadBalancers![0]!;
}

describe('a Classic load balancer', () => {
  const tls = { certificateARNs: [CERTIFICATE] };

  test.each([
    ['nothing said', {}, 'tcp', 'tcp'],
    ['HTTP to Nodes', { backendProtocol: 'HTTP' }, 'http', 'http'],
    ['SSL without a certificate', { backendProtocol: 'SSL' }, 'tcp', 'tcp'],
    ['a certificate', { tls }, 'ssl', 'tcp'],
    ['a certificate, TCP to Nodes', { tls, backendProtocol: 'TCP' }, 'ssl', 'tcp'],
    ['a certificate, SSL to Nodes', { tls, backendProtocol: 'SSL' }, 'ssl', 'ssl'],
    ['a certificate, HTTP to Nodes', { tls, backendProtocol: 'HTTP' }, 'https', 'http'],
    ['a certificate, HTTPS to Nodes', { tls, backendProtocol: 'HTTPS' }, 'https', 'https'],
    ['a certificate for another port', { tls: { ...tls, ports: ['8443'] } }, 'tcp', 'tcp'],
  ] as [string, CloudLoadBalancerSpecInput['aws'], string, string][])(
    'protocols as upstream has them: %s',
    (_what, aws, lbProtocol, instanceProtocol) => {
      const [made] = rendered({ aws }).settings.listeners;
      expect(made).toMatchObject({ lbPort: 80, instancePort: 30_080, lbProtocol, instanceProtocol });
      expect(made?.sslCertificateId).toBe(lbProtocol === 'ssl' || lbProtocol === 'https' ? CERTIFICATE : undefined);
    },
  );

  test.each([
    ['nothing said', {}, SCOPE, { target: 'TCP:30080', interval: 10, timeout: 5, healthyThreshold: 2, unhealthyThreshold: 6 }],
    ['TLS to Nodes', { aws: { tls, backendProtocol: 'SSL' } }, SCOPE, { target: 'TCP:30080' }],
    ['a short interval', { aws: { healthCheck: { intervalSeconds: 5 } } }, SCOPE, { interval: 5, timeout: 4 }],
    [
      'policy Local',
      { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 32_000, path: '/healthz' } },
      SCOPE,
      { target: 'HTTP:32000/healthz' },
    ],
    [
      'policy Local with traffic-port',
      {
        trafficPolicy: 'Local',
        healthCheck: { protocol: 'HTTP', port: 32_000, path: '/healthz' },
        aws: { healthCheck: { port: 'traffic-port' } },
      },
      SCOPE,
      { target: 'HTTP:30080/healthz' },
    ],
    [
      'kube-proxy’s port for all',
      {},
      { ...SCOPE, healthProbe: { mode: 'Shared', port: 10_256, path: '/healthz' } },
      { target: 'HTTP:10256/healthz' },
    ],
    [
      'AWS’s words',
      { aws: { healthCheck: { intervalSeconds: 20, unhealthyThreshold: 3 } } },
      SCOPE,
      { interval: 20, unhealthyThreshold: 3 },
    ],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, LoadBalancerScope, object][])('health check: %s', (_what, more, scope, check) => {
    expect(rendered(more, scope).settings.healthCheck).toMatchObject(check);
  });

  test.each([
    ['one of its own, whatever is said for Network ones', {}, SCOPE, [OWN, [], []]],
    ['more beside it', { securityGroups: { additionalGroupIDs: ['sg-0b'] } }, SCOPE, [OWN, [], ['sg-0b']]],
    ['others in its place', { securityGroups: { groups: ['sg-0b', 'sg-0a'] } }, SCOPE, [undefined, ['sg-0b', 'sg-0a'], []]],
    ['one for all', {}, { ...SCOPE, classicSecurityGroupID: 'sg-0c' }, [undefined, ['sg-0c'], []]],
  ] as [string, CloudLoadBalancerSpecInput['aws'], LoadBalancerScope, [string | undefined, string[], string[]]][])(
    'security groups: %s',
    (_what, aws, scope, expected) => {
      const { securityGroup, securityGroupIDs, additionalGroupIDs } = rendered({ aws }, scope);
      expect([securityGroup?.groupName, securityGroupIDs, additionalGroupIDs]).toEqual(expected);
    },
  );

  test('attributes, logs and policies', () => {
    expect(rendered().settings).toMatchObject({
      idleTimeout: 60,
      connectionDraining: false,
      connectionDrainingTimeout: 300,
      internal: false,
    });
    expect(rendered().subnets).toEqual(['subnet-0a', 'subnet-0b']);
    expect(rendered({ aws: { subnets: ['public-a'] } }).subnets).toMatchObject({ settings: { named: ['public-a'], internal: false } });
    const classic = {
      connectionDraining: true,
      connectionDrainingTimeoutSeconds: 20,
      connectionIdleTimeoutSeconds: 90,
      proxyProtocol: true,
    };
    const accessLogs = { bucket: 'logs', prefix: 'web', emitIntervalMinutes: 5 as const };
    const all = rendered({ scheme: 'Internal', aws: { classic, accessLogs, crossZone: true, tls: { ...tls, policy: 'P' } } });
    expect(all.settings).toMatchObject({
      internal: true,
      crossZoneLoadBalancing: true,
      idleTimeout: 90,
      connectionDraining: true,
      connectionDrainingTimeout: 20,
      accessLogs: { bucket: 'logs', bucketPrefix: 'web', interval: 5, enabled: true },
    });
    expect(all).toMatchObject({ proxyProtocol: true, tlsPolicy: 'P' });
  });

  test.each([
    ['nothing', {}, {}, false],
    ['subnets, which AWS changes in place', {}, { aws: { subnets: ['subnet-0c'] } }, false],
    ['the scheme', {}, { scheme: 'Internal' }, true],
    ['the kind', {}, { aws: { type: 'Network' } }, true],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, Partial<CloudLoadBalancerSpecInput>, boolean][])(
    'replacement: %s',
    (_what, before, after, is) => {
      expect(new AwsLoadBalancers(SCOPE).replacement(input(before), input(after)) !== undefined).toBe(is);
    },
  );

  test.each([
    ['nothing wrong', {}, []],
    ['UDP', { listeners: [{ ...HTTP, protocol: 'UDP' }] }, ['spec.listeners[0].protocol']],
    ['no node port', { listeners: [{ name: 'http', port: 80 }] }, ['spec.listeners[0].nodePort']],
    ['affinity', { sessionAffinity: { type: 'ClientIP' } }, ['spec.sessionAffinity.type']],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, string[]][])('validate: %s', (_what, more, fields) => {
    const problems = new AwsLoadBalancers(SCOPE).validate(input(more).spec);
    expect(problems.map(({ field }) => field)).toEqual(fields);
    for (const { message } of problems) expect(message).toMatch(/\.$/);
  });

  test('a resource serves the load balancer whose owner its tags name, and a failure is that of whose name it has', () => {
    const inputs = new AwsLoadBalancers(SCOPE).render('s', [input({ listeners: [HTTP, HTTPS] })]);
    const resource = { type: 'aws:elb/loadBalancer:LoadBalancer', name: 'x', args: { tags: rendered().tags } };
    expect(loadBalancersOf(resource, inputs)).toEqual([input().uid]);
  });
});
