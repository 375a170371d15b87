import * as fc from 'fast-check';
import { AWS_LIMITS, cloudLoadBalancerSpec, type CloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { AwsLoadBalancers, type RenderedLoadBalancer, type RenderedStack } from '../../../providers/aws/load-balancers/load-balancers';
import { cloudName } from '../../../providers/aws/load-balancers/names';
import type { Api } from '../../../providers/aws/resources/description';
import { loadBalancer } from '../../../providers/aws/resources/load-balancer';
import { OwnedResource } from '../../../providers/aws/resources/owned-resource';
import type { LoadBalancerScope } from '../../../providers/aws/scope';
import { loadBalancersOf } from '../../../providers/aws/served';
import type { LoadBalancerInput } from '../../../providers/provider';
import { withKept } from '../../../providers/resource-provider/service';
import type { UpdateContext } from '../../../providers/worker-module';

const SCOPE: LoadBalancerScope = {
  clusterID: '0a1b2c3d-1111-4222-8333-444455556666',
  clusterName: 'prod',
  legacyClusterTag: false,
  vpcID: 'vpc-0a1b',
  subnetIDs: ['subnet-0b', 'subnet-0a'],
  nodeRules: 'Shared',
};
const HTTP = { name: 'http', port: 80, nodePort: 30_080 };
const DNS = [
  { name: 'dns-tcp', protocol: 'TCP' as const, port: 53, nodePort: 30_053 },
  { name: 'dns-udp', protocol: 'UDP' as const, port: 53, nodePort: 30_053 },
];
const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/1';

function spec(more: Partial<CloudLoadBalancerSpecInput> = {}): CloudLoadBalancerSpec {
  return cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [HTTP], aws: {}, ...more });
}

function input(more: Partial<CloudLoadBalancerSpecInput> = {}, number = 1): LoadBalancerInput {
  const start = String(number).padStart(8, '0');
  return {
    uid: `${start}-0000-4000-8000-111111111111`,
    ownerUID: `${start}-0000-4000-8000-222222222222`,
    namespace: 'shop-front',
    name: 'web',
    spec: spec(more),
  };
}

function render(of: LoadBalancerInput, scope: LoadBalancerScope = SCOPE): RenderedLoadBalancer {
  const { networkLoadBalancers } = new AwsLoadBalancers(scope).render('s', [of]) as unknown as RenderedStack;
  return networkLoadBalancers[0]!;
}

const rendered = (more: Partial<CloudLoadBalancerSpecInput> = {}, scope: LoadBalancerScope = SCOPE): RenderedLoadBalancer =>
  render(input(more), scope);

describe('load balancers of AWS, rendered', () => {
  test('names are upstream’s; a later generation has names of its own, as long as AWS lets them be', () => {
    const { name, settings, listeners, securityGroup } = rendered();
    expect([name, settings.name]).toEqual(
      ['a00000001000040008000222222222222', 'a00000001000040008000222222222222'].map((n) => n.slice(0, 32)),
    );
    expect(listeners[0]?.targetGroup.settings.name).toMatch(/^k8s-shopfron-web-[0-9a-f]{10}$/);
    expect(securityGroup?.groupName).toMatch(/^k8s-shopfron-web-[0-9a-f]{10}$/);
    const next = render({ ...input(), generation: 12 });
    expect(next.settings.name).toBe(`${name.slice(0, 28)}-g12`);
    expect(next.listeners[0]?.targetGroup.settings.name).not.toBe(listeners[0]?.targetGroup.settings.name);
    expect(next.securityGroup?.groupName).not.toBe(securityGroup?.groupName);
    expect(rendered({ aws: { name: 'mine' } }).settings.name).toBe('mine');
  });

  test('tags say whose it is, to us and to upstream’s tools; that nobody says otherwise the kind sees to', () => {
    const { tags } = rendered({ aws: { tags: { team: 'shop' } } });
    expect(tags).toEqual({
      team: 'shop',
      'kubernetes.io/cluster/prod': 'owned',
      'kubernetes.io/service-name': 'shop-front/web',
      'cloud-operator.dev/cluster-id': SCOPE.clusterID,
      'cloud-operator.dev/stack': 's',
      'cloud-operator.dev/owner-uid': '00000001-0000-4000-8000-222222222222',
      'cloud-operator.dev/owner': 'shop-front/web',
    });
    expect(rendered({}, { ...SCOPE, legacyClusterTag: true }).tags).toMatchObject({
      KubernetesCluster: 'prod',
      'kubernetes.io/cluster/prod': 'owned',
    });
  });

  test('ranges and addresses are as AWS gives them back, each once', () => {
    const sourceRanges = ['10.1.2.3/8', '10.0.0.0/8', '2001:DB8::1/32'];
    const { securityGroup } = rendered({ sourceRanges });
    expect(securityGroup?.rules.map(({ settings: { cidrIpv4, cidrIpv6, ipProtocol } }) => [ipProtocol, cidrIpv4 ?? cidrIpv6])).toEqual([
      ['tcp', '10.0.0.0/8'],
      ['icmp', '10.0.0.0/8'],
      ['tcp', '2001:db8::/32'],
      ['icmpv6', '2001:db8::/32'],
    ]);
    const clients = rendered({ sourceRanges, aws: { securityGroups: { mode: 'None' } } }).nodeRules?.clients;
    expect(clients?.ranges).toEqual(['10.0.0.0/8']);
    const ungrouped = { securityGroups: { mode: 'None' as const } };
    const byIPv6 = (more: Partial<CloudLoadBalancerSpecInput>) =>
      rendered({ ipFamilies: ['IPv6'], aws: ungrouped, ...more }).nodeRules?.clients;
    expect(byIPv6({ sourceRanges })).toMatchObject({ family: 'IPv6', ranges: ['2001:db8::/32'], hidesClients: true });
    expect(byIPv6({})?.ranges).toEqual(['::/0']);
    const aws = { ipAddressType: 'DualStack' as const, subnets: ['subnet-0a'], ipv6Addresses: ['2001:DB8:0::9'] };
    expect(rendered({ aws }).settings.subnetMappings).toEqual([{ subnetId: 'subnet-0a', ipv6Address: '2001:db8::9' }]);
  });

  test('what AWS can’t change of a target group is in its name, and nothing else', () => {
    const nameOf = (more: Partial<CloudLoadBalancerSpecInput>): string => rendered(more).listeners[0]!.targetGroup.settings.name;
    const name = nameOf({});
    const others = [
      nameOf({ listeners: [{ ...HTTP, nodePort: 30_081 }] }),
      nameOf({ listeners: [{ ...HTTP, protocol: 'UDP' }] }),
      nameOf({ aws: { healthCheck: { protocol: 'HTTP' } } }),
      nameOf({ aws: { backendProtocol: 'SSL', tls: { certificateARNs: [CERTIFICATE] } } }),
    ];
    expect(new Set([name, ...others]).size).toBe(5);
    expect(nameOf({ listeners: [{ ...HTTP, name: 'web' }] })).toBe(name);
    expect(nameOf({ aws: { healthCheck: { intervalSeconds: 60 }, targetGroup: { proxyProtocolV2: true } } })).toBe(name);
  });

  test('what is said of one port stands before what is said of all', () => {
    const https = { name: 'https', port: 443, nodePort: 30_443 };
    const aws = { targetGroup: { proxyProtocolV2: true }, listeners: [{ port: 80, proxyProtocolV2: false }] };
    const { listeners } = rendered({ listeners: [HTTP, https], aws });
    const byNodePort = listeners.map(({ targetGroup }) => [targetGroup.settings.port, targetGroup.settings.proxyProtocolV2]);
    expect(Object.fromEntries(byNodePort)).toEqual({ 30_080: false, 30_443: true });
    expect(rendered().listeners[0]?.targetGroup.settings.proxyProtocolV2).toBe(false);
  });

  test('the clients’ own addresses arrive at Nodes unless that is turned off, and by UDP always', () => {
    const preserved = (aws: CloudLoadBalancerSpecInput['aws']): string[] =>
      rendered({ listeners: [HTTP, { name: 'log', protocol: 'UDP', port: 514, nodePort: 30_514 }], aws }).listeners.map(
        ({ targetGroup: { settings } }) => `${settings.protocol} ${settings.preserveClientIp}`,
      );
    expect(preserved({}).sort()).toEqual(['TCP true', 'UDP true']);
    expect(preserved({ targetGroup: { preserveClientIP: false } }).sort()).toEqual(['TCP false', 'UDP true']);
  });

  test.each([
    ['nothing said', {}, { protocol: 'TCP', port: 'traffic-port', interval: 30, timeout: 10, healthyThreshold: 3, unhealthyThreshold: 3 }],
    [
      'policy Local',
      { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 32_000, path: '/healthz' } },
      { protocol: 'HTTP', port: '32000', path: '/healthz', matcher: '200-399', interval: 10, healthyThreshold: 2, unhealthyThreshold: 2 },
    ],
    [
      'AWS’s words before the portable ones, field by field',
      { healthCheck: { protocol: 'HTTP', path: '/a', intervalSeconds: 20 }, aws: { healthCheck: { path: '/b', successCodes: '200' } } },
      { protocol: 'HTTP', path: '/b', matcher: '200', interval: 20 },
    ],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, object][])('health check: %s', (_what, more, check) => {
    expect(rendered(more).listeners[0]?.targetGroup.settings.healthCheck).toMatchObject(check);
  });

  test('one shared probe of kube-proxy stands for policy Cluster alone', () => {
    const scope: LoadBalancerScope = { ...SCOPE, healthProbe: { mode: 'Shared', port: 10_256, path: '/healthz' } };
    expect(rendered({}, scope).listeners[0]?.targetGroup.settings.healthCheck).toMatchObject({
      protocol: 'HTTP',
      port: '10256',
      path: '/healthz',
    });
    const local = rendered({ trafficPolicy: 'Local' }, scope);
    expect(local.listeners[0]?.targetGroup.settings.healthCheck).toMatchObject({ protocol: 'TCP', port: 'traffic-port' });
  });

  test('TLS is for the ports that are named, and for TCP alone', () => {
    const listeners = [
      HTTP,
      { name: 'tls', port: 443, nodePort: 30_443 },
      { name: 'quic', protocol: 'UDP' as const, port: 8443, nodePort: 30_444 },
    ];
    const protocolsOf = (ports?: string[]): string[] =>
      rendered({ listeners, aws: { tls: { certificateARNs: [CERTIFICATE], ...(ports !== undefined && { ports }) } } }).listeners.map(
        ({ settings }) => `${settings.port} ${settings.protocol}`,
      );
    expect(protocolsOf().sort()).toEqual(['443 TLS', '80 TLS', '8443 UDP']);
    expect(protocolsOf(['tls']).sort()).toEqual(['443 TLS', '80 TCP', '8443 UDP']);
    expect(protocolsOf(['443']).sort()).toEqual(['443 TLS', '80 TCP', '8443 UDP']);
    const { listeners: made } = rendered({ aws: { tls: { certificateARNs: [CERTIFICATE], policy: 'P', alpnPolicy: 'HTTP2Preferred' } } });
    expect(made[0]?.settings).toEqual({
      port: 80,
      protocol: 'TLS',
      certificateArn: CERTIFICATE,
      sslPolicy: 'P',
      alpnPolicy: 'HTTP2Preferred',
    });
  });

  test('the first certificate is the default one, the others are beside it on each TLS listener', () => {
    const more = ['b', 'c'].map((name) => CERTIFICATE.replace(/.$/, name));
    const tls = { certificateARNs: [CERTIFICATE, ...more], ports: ['tls'] };
    const { listeners } = rendered({ listeners: [HTTP, { name: 'tls', port: 443, nodePort: 30_443 }], aws: { tls } });
    expect(listeners.map(({ settings, certificates }) => [settings.port, settings.certificateArn, certificates])).toEqual([
      [443, CERTIFICATE, more],
      [80, undefined, undefined],
    ]);
  });

  test('what is taken over keeps its TLS policies where none is named', () => {
    const adopted = {
      subnetMappings: [{ subnetId: 'subnet-0a' }],
      grouped: true,
      groupIDs: [],
      tlsPolicies: { '80': 'ELBSecurityPolicy-2016-08' },
    };
    const policyOf = (tls: { policy?: string }): string | undefined => {
      const of = { ...input({ aws: { tls: { certificateARNs: [CERTIFICATE], ...tls } } }), adopted };
      return render(of).listeners[0]?.settings.sslPolicy;
    };
    expect(policyOf({})).toBe('ELBSecurityPolicy-2016-08');
    expect(policyOf({ policy: 'mine' })).toBe('mine');
  });

  test('TCP and UDP on one port are one listener where that is asked for', () => {
    const { listeners, securityGroup } = rendered({ listeners: DNS, aws: { tcpUDPListeners: true } });
    expect(listeners.map(({ settings }) => settings.protocol)).toEqual(['TCP_UDP']);
    expect(securityGroup?.rules.map(({ settings }) => settings.ipProtocol)).toEqual(['tcp', 'udp', 'icmp']);
  });

  test('addresses belong to the subnets in their order', () => {
    const aws = { subnets: ['subnet-0b', 'subnet-0a'], eipAllocationIDs: ['eipalloc-0b', 'eipalloc-0a'] };
    expect(rendered({ aws }).settings.subnetMappings).toEqual([
      { subnetId: 'subnet-0a', allocationId: 'eipalloc-0a' },
      { subnetId: 'subnet-0b', allocationId: 'eipalloc-0b' },
    ]);
    expect(rendered().settings.subnetMappings).toEqual([{ subnetId: 'subnet-0a' }, { subnetId: 'subnet-0b' }]);
  });

  test('those that exist only once are looked at before, also where the subnets are looked for; of one that was taken over they are on it', () => {
    const asking = input({ aws: { name: 'edge', ipAddressType: 'DualStack', eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'] } });
    const { name, addresses } = render(asking);
    const settings = { vpcId: 'vpc-0a1b', loadBalancer: 'edge', dualStack: true };
    expect(addresses).toEqual({ name: `${name}-addresses`, settings });
    const found = { ...SCOPE };
    delete found.subnetIDs;
    expect(render(asking, found)).toMatchObject({ addresses: { settings }, subnets: { settings: { addresses: 2 } } });
    const adopted = { subnetMappings: [{ subnetId: 'subnet-0a', allocationId: 'eipalloc-0a' }], grouped: true, groupIDs: [] };
    expect([rendered(), render({ ...asking, adopted })].map((other) => other.addresses)).toEqual([undefined, undefined]);
  });

  test.each([
    ['nothing said', {}, ['tcp 0.0.0.0/0', 'icmp 0.0.0.0/0']],
    ['both families', { ipFamilies: ['IPv4', 'IPv6'] }, ['tcp 0.0.0.0/0', 'icmp 0.0.0.0/0', 'tcp ::/0', 'icmpv6 ::/0']],
    [
      'both by the load balancer alone',
      { aws: { ipAddressType: 'DualStack' } },
      ['tcp 0.0.0.0/0', 'icmp 0.0.0.0/0', 'tcp ::/0', 'icmpv6 ::/0'],
    ],
    [
      'IPv4 by the load balancer alone',
      { ipFamilies: ['IPv6', 'IPv4'], aws: { ipAddressType: 'IPv4' } },
      ['tcp 0.0.0.0/0', 'icmp 0.0.0.0/0'],
    ],
    ['source ranges', { sourceRanges: ['198.51.100.0/24'] }, ['tcp 198.51.100.0/24', 'icmp 198.51.100.0/24']],
    ['prefix lists alone', { aws: { securityGroups: { prefixListIDs: ['pl-0a'], pathMTUDiscovery: false } } }, ['tcp pl-0a']],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, string[]][])('who may come in: %s', (_what, more, rules) => {
    const told = rendered(more).securityGroup?.rules.map(
      ({ settings: at }) => `${at.ipProtocol} ${at.cidrIpv4 ?? at.cidrIpv6 ?? at.prefixListId}`,
    );
    expect(told).toEqual(rules);
  });

  test.each([
    ['a group of its own', {}, SCOPE, { made: true, ids: [] }],
    ['named groups in its place', { securityGroups: { groups: ['sg-0b', 'sg-0a'] } }, SCOPE, { made: false, ids: ['sg-0b', 'sg-0a'] }],
    ['none', { securityGroups: { mode: 'None' } }, SCOPE, { made: false, ids: [] }],
    ['none by the CloudProvider', {}, { ...SCOPE, nodeRules: 'PerService' }, { made: false, ids: [] }],
    [
      'a group of its own against the CloudProvider',
      { securityGroups: { mode: 'Managed' } },
      { ...SCOPE, nodeRules: 'PerService' },
      { made: true, ids: [] },
    ],
  ] as [string, CloudLoadBalancerSpecInput['aws'], LoadBalancerScope, { made: boolean; ids: string[] }][])(
    'security groups: %s',
    (_what, aws, scope, expected) => {
      const { securityGroup, securityGroupIDs, settings } = rendered({ aws }, scope);
      expect({ made: securityGroup !== undefined, ids: securityGroupIDs }).toEqual(expected);
      const grouped = expected.made || expected.ids.length > 0;
      expect(settings.enforceSecurityGroupInboundRulesOnPrivateLinkTraffic).toBe(grouped ? 'on' : undefined);
    },
  );

  test.each([
    ['IPv4', ['IPv4'], 'ipv4', 'ipv4'],
    ['both families', ['IPv6', 'IPv4'], 'dualstack', 'ipv4'],
    ['IPv6 alone', ['IPv6'], 'dualstack', 'ipv6'],
  ] as [string, ('IPv4' | 'IPv6')[], string, string][])(
    'a Service of %s: families of load balancer and target group',
    (_what, ipFamilies, balancer, targets) => {
      const { settings, listeners } = rendered({ ipFamilies });
      const [group, ofIPv4] = [listeners[0]!.targetGroup, rendered().listeners[0]!.targetGroup];
      expect([settings.ipAddressType, group.settings.ipAddressType]).toEqual([balancer, targets]);
      expect(group.settings.name === ofIPv4.settings.name).toBe(targets === 'ipv4');
    },
  );

  test('the order of inputs makes no difference, and no name in a program has the mark that parts a URN', () => {
    const loadBalancers = new AwsLoadBalancers(SCOPE);
    const inputs = [input({ ipFamilies: ['IPv6'] }, 1), input({}, 2), input({ sourceRanges: ['2001:db8::/32'] }, 3)];
    expect(canonicalJson(loadBalancers.render('s', inputs))).toBe(canonicalJson(loadBalancers.render('s', inputs.toReversed())));
    for (const one of inputs) {
      const { securityGroup, listeners } = render(one);
      const names = [...(securityGroup?.rules ?? []), ...listeners, ...listeners.map(({ targetGroup }) => targetGroup)].map(
        ({ name }) => name,
      );
      expect(names.filter((name) => name.includes('::'))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('names of AWS keep AWS’s rules, whatever namespace and name', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/), fc.nat(200), (name, generation) => {
        const { settings, listeners } = render({ ...input(), namespace: name, name, generation });
        for (const made of [settings.name, listeners[0]!.targetGroup.settings.name]) {
          expect(made).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9-]{0,30}[a-zA-Z0-9]$/);
        }
      }),
    );
  });
});

describe('load balancers of AWS', () => {
  const loadBalancers = new AwsLoadBalancers(SCOPE);

  test.each([
    ['nothing', {}, {}, undefined],
    ['what is changed in place', {}, { aws: { crossZone: true }, sourceRanges: ['192.0.2.0/24'] }, undefined],
    ['the scheme', {}, { scheme: 'Internal' }, { gap: false }],
    ['the name', {}, { aws: { name: 'mine' } }, { gap: false }],
    ['a second family', {}, { ipFamilies: ['IPv4', 'IPv6'] }, undefined],
    ['IPv6 alone', { ipFamilies: ['IPv4', 'IPv6'] }, { ipFamilies: ['IPv6'] }, { gap: false }],
    ['IPv4 where IPv6 was alone', { ipFamilies: ['IPv6'] }, {}, { gap: false }],
    ['more addresses', { aws: { secondaryIPsPerSubnet: 1 } }, { aws: { secondaryIPsPerSubnet: 3 } }, undefined],
    ['fewer addresses, which AWS takes none back of', { aws: { secondaryIPsPerSubnet: 3 } }, {}, { gap: false }],
    [
      'fewer addresses beside one of its own, which is no reason for a gap',
      { aws: { secondaryIPsPerSubnet: 3, eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'] } },
      { aws: { eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'] } },
      undefined,
    ],
    ['subnets', {}, { aws: { subnets: ['subnet-0c'] } }, { gap: false }],
    ['no groups any more', {}, { aws: { securityGroups: { mode: 'None' } } }, { gap: false }],
    ['groups of its own', {}, { aws: { securityGroups: { groups: ['sg-0a'] } } }, undefined],
    ['groups where there were none, as from PerService to Shared', { aws: { securityGroups: { mode: 'None' } } }, {}, { gap: false }],
    [
      'subnets that take an address along',
      { aws: { subnets: ['subnet-0a'], eipAllocationIDs: ['eipalloc-0a'] } },
      { aws: { subnets: ['subnet-0b'], eipAllocationIDs: ['eipalloc-0a'] } },
      { gap: true },
    ],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, Partial<CloudLoadBalancerSpecInput>, object | undefined][])(
    'replacement: %s',
    (_what, before, after, expected) => {
      const found = loadBalancers.replacement(input(before), input(after));
      if (expected === undefined) expect(found).toBeUndefined();
      else expect(found).toMatchObject(expected);
    },
  );

  test.each<[Partial<CloudLoadBalancerSpecInput>, Partial<CloudLoadBalancerSpecInput>, string]>([
    [
      { aws: { type: 'Classic' } },
      {},
      'spec.aws.type (annotation service.beta.kubernetes.io/aws-load-balancer-type) from Classic to Network',
    ],
    [{}, { scheme: 'Internal' }, 'spec.scheme from Public to Internal'],
    [{}, { aws: { name: 'mine' } }, 'spec.aws.name'],
  ])('a replacement says what has changed, and between which kinds', (before, after, what) => {
    const found = loadBalancers.replacement(input(before), input(after));
    expect(found?.why).toBe(`the change of ${what} replaces the load balancer`);
  });

  test('a failure is that of whose resource it names, of whatever generation', () => {
    const inputs = [input({}, 1), { ...input({}, 2), generation: 1 }];
    const failed = (name: string): string[] =>
      loadBalancers.attribute(
        new OperatorError('Invalid', 'no', { resource: `urn:pulumi:s::p::aws:lb/listener:Listener::${name}` }),
        inputs,
      );
    expect(failed(`${cloudName(inputs[0]!.ownerUID)}-80`)).toEqual([inputs[0]!.uid]);
    expect(failed(cloudName(inputs[1]!.ownerUID, 1))).toEqual([inputs[1]!.uid]);
    expect(failed('shared')).toEqual([]);
    expect(loadBalancers.attribute(new OperatorError('Invalid', 'no'), inputs)).toEqual([]);
  });

  test('results say nothing of what the outputs do not hold', () => {
    const outputs = { uid: { hostname: 'x.elb.amazonaws.com', targetGroups: [{ id: 'arn', port: 30_080 }] } };
    expect(loadBalancers.results(outputs, 'uid')).toEqual({
      ingress: [{ hostname: 'x.elb.amazonaws.com' }],
      targetGroups: [{ id: 'arn', port: 30_080 }],
    });
    for (const bad of [{}, { uid: null }, { uid: {} }, { uid: { hostname: '', targetGroups: [] } }])
      expect(loadBalancers.results(bad, 'uid')).toBeUndefined();
  });

  test('a resource serves the load balancer whose owner its tags name', () => {
    const of = input();
    const inputs = loadBalancers.render('s', [of, input({}, 2)]);
    const resource = { type: 'aws:lb/listener:Listener', name: 'x', args: { tags: render(of).tags } };
    expect(loadBalancersOf(resource, inputs)).toEqual([of.uid]);
    expect(loadBalancersOf({ ...resource, args: {} }, inputs)).toEqual([]);
  });

  test.each([
    ['nothing wrong', {}, SCOPE, []],
    ['SCTP', { listeners: [{ ...HTTP, protocol: 'SCTP' }] }, SCOPE, ['spec.listeners[0].protocol']],
    ['no node port', { listeners: [{ name: 'http', port: 80 }] }, SCOPE, ['spec.listeners[0].nodePort']],
    ['TCP and UDP on one port', { listeners: DNS }, SCOPE, ['spec.listeners']],
    [
      'TCP and UDP of two node ports',
      { listeners: [DNS[0]!, { ...DNS[1]!, nodePort: 30_054 }], aws: { tcpUDPListeners: true } },
      SCOPE,
      ['spec.listeners'],
    ],
    [
      'too many listeners',
      { listeners: Array.from({ length: 51 }, (_, at) => ({ name: `p${at}`, port: 1000 + at, nodePort: 30_000 + at })) },
      SCOPE,
      ['spec.listeners'],
    ],
    ['no VPC', {}, { ...SCOPE, vpcID: undefined }, ['spec.aws']],
    ['addresses for other subnets', { aws: { eipAllocationIDs: ['eipalloc-0a'] } }, SCOPE, ['spec.aws.eipAllocationIDs']],
    ['groups by name', { aws: { securityGroups: { groups: ['web'] } } }, SCOPE, []],
    [
      'more groups than an interface takes',
      { aws: { type: 'Classic', securityGroups: { additionalGroupIDs: ['sg-0a', 'sg-0b', 'sg-0c', 'sg-0d'] } } },
      SCOPE,
      ['spec.aws.securityGroups'],
    ],
    [
      'as many groups as a raised quota lets be',
      { aws: { type: 'Classic', securityGroups: { additionalGroupIDs: ['sg-0a', 'sg-0b', 'sg-0c', 'sg-0d'] } } },
      { ...SCOPE, limits: { ...AWS_LIMITS, securityGroupsPerInterface: 6 } },
      [],
    ],
    [
      'ranges beside groups',
      { sourceRanges: ['192.0.2.0/24'], aws: { securityGroups: { groups: ['sg-0a'], backendRules: 'None' } } },
      SCOPE,
      ['spec.sourceRanges'],
    ],
    [
      'more rules than the usual quota',
      { sourceRanges: Array.from({ length: 31 }, (_, at) => `192.0.2.${at}/32`) },
      SCOPE,
      ['spec.sourceRanges'],
    ],
    [
      'as many rules as a raised quota lets be',
      { sourceRanges: Array.from({ length: 31 }, (_, at) => `192.0.2.${at}/32`) },
      { ...SCOPE, limits: { ...AWS_LIMITS, rulesPerSecurityGroup: 62 } },
      [],
    ],
    [
      'rules of both families, which count each by itself',
      { sourceRanges: Array.from({ length: 20 }, (_, at) => [`192.0.2.${at}/32`, `2001:db8::${at}/128`]).flat() },
      SCOPE,
      [],
    ],
    ['rules for each Service', {}, { ...SCOPE, nodeRules: 'PerService' }, []],
    ['a placement of a Classic one', { placement: { name: 'shared' }, aws: { type: 'Classic' } }, SCOPE, ['spec.placement']],
    ['IPv6 alone', { ipFamilies: ['IPv6'] }, SCOPE, []],
    ['IPv6 alone on a Classic one', { ipFamilies: ['IPv6'], aws: { type: 'Classic' } }, SCOPE, ['spec.ipFamilies']],
    ['IPv6 alone on one of IPv4', { ipFamilies: ['IPv6'], aws: { ipAddressType: 'IPv4' } }, SCOPE, ['spec.aws.ipAddressType']],
    ['IPv6 alone without a group', { ipFamilies: ['IPv6'] }, { ...SCOPE, nodeRules: 'PerService' }, []],
    [
      'IPv6 alone without a group, for some ranges: those of IPv4 can’t be held off',
      { ipFamilies: ['IPv6'], sourceRanges: ['2001:db8::/32'] },
      { ...SCOPE, nodeRules: 'PerService' },
      ['spec.sourceRanges'],
    ],
    [
      'IPv6 alone without a group, for a prefix list',
      { ipFamilies: ['IPv6'], aws: { securityGroups: { prefixListIDs: ['pl-0a'] } } },
      { ...SCOPE, nodeRules: 'PerService' },
      ['spec.aws.securityGroups.prefixListIDs'],
    ],
    [
      'IPv6 alone without a group, for some ranges and all of IPv4',
      { ipFamilies: ['IPv6'], sourceRanges: ['2001:db8::/32', '0.0.0.0/0'] },
      { ...SCOPE, nodeRules: 'PerService' },
      [],
    ],
    [
      'both families without a group, for some ranges: those of IPv6 can’t be held off',
      { ipFamilies: ['IPv4', 'IPv6'], sourceRanges: ['192.0.2.0/24'] },
      { ...SCOPE, nodeRules: 'PerService' },
      ['spec.sourceRanges'],
    ],
    [
      'IPv6 alone without a group, where the Nodes are opened by hand',
      { ipFamilies: ['IPv6'], aws: { securityGroups: { mode: 'None', backendRules: 'None' } } },
      SCOPE,
      [],
    ],
    [
      'UDP of IPv6 alone without prefixes',
      { ipFamilies: ['IPv6'], listeners: [{ ...HTTP, protocol: 'UDP' }] },
      SCOPE,
      ['spec.aws.ipv6SourceNAT'],
    ],
    ['IPv6 addresses of one of IPv4', { aws: { ipv6Addresses: ['2001:db8::1', '2001:db8::2'] } }, SCOPE, ['spec.aws.ipv6Addresses']],
    [
      'IPv6 addresses of a dual-stack one',
      { ipFamilies: ['IPv4', 'IPv6'], aws: { ipv6Addresses: ['2001:db8::1', '2001:db8::2'] } },
      SCOPE,
      [],
    ],
    ['a short interval alone', { aws: { healthCheck: { intervalSeconds: 5 } } }, SCOPE, []],
    [
      'a timeout longer than the usual interval',
      { aws: { healthCheck: { timeoutSeconds: 31 } } },
      SCOPE,
      ['spec.aws.healthCheck.timeoutSeconds'],
    ],
    ['an interval that AWS does not have', { healthCheck: { intervalSeconds: 3 } }, SCOPE, ['spec.healthCheck.intervalSeconds']],
    ['a threshold of one', { healthCheck: { healthyThreshold: 1 } }, SCOPE, ['spec.healthCheck.healthyThreshold']],
    ['a short interval of a Classic one', { aws: { type: 'Classic', healthCheck: { intervalSeconds: 5 } } }, SCOPE, []],
    [
      'a timeout of a Classic one as long as its interval',
      { aws: { type: 'Classic', healthCheck: { intervalSeconds: 5, timeoutSeconds: 5 } } },
      SCOPE,
      ['spec.aws.healthCheck.timeoutSeconds'],
    ],
    [
      'a timeout that a Classic one does not have',
      { aws: { type: 'Classic', healthCheck: { intervalSeconds: 300, timeoutSeconds: 61 } } },
      SCOPE,
      ['spec.aws.healthCheck.timeoutSeconds'],
    ],
    ['affinity by the client', { sessionAffinity: { type: 'ClientIP' } }, SCOPE, []],
    [
      'affinity by the client beside TLS',
      { sessionAffinity: { type: 'ClientIP' }, aws: { tls: { certificateARNs: [CERTIFICATE] } } },
      SCOPE,
      ['spec.sessionAffinity.type'],
    ],
    [
      'stickiness beside TLS',
      { aws: { targetGroup: { stickiness: 'SourceIP' }, tls: { certificateARNs: [CERTIFICATE] } } },
      SCOPE,
      ['spec.aws.targetGroup.stickiness'],
    ],
    [
      'affinity that is taken back, beside TLS',
      { sessionAffinity: { type: 'ClientIP' }, aws: { targetGroup: { stickiness: 'None' }, tls: { certificateARNs: [CERTIFICATE] } } },
      SCOPE,
      [],
    ],
    [
      'draining of what is cut',
      { aws: { targetGroup: { unhealthyDrainingIntervalSeconds: 60 } } },
      SCOPE,
      ['spec.aws.targetGroup.unhealthyDrainingIntervalSeconds'],
    ],
    ['TLS to Nodes alone', { aws: { backendProtocol: 'SSL' } }, SCOPE, ['spec.aws.backendProtocol']],
    ['IPv6 prefixes without IPv6', { aws: { ipv6SourceNAT: {} } }, SCOPE, ['spec.aws.ipv6SourceNAT.enabled']],
    [
      'IPv6 prefixes of one’s own',
      { aws: { ipAddressType: 'DualStack', ipv6SourceNAT: { prefixes: ['auto_assigned', '2001:db8::/80'] } } },
      SCOPE,
      ['spec.aws.ipv6SourceNAT.prefixes'],
    ],
    [
      'UDP on a dual-stack one without IPv6 prefixes',
      { listeners: [{ ...HTTP, protocol: 'UDP' }], aws: { ipAddressType: 'DualStack' } },
      SCOPE,
      ['spec.aws.ipv6SourceNAT'],
    ],
    [
      'UDP on a dual-stack one with them, and capacity',
      { listeners: [{ ...HTTP, protocol: 'UDP' }], aws: { ipAddressType: 'DualStack', ipv6SourceNAT: {}, minimumCapacityUnits: 3000 } },
      SCOPE,
      [],
    ],
    [
      'capacity beside TLS',
      { aws: { minimumCapacityUnits: 3000, tls: { certificateARNs: [CERTIFICATE] } } },
      SCOPE,
      ['spec.aws.minimumCapacityUnits'],
    ],
  ] as [string, Partial<CloudLoadBalancerSpecInput>, LoadBalancerScope, string[]][])('validate: %s', (_what, more, scope, fields) => {
    const problems = new AwsLoadBalancers(scope).validate(spec(more));
    expect(problems.map(({ field }) => field)).toEqual(fields);
    for (const { message } of problems) expect(message).toMatch(/\.$/);
  });
});

describe('what a load balancer that was taken over keeps', () => {
  const [MAPPINGS, GROUPED] = [[{ subnetId: 'subnet-0a' }, { subnetId: 'subnet-0b' }], { grouped: true, groupIDs: [] }];
  const taken = (more: Partial<CloudLoadBalancerSpecInput>, kept: JsonObject = {}): LoadBalancerInput => ({
    ...input(more),
    adopted: { subnetMappings: MAPPINGS, internal: false, name: 'edge', ...GROUPED, ...kept },
  });
  const provider = new AwsLoadBalancers(SCOPE);

  test.each<[string, Partial<CloudLoadBalancerSpecInput>, JsonObject, [field: string, wanted: string, kept: string][]]>([
    ['nothing else', {}, {}, []],
    ['another scheme', { scheme: 'Internal' }, {}, [['spec.scheme', 'Internal', 'Public']]],
    ['a scheme that was not noted', { scheme: 'Internal' }, { internal: undefined as never }, []],
    ['another name', { aws: { name: 'web' } }, {}, [['spec.aws.name', 'web', 'edge']]],
    [
      'other subnets, with an address',
      { aws: { subnets: ['subnet-0c'], eipAllocationIDs: ['eipalloc-0c'] } },
      { subnetMappings: [{ subnetId: 'subnet-0a', allocationId: 'eipalloc-0a' }] },
      [
        ['spec.aws.subnets', 'subnet-0c', 'subnet-0a'],
        ['spec.aws.eipAllocationIDs', 'eipalloc-0c', 'eipalloc-0a'],
      ],
    ],
    ['subnets by their tags', { aws: { subnets: ['front'] } }, {}, []],
    ['no group', {}, { grouped: false }, [['spec.aws.securityGroups', 'one that is made for it', 'none']]],
    ['a group', { aws: { securityGroups: { mode: 'None' } } }, { groupIDs: ['sg-0a'] }, [['spec.aws.securityGroups', 'none', 'sg-0a']]],
    [
      'a group that was made for it',
      { aws: { securityGroups: { mode: 'None' } } },
      { ownGroup: true, groupIDs: ['sg-0a'] },
      [['spec.aws.securityGroups', 'none', 'one that is made for it, sg-0a']],
    ],
    [
      'groups beside its own',
      {},
      { groupIDs: ['sg-0a'] },
      [['spec.aws.securityGroups.groups', 'one that is made for it', 'beside it sg-0a']],
    ],
    ['groups, and the spec names its own', { aws: { securityGroups: { groups: ['sg-0b'] } } }, { groupIDs: ['sg-0a'] }, []],
    ['a Classic one’s scheme', { aws: { type: 'Classic' }, scheme: 'Internal' }, {}, [['spec.scheme', 'Internal', 'Public']]],
  ])('%s', (_what, more, kept, differences) => {
    const expected = differences.map(([field, wanted, stands]) => ({ field, wanted, kept: stands }));
    expect(provider.keptDifferences(taken(more, kept))).toEqual(expected);
    expect(provider.keptDifferences(input(more))).toEqual([]);
  });

  test('is not replaced when the spec comes to ask for it; a change to something else does replace it', () => {
    const before = taken({ scheme: 'Internal', aws: { name: 'web', subnets: ['subnet-0c'] } });
    const change = (more: Partial<CloudLoadBalancerSpecInput>): unknown => provider.replacement(before, { ...before, spec: spec(more) });
    const subnets = MAPPINGS.map(({ subnetId }) => subnetId);
    expect(change({ scheme: 'Public', aws: { name: 'edge', subnets } })).toBeUndefined();
    expect(change({ scheme: 'Public', aws: { name: 'other', subnets } })).toMatchObject({
      why: expect.stringContaining('spec.aws.name') as string,
    });
    const without = { ...input({ scheme: 'Internal' }) };
    expect(provider.replacement(without, { ...without, spec: spec() })).toMatchObject({
      why: expect.stringContaining('spec.scheme') as string,
    });
  });
});

describe('what takes the place of a load balancer that was taken over', () => {
  const TAKEN = { 'cloud-operator.dev/adopted': 'true' };
  const IN_PLACE = { 'cloud-operator.dev/adopted': 'false' };

  test('says so on the load balancer alone: its target groups and its group stay as they were taken over', () => {
    const { tags, ownTags } = render({ ...input(), inPlaceOfAdopted: true });
    expect(ownTags).toEqual(IN_PLACE);
    expect(Object.keys(tags)).not.toContain('cloud-operator.dev/adopted');
    expect(render(input()).ownTags).toBeUndefined();
  });

  test.each<[string, Record<string, string>, Record<string, string>, JsonObject]>([
    ['kept, where the program does not know that it was taken over', TAKEN, {}, { name: 'edge', tags: { team: 'edge', ...TAKEN } }],
    ['kept, where it does', TAKEN, TAKEN, { name: 'edge', tags: { team: 'edge', ...TAKEN } }],
    ['let go, where another one is to take its place', TAKEN, IN_PLACE, { name: 'web', tags: IN_PLACE }],
    ['not kept of what has taken its place', IN_PLACE, {}, { name: 'web', tags: {} }],
  ])('what can’t be changed in place, and others’ tags, are %s', (_what, has, wants, expected) => {
    const context = { stack: 's', clusterID: SCOPE.clusterID } as UpdateContext;
    const type = new OwnedResource(loadBalancer, {} as Omit<Api, 'options'>, context);
    const { name, tags } = withKept({ name: 'edge', tags: { team: 'edge', ...has } }, { name: 'web', tags: wants }, type);
    expect({ name, tags }).toEqual(expected);
  });
});

test('what of the account the settings name is told to the policy: used or not, and by annotation alike', () => {
  const aws = {
    subnets: ['subnet-0a', 'public-b'],
    securityGroups: { groups: ['sg-0a'], additionalGroupIDs: ['sg-0b'] },
    tls: { certificateARNs: [CERTIFICATE] },
    accessLogs: { enabled: false, bucket: 'logs' },
    tags: { team: 'edge', 'cost-center': '1' },
  };
  const { named } = new AwsLoadBalancers(SCOPE);
  expect(named(spec({ aws })).map(({ list, field, value }) => [list, field, value])).toEqual([
    ['subnets', 'spec.aws.subnets', 'subnet-0a'],
    ['subnets', 'spec.aws.subnets', 'public-b'],
    ['securityGroups', 'spec.aws.securityGroups.groups', 'sg-0a'],
    ['securityGroups', 'spec.aws.securityGroups.additionalGroupIDs', 'sg-0b'],
    ['certificates', 'spec.aws.tls.certificateARNs', CERTIFICATE],
    ['buckets', 'spec.aws.accessLogs.bucket', 'logs'],
    ['reservedTagKeys', 'spec.aws.tags', 'team'],
    ['reservedTagKeys', 'spec.aws.tags', 'cost-center'],
  ]);
  expect(named(spec({ aws: undefined }))).toEqual([]);
});
