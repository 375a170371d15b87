import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson } from '../../../operator/base/json';
import { LoadBalancerStacks } from '../../../operator/cloud/stack/load-balancer-stacks';
import { conflictsOf, type Conflict } from '../../../operator/cloud/stack/port-conflicts';
import { AwsLoadBalancers, type RenderedStack } from '../../../providers/aws/load-balancers/load-balancers';
import { recognize } from '../../../providers/aws/recognize';
import type { LoadBalancerScope } from '../../../providers/aws/scope';
import { loadBalancersOf } from '../../../providers/aws/served';
import type { DiscoveredResource, LoadBalancerInput } from '../../../providers/provider';

const SCOPE: LoadBalancerScope = {
  clusterID: '0a1b2c3d-1111-4222-8333-444455556666',
  clusterName: 'prod',
  legacyClusterTag: false,
  vpcID: 'vpc-0a1b',
  subnetIDs: ['subnet-0b', 'subnet-0a'],
  nodeRules: 'Shared',
};
const provider = new AwsLoadBalancers(SCOPE);

/** A member whose UIDs and ports are made from one digit. */
function member(digit: number, fields: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
  const listeners = [{ name: 'http', port: 8000 + digit, nodePort: 30_000 + digit }];
  const placement = { name: 'edge', namespace: 'demo' };
  const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', aws: {}, placement, listeners, ...fields });
  return { uid: `uid-${digit}`, ownerUID: `${digit}-owner`, namespace: 'demo', name: `web-${digit}`, spec };
}

const render = (...inputs: LoadBalancerInput[]): RenderedStack => provider.render('stack', inputs) as unknown as RenderedStack;
const one = (...inputs: LoadBalancerInput[]): NonNullable<RenderedStack['sharedLoadBalancers']>[number] => {
  const { sharedLoadBalancers = [] } = render(...inputs);
  expect(sharedLoadBalancers).toHaveLength(1);
  return sharedLoadBalancers[0]!;
};

describe('a placement on AWS', () => {
  test('is one load balancer with one group and one part in the backend group; listeners and rules are the members’', () => {
    const shared = one(member(2, { sourceRanges: ['10.0.0.0/8'] }), member(1));
    expect(shared.settings.name).toMatch(/^k8s-demo-edge-[0-9a-f]{10}$/);
    expect(shared.members.map(({ uid, listeners }) => [uid, listeners[0]?.settings.port])).toEqual([
      ['uid-1', 8001],
      ['uid-2', 8002],
    ]);
    const sources = shared.members.map(({ rules }) => rules.map(({ settings }) => `${settings.fromPort} ${settings.cidrIpv4}`));
    expect(sources).toEqual([['8001 0.0.0.0/0'], ['8002 10.0.0.0/8']]);
    expect(shared.securityGroup?.rules.map(({ settings }) => `${settings.ipProtocol} ${settings.cidrIpv4}`)).toEqual([
      'icmp 0.0.0.0/0',
      'icmp 10.0.0.0/8',
    ]);
    expect(shared.backend?.settings.frontend).toBe(shared.securityGroup?.name);
    expect(shared.tags).toMatchObject({ 'cloud-operator.dev/owner': 'placement demo/edge', 'cloud-operator.dev/stack': 'stack' });
    expect(Object.keys(shared.tags)).not.toContain('kubernetes.io/service-name');
    expect(shared.members[1]?.tags).toMatchObject({ 'kubernetes.io/service-name': 'demo/web-2' });
  });

  test('neither the order of the members nor who is there changes what all share', () => {
    expect(canonicalJson(render(member(1), member(2)))).toBe(canonicalJson(render(member(2), member(1))));
    const both = one(member(1), member(2));
    for (const alone of [one(member(1)), one(member(2))]) {
      expect([alone.name, alone.settings, alone.securityGroup, alone.backend]).toEqual([
        both.name,
        both.settings,
        both.securityGroup,
        both.backend,
      ]);
    }
  });

  test.each<[string, Partial<CloudLoadBalancerSpecInput>]>([
    ['scheme', { scheme: 'Internal' }],
    ['subnets', { aws: { subnets: ['subnet-0c'] } }],
    ['addresses', { aws: { eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'] } }],
    ['no groups', { aws: { securityGroups: { mode: 'None' } } }],
    ['groups', { aws: { securityGroups: { groups: ['sg-0a'] } } }],
  ])('who asks for another %s gets a load balancer of its own, and a change to that is a replacement', (_what, fields) => {
    const { sharedLoadBalancers = [] } = render(member(1), member(2, fields));
    expect(new Set(sharedLoadBalancers.map(({ name }) => name)).size).toBe(2);
    expect(provider.replacement(member(2), member(2, fields))).toMatchObject({ gap: false });
  });

  test('the order in which subnets and their addresses are written makes no difference', () => {
    const [subnets, eipAllocationIDs] = [
      ['subnet-0c', 'subnet-0d'],
      ['eipalloc-0a', 'eipalloc-0b'],
    ];
    for (const aws of [{ subnets }, { subnets, eipAllocationIDs }]) {
      const turned = Object.fromEntries(Object.entries(aws).map(([field, list]) => [field, list.toReversed()]));
      expect(canonicalJson(render(member(1, { aws }), member(2, { aws: turned })))).toBe(
        canonicalJson(render(member(1, { aws: turned }), member(2, { aws }))),
      );
      one(member(1, { aws }), member(2, { aws: turned }));
      expect(provider.replacement(member(1, { aws }), member(1, { aws: turned }))).toBeUndefined();
    }
  });

  test('a change of what is fixed that keeps an address of its own is refused: no other load balancer of the placement could have that', () => {
    const eipAllocationIDs = ['eipalloc-0a', 'eipalloc-0b'];
    const before = member(1, { aws: { eipAllocationIDs } });
    for (const aws of [
      { subnets: ['subnet-0c', 'subnet-0d'], eipAllocationIDs },
      { name: 'edge', eipAllocationIDs },
    ]) {
      const { refused, gap } = provider.replacement(before, member(1, { aws })) ?? {};
      expect(gap).toBe(true);
      expect(refused).toMatch(
        /^the change of .* replaces the load balancer, and .* eipalloc-0a, eipalloc-0b, which it keeps\. Ask for other addresses/,
      );
      const alone = [before, member(1, { aws })].map((input) => ({ ...input, spec: { ...input.spec, placement: undefined } }));
      expect(provider.replacement(alone[0]!, alone[1]!)?.refused).toBeUndefined();
    }
    expect(provider.replacement(before, member(1, { aws: { eipAllocationIDs: ['eipalloc-0c', 'eipalloc-0b'] } }))).toMatchObject({
      refused: expect.stringContaining('eipalloc-0b, which it keeps') as string,
    });
    const others = provider.replacement(before, member(1, { aws: { eipAllocationIDs: ['eipalloc-0c', 'eipalloc-0d'] } }));
    expect(others).toEqual({ why: expect.any(String) as string, gap: false });
  });

  test('who asks for a member’s addresses with other settings is told who has them, and what to do; with the same ones it shares them', () => {
    const aws = { eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'] };
    const kind = new LoadBalancerStacks({} as never, {} as never, {} as never, 'c');
    const cloud = { cloud: { loadBalancers: provider } } as never;
    const [edge, claims] = [member(1, { aws }), (input: LoadBalancerInput) => kind.claims(input, cloud)];
    const joining = (input: LoadBalancerInput): Conflict[] => {
      const of = { key: 'demo/edge', createdAt: '' };
      const claimants = [
        { ...of, uid: edge.uid, held: claims(edge), wanted: claims(edge) },
        { ...of, uid: input.uid, held: [], wanted: claims(input) },
      ];
      return [...conflictsOf(claimants).values()];
    };
    expect(joining(member(2, { aws }))).toEqual([]);
    const claim = 'address eipalloc-0a';
    for (const fields of [{ aws: { ...aws, name: 'other' } }, { aws: { ...aws, subnets: ['subnet-0c', 'subnet-0d'] } }]) {
      expect(joining(member(2, fields))).toEqual([{ claim, incumbent: 'demo/edge' }]);
    }
    expect(joining(member(2, { aws: { eipAllocationIDs: ['eipalloc-0c', 'eipalloc-0d'] } }))).toEqual([]);
    const alone = { ...member(2, { aws: { ...aws, name: 'other' } }) };
    expect(provider.together({ ...alone, spec: { ...alone.spec, placement: undefined } })).toBeUndefined();
    expect(kind.conflict(claim)).toMatchObject({
      reason: 'Conflict',
      remedy: expect.stringContaining('ask for another address') as string,
    });
  });

  test('what is changed in place is on for all as soon as one asks for it, and replaces nothing', () => {
    const more = { ipAddressType: 'DualStack' as const, ipv6SourceNAT: {}, minimumCapacityUnits: 3000 };
    const asking = member(2, { aws: { crossZone: true, accessLogs: { enabled: true, bucket: 'logs' }, ...more } });
    const { name, settings } = one(member(1), asking);
    expect(settings).toMatchObject({ enablePrefixForIpv6SourceNat: 'on', minimumLoadBalancerCapacity: { capacityUnits: 3000 } });
    expect(settings).toMatchObject({ enableCrossZoneLoadBalancing: true, accessLogs: { bucket: 'logs' }, ipAddressType: 'dualstack' });
    expect(name).toBe(one(member(1)).name);
    expect(provider.replacement(member(2), asking)).toBeUndefined();
  });

  test('fewer addresses than it has replace nothing that others share', () => {
    expect(provider.replacement(member(2, { aws: { secondaryIPsPerSubnet: 3 } }), member(2))).toBeUndefined();
  });

  test('a failure is the member’s whose resource it names, and nobody’s where it names what all share', () => {
    const members = [member(1), member(2)];
    const shared = one(...members);
    const failed = (resource: string): string[] =>
      provider.attribute(new OperatorError('Invalid', 'no', { resource: `urn:pulumi:s::p::t::${resource}` }), members);
    expect(failed(shared.members[1]!.listeners[0]!.targetGroup.name)).toEqual(['uid-2']);
    expect(failed(shared.members[0]!.rules[0]!.name)).toEqual(['uid-1']);
    expect(failed(shared.name)).toEqual([]);
    expect(failed(shared.securityGroup!.name)).toEqual([]);
  });

  test('a generation that retires stays where it was, beside the one that takes its place', () => {
    const wanted = { ...member(1, { scheme: 'Internal' }), generation: 1, retiring: { input: member(1) } };
    const { sharedLoadBalancers = [] } = render(wanted, member(2));
    const parts = sharedLoadBalancers.map(({ settings, members }) => [
      settings.internal,
      members.map(({ uid, retiring }) => `${uid} ${retiring}`),
    ]);
    expect(parts).toEqual(
      expect.arrayContaining([
        [true, ['uid-1 undefined']],
        [false, ['uid-1 true', 'uid-2 undefined']],
      ]),
    );
  });

  test('extensions are told whom a resource serves', () => {
    const inputs = provider.render('stack', [member(1), member(2)]);
    const tags = one(member(1), member(2)).members[1]!.tags;
    expect(loadBalancersOf({ args: { tags } }, inputs)).toEqual(['uid-2']);
    expect(loadBalancersOf({ args: { tags: {} } }, inputs)).toEqual([]);
  });

  test('what discovery found tells a member’s address by its listener', () => {
    const shared = one(member(1), member(2));
    const [{ listeners }] = shared.members as [(typeof shared.members)[number]];
    const [{ name, targetGroup }] = listeners as [(typeof listeners)[number]];
    const found = [
      { type: 'aws:lb/loadBalancer:LoadBalancer', name: shared.name, id: 'arn:lb', inputs: {}, outputs: { dnsName: 'edge.elb' } },
      listenerTo('arn:group', name),
      { type: 'aws:lb/targetGroup:TargetGroup', name: targetGroup.name, id: 'arn:group', inputs: { port: 30_001 }, outputs: {} },
    ];
    const group = { id: 'arn:group', port: 30_001 };
    expect(recognize(found, member(1))).toEqual({ generation: 0, ingress: [{ hostname: 'edge.elb' }], targetGroups: [group] });
    // The other member's counts for the limit of targets of the load balancer that they share.
    const both = [{ ...group, access: { rules: [], targetGroups: 2 } }];
    expect(recognize([...found, listenerTo('arn:other', 'other')], member(1))?.targetGroups).toEqual(both);
    // And that it sends across zones, unless the group says otherwise.
    const across = found.map((one) => ({
      ...one,
      inputs: { ...one.inputs, ...(one.id === 'arn:lb' && { enableCrossZoneLoadBalancing: true }) },
    }));
    expect(recognize(across, member(1))?.targetGroups).toEqual([{ ...group, access: { rules: [], crossZone: true } }]);
    const within = across.map((one) => ({ ...one, inputs: { ...one.inputs, loadBalancingCrossZoneEnabled: 'false' } }));
    expect(recognize(within, member(1))?.targetGroups).toEqual([group]);
    expect(recognize(found, member(2))).toBeUndefined();
  });

  test('members of IPv6 alone have a load balancer of their own: it can’t give up IPv6 before their target groups go', () => {
    const { sharedLoadBalancers = [] } = render(
      member(1),
      member(2, { ipFamilies: ['IPv4', 'IPv6'] }),
      member(3, { ipFamilies: ['IPv6'] }),
    );
    expect(sharedLoadBalancers.map(({ members }) => members.map(({ uid }) => uid)).sort()).toEqual([['uid-1', 'uid-2'], ['uid-3']]);
    expect(sharedLoadBalancers.map(({ settings }) => settings.ipAddressType)).toEqual(['dualstack', 'dualstack']);
  });

  test('a Classic load balancer is not shared', () => {
    const problems = provider.validate(member(1, { aws: { type: 'Classic' } }).spec);
    expect(problems).toMatchObject([{ severity: 'Error', field: 'spec.placement' }]);
    expect(provider.validate(member(1).spec)).toEqual([]);
  });
});

function listenerTo(targetGroupArn: string, name: string): DiscoveredResource {
  const inputs = { loadBalancerArn: 'arn:lb', defaultActions: [{ type: 'forward', targetGroupArn }] };
  return { type: 'aws:lb/listener:Listener', name, id: `arn:listener/${name}`, inputs, outputs: {} };
}
