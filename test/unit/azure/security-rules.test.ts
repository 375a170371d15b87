import { createHash } from 'node:crypto';
import { securityRules, type SecurityRulesInputs } from '../../../providers/azure/resources/security-rules';
import { mergedRules, sameRules } from '../../../providers/azure/security-groups/merge';
import { ruleNameOf, type SecurityRule, type WantedRule } from '../../../providers/azure/security-groups/security-rule';
import { rulesOfStack } from '../../../providers/azure/security-groups/rules-of-stack';
import { type AccessSpec, wantedRules } from '../../../providers/azure/security-groups/wanted-rules';

const listeners: AccessSpec['listeners'] = [
  { name: 'https', protocol: 'TCP', port: 443, nodePort: 30443 },
  { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 },
];
const open: AccessSpec = { listeners, scheme: 'Public' };
const internal: AccessSpec = { listeners, scheme: 'Internal' };
const V4 = '20.1.0.1';
const V6 = '2603:1030::1';

/** Who may come to which ports, in few words. */
function brief(rules: WantedRule[]): string[] {
  return rules.map(({ access, family, protocol, sources, ports = [], destinations }) =>
    [access, family, protocol, sources.join('+'), ports.join('+'), destinations.join('+')].join(' '),
  );
}

describe('wantedRules', () => {
  const rows: [string, AccessSpec, string[], string[]][] = [
    ['everybody, to a public one', open, [V4], [`Allow IPv4 Tcp Internet 80+443 ${V4}`]],
    ['nobody from outside, to an internal one', internal, ['10.0.0.9'], []],
    [
      'an internal one that names everybody',
      { ...internal, sourceRanges: ['0.0.0.0/0'] },
      ['10.0.0.9'],
      ['Allow IPv4 Tcp Internet 80+443 10.0.0.9', 'Allow IPv4 Tcp 0.0.0.0/0 80+443 10.0.0.9'],
    ],
    [
      'source ranges, and not everybody beside them',
      { ...open, sourceRanges: ['203.0.113.0/24', '198.51.100.0/24'] },
      [V4],
      [`Allow IPv4 Tcp 198.51.100.0/24+203.0.113.0/24 80+443 ${V4}`],
    ],
    [
      'ranges within others, twice, or side by side as one (cloud-provider-azure#6775)',
      { ...open, azure: { access: { ranges: ['10.0.0.0/8', '10.0.0.0/16', '192.168.1.0/24', '192.168.0.0/24', '10.0.0.0/8'] } } },
      [V4],
      [`Allow IPv4 Tcp 10.0.0.0/8+192.168.0.0/23 80+443 ${V4}`],
    ],
    [
      'four side by side, and the same of IPv6',
      {
        ...open,
        sourceRanges: ['9.0.0.3/32', '9.0.0.0/32', '9.0.0.2/32', '9.0.0.1/32', '2001:db8:0:1::/64', '2001:DB8::/64', '2001:db8::5/128'],
      },
      [V4, V6],
      [`Allow IPv4 Tcp 9.0.0.0/30 80+443 ${V4}`, `Allow IPv6 Tcp 2001:db8::/63 80+443 ${V6}`],
    ],
    [
      'ranges that touch, but are no halves of one',
      { ...open, sourceRanges: ['10.0.2.0/24', '10.0.1.0/24', '10.0.3.0/25'] },
      [V4],
      [`Allow IPv4 Tcp 10.0.1.0/24+10.0.2.0/24+10.0.3.0/25 80+443 ${V4}`],
    ],
    [
      'ranges without what stands beyond their masks, as Azure wants them',
      { ...open, sourceRanges: ['50.206.209.68/27', '2001:db8::1/32'] },
      [V4, V6],
      [`Allow IPv4 Tcp 50.206.209.64/27 80+443 ${V4}`, `Allow IPv6 Tcp 2001:db8::/32 80+443 ${V6}`],
    ],
    [
      'both halves of everybody are everybody',
      { ...open, sourceRanges: ['0.0.0.0/1', '128.0.0.0/1'] },
      [V4],
      [`Allow IPv4 Tcp Internet 80+443 ${V4}`, `Allow IPv4 Tcp 0.0.0.0/0 80+443 ${V4}`],
    ],
    [
      'ranges of the annotation',
      { ...open, azure: { access: { ranges: ['203.0.113.0/24'] } } },
      [V4],
      [`Allow IPv4 Tcp 203.0.113.0/24 80+443 ${V4}`],
    ],
    [
      'service tags, each by itself, and not everybody beside them (cloud-provider-azure#337)',
      { ...open, azure: { access: { serviceTags: ['AzureCloud', 'Storage'] } } },
      [V4],
      [`Allow IPv4 Tcp AzureCloud 80+443 ${V4}`, `Allow IPv4 Tcp Storage 80+443 ${V4}`],
    ],
    [
      'tags and ranges together',
      { ...open, sourceRanges: ['203.0.113.0/24'], azure: { access: { serviceTags: ['Storage'] } } },
      [V4],
      [`Allow IPv4 Tcp Storage 80+443 ${V4}`, `Allow IPv4 Tcp 203.0.113.0/24 80+443 ${V4}`],
    ],
    [
      'both families, each with its own ranges',
      { ...open, sourceRanges: ['203.0.113.0/24', '2001:db8::/32'] },
      [V4, V6],
      [`Allow IPv4 Tcp 203.0.113.0/24 80+443 ${V4}`, `Allow IPv6 Tcp 2001:db8::/32 80+443 ${V6}`],
    ],
    [
      'everybody of one family is nobody of the other',
      { ...open, sourceRanges: ['203.0.113.0/24', '::/0'] },
      [V4, V6],
      [`Allow IPv4 Tcp 203.0.113.0/24 80+443 ${V4}`, `Allow IPv6 Tcp Internet 80+443 ${V6}`, `Allow IPv6 Tcp ::/0 80+443 ${V6}`],
    ],
    ['and the reverse', { ...open, sourceRanges: ['0.0.0.0/0'] }, [V6], []],
    [
      'narrower ranges and service tags do not stand beside everybody',
      { ...open, sourceRanges: ['203.0.113.0/24', '0.0.0.0/0'], azure: { access: { serviceTags: ['Storage'] } } },
      [V4, V6],
      [`Allow IPv4 Tcp Internet 80+443 ${V4}`, `Allow IPv4 Tcp 0.0.0.0/0 80+443 ${V4}`, `Allow IPv6 Tcp Storage 80+443 ${V6}`],
    ],
    ['a family without a range of its own is let in by nobody', { ...open, sourceRanges: ['203.0.113.0/24'] }, [V6], []],
    [
      'others in the network are kept out where ranges are named',
      { ...open, sourceRanges: ['203.0.113.0/24'], azure: { access: { denyOthers: true } } },
      [V4],
      [`Allow IPv4 Tcp 203.0.113.0/24 80+443 ${V4}`, `Deny IPv4 * *  ${V4}`],
    ],
    ['and nobody where none are', { ...open, azure: { access: { denyOthers: true } } }, [V4], [`Allow IPv4 Tcp Internet 80+443 ${V4}`]],
    ['no rules where they are made by hand', { ...open, azure: { access: { rules: 'None' } } }, [V4], []],
    [
      'node ports where floating IP is off',
      { ...open, azure: { floatingIP: false } },
      ['10.0.0.4'],
      ['Allow IPv4 Tcp Internet 30080+30443 10.0.0.4'],
    ],
    [
      'addresses of a load balancer in front',
      { ...open, azure: { access: { additionalAddresses: ['20.9.0.1'] } } },
      [V4],
      [`Allow IPv4 Tcp Internet 80+443 ${V4}+20.9.0.1`],
    ],
    [
      'protocols by themselves, SCTP as any',
      {
        scheme: 'Public',
        listeners: [
          { name: 'd', protocol: 'UDP', port: 53, nodePort: 30053 },
          { name: 's', protocol: 'SCTP', port: 9, nodePort: 30009 },
          { name: 't', protocol: 'TCP', port: 53, nodePort: 30054 },
        ],
      },
      [V4],
      [`Allow IPv4 Tcp Internet 53 ${V4}`, `Allow IPv4 Udp Internet 53 ${V4}`, `Allow IPv4 * Internet 9 ${V4}`],
    ],
    ['nothing while there is no address', open, [], []],
  ];

  test.each(rows)('%s', (_name, spec, destinations, rules) => {
    expect(brief(wantedRules(spec, destinations))).toEqual(rules);
  });
});

test('nobody lets in to the frontend of another load balancer of the stack; all may name what stands in front of them', () => {
  const listeners = [{ name: 'http', protocol: 'TCP' as const, port: 80, nodePort: 30080 }];
  const access = (additionalAddresses: string[]): AccessSpec => ({
    scheme: 'Public',
    listeners,
    azure: { access: { additionalAddresses } },
  });
  const closed = { frontends: ['a'], nodeFamilies: [], access: { ...access(['20.9.0.1']), sourceRanges: ['203.0.113.0/24'] } };
  const nosy = { frontends: ['b'], nodeFamilies: [], access: access([V4, '20.9.0.1']) };
  const ofFrontends = { a: V4, b: '20.1.0.2', c: '' };
  expect(brief(rulesOfStack([closed, nosy], { ofFrontends, ofNodes: [] })).sort()).toEqual([
    `Allow IPv4 Tcp 203.0.113.0/24 80 ${V4}+20.9.0.1`,
    'Allow IPv4 Tcp Internet 80 20.1.0.2+20.9.0.1',
  ]);
  // Two that share an address are both let in.
  expect(brief(rulesOfStack([{ ...nosy, frontends: ['a'] }], { ofFrontends, ofNodes: [] }))).toEqual([
    `Allow IPv4 Tcp Internet 80 ${V4}+20.9.0.1`,
  ]);
});

describe('the security group', () => {
  const http = (destinations: string[], sources = ['Internet']): WantedRule => ({
    access: 'Allow',
    family: 'IPv4',
    protocol: 'Tcp',
    sources,
    ports: [443, 80],
    destinations,
  });
  const deny = (destinations: string[]): WantedRule => ({ access: 'Deny', family: 'IPv4', protocol: '*', sources: ['*'], destinations });
  const foreign: SecurityRule = {
    name: 'ssh',
    properties: {
      priority: 500,
      direction: 'Inbound',
      access: 'Allow',
      protocol: 'Tcp',
      sourceAddressPrefix: '*',
      destinationAddressPrefix: V4,
      destinationPortRange: '22',
    },
  };

  test('rules bear upstream’s names', () => {
    const hash = createHash('md5').update('Tcp_Internet_443,80').digest('hex');
    expect(ruleNameOf(http([V4]))).toBe(`k8s-azure-lb_allow_IPv4_${hash}`);
    expect(ruleNameOf(deny([V4]))).toBe('k8s-azure-lb_deny-all_IPv4');
    expect(ruleNameOf(http([V4], ['b', 'a']))).toBe(ruleNameOf(http(['20.1.0.2'], ['a', 'b'])));
  });

  test('what is wanted is made: allowing from 500 on, denying from the other end; foreign rules stay as they are', () => {
    const rules = mergedRules([foreign], [http([V4]), http([V4], ['10.0.0.0/8', '9.0.0.0/8']), deny([V4])], { everywhere: [] });
    expect(rules[0]).toBe(foreign);
    expect(rules.map(({ properties }) => properties.priority)).toEqual([500, 501, 502, 4095]);
    expect(rules[1]?.properties).toEqual({
      priority: 501,
      direction: 'Inbound',
      access: 'Allow',
      protocol: 'Tcp',
      sourcePortRange: '*',
      sourceAddressPrefix: 'Internet',
      destinationAddressPrefix: V4,
      destinationPortRanges: ['443', '80'],
    });
    expect(rules[2]?.properties.sourceAddressPrefixes).toEqual(['10.0.0.0/8', '9.0.0.0/8']);
    expect(rules[3]?.properties).toMatchObject({ access: 'Deny', sourceAddressPrefix: '*', destinationPortRange: '*' });
  });

  test('Services share a rule, and one of upstream’s by the same name is joined', () => {
    const upstream = mergedRules([], [http(['20.7.0.1'])], { everywhere: [] });
    const joined = mergedRules(upstream, [http([V4])], { everywhere: [] });
    expect(joined).toHaveLength(1);
    expect(joined[0]?.properties).toMatchObject({ priority: 500, destinationAddressPrefixes: [V4, '20.7.0.1'] });
    expect(mergedRules(joined, [], { everywhere: [V4] })).toEqual(upstream);
  });

  test('an address in front is ours only in our own rules: those of the load balancer that answers at it stay', () => {
    const theirs = mergedRules([], [http([V4])], { everywhere: [] });
    const other = { ...http(['10.0.0.5', V4]), ports: [8080] };
    const ours = { name: ruleNameOf(other), ...other };
    const wanted: SecurityRulesInputs = {
      networkSecurityGroupId: 'sg',
      rules: [ours],
      additionalAddresses: [V4],
      ...{ rulesPerSecurityGroup: 9, addressesPerSecurityGroup: 9 },
    };
    const opened = securityRules.merged({ securityRules: theirs as never }, wanted, []);
    expect(opened?.securityRules).toMatchObject([theirs[0], { properties: { destinationAddressPrefixes: ['10.0.0.5', V4] } }]);
    expect(securityRules.merged(opened ?? {}, undefined, [wanted])).toEqual({ securityRules: theirs });
  });

  test('what is not wanted any more goes, and with its last destination the rule', () => {
    const rules = mergedRules([foreign], [http([V4, '20.1.0.2']), deny([V4])], { everywhere: [] });
    const fewer = mergedRules(rules, [http(['20.1.0.2'])], { everywhere: [V4, '20.1.0.2'] });
    expect(fewer.map(({ name }) => name)).toEqual(['ssh', ruleNameOf(http([V4]))]);
    expect(fewer[1]?.properties).toMatchObject({ priority: 501, destinationAddressPrefix: '20.1.0.2' });
    expect(fewer[1]?.properties).not.toHaveProperty('destinationAddressPrefixes');
    expect(mergedRules(fewer, [], { everywhere: ['20.1.0.2'] })).toEqual([foreign]);
  });

  test('a rule of the name that is not within upstream’s priorities is nobody’s that shares', () => {
    const odd: SecurityRule = { ...foreign, name: ruleNameOf(http([V4])), properties: { ...foreign.properties, priority: 100 } };
    expect(mergedRules([odd], [], { everywhere: [V4] })).toEqual([odd]);
  });

  test('what somebody has changed of a rule is put right, with its priority and everybody’s destinations', () => {
    const rules = mergedRules([], [http([V4, '20.7.0.1'])], { everywhere: [] });
    const changes: Partial<SecurityRule['properties']>[] = [
      { access: 'Deny' },
      { destinationPortRanges: ['443'] },
      { sourceAddressPrefix: '10.0.0.0/8' },
      { protocol: '*' },
    ];
    for (const change of changes) {
      const changed = rules.map((rule) => ({ ...rule, properties: { ...rule.properties, ...change } }));
      expect(sameRules(changed, rules)).toBe(false);
      expect(mergedRules(changed, [http([V4])], { everywhere: [V4] })).toEqual(rules);
    }
  });

  test('merging again changes nothing', () => {
    const wanted = [http([V4]), deny([V4])];
    const rules = mergedRules([foreign], wanted, { everywhere: [] });
    const again = mergedRules(rules, wanted, { everywhere: [V4] });
    expect(sameRules(rules, again)).toBe(true);
    expect(sameRules(rules, mergedRules(rules, [http([V4])], { everywhere: [V4] }))).toBe(false);
  });

  test.each([
    ['rules', { rulesPerSecurityGroup: 1, addressesPerSecurityGroup: 9 }, /2 rules, and may have 1/],
    ['sources', { rulesPerSecurityGroup: 9, addressesPerSecurityGroup: 3 }, /4 sources in its rules, and may have 3/],
    ['destinations', { rulesPerSecurityGroup: 9, addressesPerSecurityGroup: 2 }, /3 destinations in its rules, and may have 2/],
  ])('more %s than it can hold are refused with the figures, and one less is not', (what, limits, message) => {
    const wanted = [http([V4, '20.1.0.2'], what === 'sources' ? ['10.0.0.0/8', '9.0.0.0/8', '8.0.0.0/8'] : ['Internet'])];
    const merged = (more: number): unknown => {
      const { rulesPerSecurityGroup: rules, addressesPerSecurityGroup: addresses } = limits;
      const raised = { rulesPerSecurityGroup: rules + more, addressesPerSecurityGroup: addresses + more };
      return mergedRules([foreign], wanted, { everywhere: [] }, raised);
    };
    expect(() => merged(0)).toThrow(message);
    expect(() => merged(0)).toThrow(expect.objectContaining({ code: 'Quota' }) as Error);
    expect(merged(1)).toHaveLength(2);
  });

  test('where all of upstream’s priorities are others’, that is said; the last one that is free is taken', () => {
    const others = Array.from({ length: 4096 - 500 }, (_, index): SecurityRule => ({
      name: `theirs-${index}`,
      properties: { ...foreign.properties, priority: 500 + index },
    }));
    const limits = { rulesPerSecurityGroup: 5000, addressesPerSecurityGroup: 5000 };
    const priorities = (existing: SecurityRule[], wanted: WantedRule[]): unknown[] =>
      mergedRules(existing, wanted, { everywhere: [] }, limits)
        .slice(existing.length)
        .map(({ properties }) => properties.priority);
    for (const rule of [http([V4]), deny([V4])]) {
      expect(() => priorities(others, [rule])).toThrow(/no priority from 500 to 4095 is free\. Delete Services or rules/);
      expect(() => priorities(others, [rule])).toThrow(expect.objectContaining({ code: 'Quota' }) as Error);
      expect(priorities(others.toSpliced(1234, 1), [rule])).toEqual([1734]);
    }
    expect(() => priorities(others.toSpliced(1234, 1), [http([V4]), deny([V4])])).toThrow(/no priority/);
  });

  test('what is too much already may become less', () => {
    const rules = mergedRules([foreign], [http([V4, '20.1.0.2', '20.1.0.3'])], { everywhere: [] });
    const limits = { rulesPerSecurityGroup: 1, addressesPerSecurityGroup: 1 };
    expect(mergedRules(rules, [http([V4])], { everywhere: ['20.1.0.2', '20.1.0.3'] }, limits)).toHaveLength(2);
  });
});
