import * as fc from 'fast-check';
import { azureLoadBalancer } from '../../../crds';
import { ANNOTATION_PREFIX, PORT_PREFIX } from '../../../providers/azure/annotations/annotation';
import { ANNOTATIONS, OF_PORTS, WITHOUT_EFFECT } from '../../../providers/azure/annotations/annotation-table';
import { compile } from '../../../providers/azure/annotations/annotations';
import type { Compiled, ServiceFacts } from '../../../providers/provider';

const ports = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'https', port: 443, protocol: 'TCP' },
];
const SUBSCRIPTION = '0a1b2c3d-1111-4222-8333-444455556666';
const PREFIX = `/subscriptions/${SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network/publicIPPrefixes/out`;

/** Compiles annotations whose names are given without the prefix; those of ports begin with their number. */
function compiled(annotations: Record<string, string>, service: ServiceFacts = { ports }): Compiled {
  return compile(withPrefix(annotations), service);
}

function withPrefix(annotations: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).map(([name, text]) => [keyOf(name), text]));
}

function keyOf(name: string): string {
  return (/^\d/.test(name) ? PORT_PREFIX : ANNOTATION_PREFIX) + name;
}

interface Row {
  name: string;
  /** What else must be there for it to mean something. */
  beside?: Record<string, string>;
  good: string;
  /** What the block then is. */
  block: object;
  scheme?: string;
  /** Absent where every text can be read, as upstream has it. */
  bad?: string;
}

const internal = { 'load-balancer-internal': 'true' };
const link = { ...internal, 'pls-create': 'true' };

const ROWS: Row[] = [
  { name: 'load-balancer-internal', good: 'True', block: {}, scheme: 'Internal' },
  {
    name: 'load-balancer-internal-subnet',
    beside: internal,
    good: 'apps',
    block: { subnetName: 'apps' },
    scheme: 'Internal',
    bad: 'a b',
  },
  { name: 'load-balancer-ipv4', good: '20.1.2.3', block: { ipv4Address: '20.1.2.3' }, bad: 'fd00::1' },
  { name: 'load-balancer-ipv6', good: 'fd00::1', block: { ipv6Address: 'fd00::1' }, bad: '20.1.2.3' },
  { name: 'load-balancer-configurations', good: 'LB-1, lb-2', block: { configurations: ['lb-1', 'lb-2'] }, bad: 'a b' },
  { name: 'load-balancer-resource-group', good: 'net.(a)', block: { publicIP: { resourceGroup: 'net.(a)' } }, bad: 'a/b' },
  { name: 'pip-name', good: 'web', block: { publicIP: { ipv4Name: 'web' } }, bad: '-web' },
  { name: 'pip-name-ipv6', good: 'web-6', block: { publicIP: { ipv6Name: 'web-6' } }, bad: 'web/6' },
  { name: 'pip-prefix-id', good: PREFIX, block: { publicIP: { ipv4PrefixID: PREFIX } }, bad: 'out' },
  { name: 'pip-prefix-id-ipv6', good: PREFIX, block: { publicIP: { ipv6PrefixID: PREFIX } }, bad: '/subscriptions/x' },
  { name: 'pip-tags', good: 'a=b,c=d=e', block: { publicIP: { tags: { a: 'b', c: 'd=e' } } }, bad: '=b' },
  {
    name: 'pip-ip-tags',
    good: 'RoutingPreference=Internet',
    block: { publicIP: { ipTags: { RoutingPreference: 'Internet' } } },
    bad: '=b',
  },
  { name: 'dns-label-name', good: 'shop', block: { publicIP: { dnsLabel: 'shop' } }, bad: 'Shop' },
  {
    name: 'additional-public-ips',
    good: '20.1.2.3,2603:1030::1',
    block: { access: { additionalAddresses: ['20.1.2.3', '2603:1030::1'] } },
    bad: 'shop.example',
  },
  {
    name: 'allowed-service-tags',
    good: 'AzureCloud, Storage.WestEurope',
    block: { access: { serviceTags: ['AzureCloud', 'Storage.WestEurope'] } },
    bad: 'a b',
  },
  { name: 'allowed-ip-ranges', good: '10.0.0.0/8,fd00::/8', block: { access: { ranges: ['10.0.0.0/8', 'fd00::/8'] } }, bad: '10.0.0.0/33' },
  { name: 'deny-all-except-load-balancer-source-ranges', good: 'true', block: { access: { denyOthers: true } } },
  { name: 'disable-load-balancer-nsg-rule', good: 'true', block: { access: { rules: 'None' } } },
  { name: 'load-balancer-tcp-idle-timeout', good: '100', block: { idleTimeoutMinutes: 100 }, bad: '101' },
  {
    name: 'load-balancer-enable-high-availability-ports',
    beside: internal,
    good: 'true',
    block: { allPorts: true },
    scheme: 'Internal',
  },
  { name: 'load-balancer-disable-tcp-reset', good: 'true', block: { tcpReset: false } },
  { name: 'disable-load-balancer-floating-ip', good: 'true', block: { floatingIP: false } },
  { name: 'load-balancer-health-probe-protocol', good: 'Https', block: { probe: { protocol: 'HTTPS' } }, bad: 'udp' },
  { name: 'load-balancer-health-probe-interval', good: '59', block: { probe: { intervalSeconds: 59 } }, bad: '4' },
  { name: 'load-balancer-health-probe-num-of-probe', good: '23', block: { probe: { threshold: 23 } }, bad: '1' },
  { name: 'load-balancer-health-probe-request-path', good: '/ready', block: { probe: { path: '/ready' } } },
  { name: 'pls-create', beside: internal, good: 'true', block: { privateLink: {} }, scheme: 'Internal' },
  { name: 'pls-name', beside: link, good: 'shop', block: { privateLink: { name: 'shop' } }, scheme: 'Internal', bad: 'a b' },
  {
    name: 'pls-resource-group',
    beside: link,
    good: 'links',
    block: { privateLink: { resourceGroup: 'links' } },
    scheme: 'Internal',
    bad: 'a/b',
  },
  {
    name: 'pls-ip-configuration-subnet',
    beside: link,
    good: 'links',
    block: { privateLink: { subnetName: 'links' } },
    scheme: 'Internal',
    bad: 'a b',
  },
  {
    name: 'pls-ip-configuration-ip-address-count',
    beside: link,
    good: '8',
    block: { privateLink: { addressCount: 8 } },
    scheme: 'Internal',
    bad: '9',
  },
  {
    name: 'pls-ip-configuration-ip-address',
    beside: { ...link, 'pls-ip-configuration-ip-address-count': '2' },
    good: '10.0.0.5 10.0.0.6',
    block: { privateLink: { addressCount: 2, addresses: ['10.0.0.5', '10.0.0.6'] } },
    scheme: 'Internal',
    bad: 'fd00::1',
  },
  {
    name: 'pls-fqdns',
    beside: link,
    good: 'a.example  b.example a.example',
    block: { privateLink: { fqdns: ['a.example', 'b.example'] } },
    scheme: 'Internal',
    bad: 'a_b',
  },
  { name: 'pls-proxy-protocol', beside: link, good: 'true', block: { privateLink: { proxyProtocol: true } }, scheme: 'Internal' },
  { name: 'pls-visibility', beside: link, good: '*', block: { privateLink: { visibility: ['*'] } }, scheme: 'Internal', bad: 'me' },
  {
    name: 'pls-auto-approval',
    beside: { ...link, 'pls-visibility': `${SUBSCRIPTION} *` },
    good: SUBSCRIPTION,
    block: { privateLink: { visibility: [SUBSCRIPTION, '*'], autoApproval: [SUBSCRIPTION] } },
    scheme: 'Internal',
    bad: 'me',
  },
  { name: '443_no_lb_rule', good: 'true', block: { ports: [{ port: 443, rule: false }] } },
  { name: '443_no_probe_rule', good: 'true', block: { ports: [{ port: 443, probe: false }] } },
  { name: '80_health-probe_protocol', good: 'HTTP', block: { ports: [{ port: 80, protocol: 'HTTP' }] }, bad: 'grpc' },
  { name: '80_health-probe_port', good: 'https', block: { ports: [{ port: 80, probePort: 'https' }] }, bad: 'a/b' },
  { name: '80_health-probe_interval', good: '10', block: { ports: [{ port: 80, intervalSeconds: 10 }] }, bad: 'x' },
  { name: '80_health-probe_num-of-probe', good: '3', block: { ports: [{ port: 80, threshold: 3 }] }, bad: '0' },
  { name: '80_health-probe_request-path', good: '/p', block: { ports: [{ port: 80, path: '/p' }] } },
];

const read = ROWS.filter(({ bad }) => bad !== undefined) as (Row & { bad: string })[];

describe('annotations of Azure', () => {
  test('every one has a row here', () => {
    const names = [...ANNOTATIONS.map(({ name }) => name), ...OF_PORTS.map(({ name }) => name)];
    expect([...new Set(ROWS.map(({ name }) => name.replace(/^\d+_/, '')))].sort()).toEqual(names.sort());
  });

  test.each(ROWS)('$name: "$good"', ({ name, beside = {}, good, block, scheme }) => {
    const result = compiled({ ...beside, [name]: ` ${good} ` });
    expect(result.problems).toEqual([]);
    expect(result.block).toEqual(block);
    expect(result.core?.scheme).toBe(scheme);
    expect(azureLoadBalancer.safeParse(result.block).success).toBe(true);
  });

  test.each(read)('$name: "$bad" is refused, and sets nothing', ({ name, beside = {}, bad }) => {
    const without = compiled(beside);
    const { block, problems } = compiled({ ...beside, [name]: bad });
    expect(problems).toMatchObject([{ severity: 'Error', field: keyOf(name), value: bad }]);
    expect(problems[0]?.message).toMatch(/ Write .+\.$/);
    expect(block).toEqual(without.block);
  });

  test.each(ROWS.filter(({ beside }) => beside?.['pls-create'] !== undefined))(
    '$name says nothing without pls-create',
    ({ name, good }) => {
      const { block, problems } = compiled({ ...internal, [name]: good });
      expect(block).toEqual({});
      expect(problems).toMatchObject([{ severity: 'Warning', field: keyOf(name) }]);
    },
  );

  test.each([
    ['load-balancer-internal-subnet', 'apps', {}],
    ['load-balancer-enable-high-availability-ports', 'true', {}],
    ['pip-name', 'web', internal],
    ['dns-label-name', 'shop', internal],
  ])('%s is for the other scheme', (name, text, beside) => {
    const { block, problems } = compiled({ ...beside, [name]: text });
    expect(block).toEqual({});
    expect(problems).toMatchObject([{ severity: 'Warning', field: keyOf(name) }]);
  });

  test('what is not true is false, as upstream has it, and is warned of', () => {
    const { block, problems, core } = compiled({ 'load-balancer-internal': '1', 'disable-load-balancer-floating-ip': 'yes' });
    expect(core).toEqual({ scheme: 'Public' });
    expect(block).toEqual({ floatingIP: true });
    expect(problems.map(({ severity }) => severity)).toEqual(['Warning', 'Warning']);
    expect(compiled({ 'load-balancer-internal': 'FALSE' }).problems).toEqual([]);
  });

  test('settings of several ports are in the order of the ports, and one that the Service has not is warned of', () => {
    const { block, problems } = compiled({ '443_no_lb_rule': 'true', '80_health-probe_interval': '7', '8080_no_lb_rule': 'true' });
    expect(block.ports).toEqual([
      { port: 80, intervalSeconds: 7 },
      { port: 443, rule: false },
    ]);
    expect(problems).toMatchObject([{ severity: 'Warning', field: keyOf('8080_no_lb_rule') }]);
  });

  const long: [string, Record<string, string>, string, object][] = [
    [
      'of all ports',
      { 'load-balancer-health-probe-interval': '60', 'load-balancer-health-probe-num-of-probe': '2' },
      'load-balancer-health-probe-interval',
      { probe: {} },
    ],
    [
      'with the count that is nobody’s',
      { 'load-balancer-health-probe-interval': '60' },
      'load-balancer-health-probe-interval',
      { probe: {} },
    ],
    [
      'with what a port has of all ports',
      { 'load-balancer-health-probe-interval': '50', '80_health-probe_num-of-probe': '3' },
      '80_health-probe_num-of-probe',
      { probe: { intervalSeconds: 50 }, ports: [{ port: 80 }] },
    ],
  ];

  test.each(long)('checks that take two minutes are refused: %s', (_name, annotations, field, block) => {
    const result = compiled(annotations);
    expect(result.problems).toMatchObject([{ severity: 'Error', field: keyOf(field) }]);
    expect(result.block).toEqual(block);
  });

  test('a port’s own checks stand where those of all ports are too long', () => {
    const { problems } = compiled({
      'load-balancer-health-probe-interval': '50',
      'load-balancer-health-probe-num-of-probe': '2',
      '80_health-probe_num-of-probe': '2',
    });
    expect(problems).toEqual([]);
  });

  test('an address that is named is taken from no prefix', () => {
    const { block, problems } = compiled({ 'pip-name': 'web', 'pip-prefix-id': PREFIX });
    expect(problems).toMatchObject([{ severity: 'Error', field: keyOf('pip-prefix-id') }]);
    expect(block).toEqual({ publicIP: { ipv4Name: 'web' } });
  });

  test('a Private Link Service needs an internal load balancer, or one without floating IP', () => {
    expect(compiled({ 'pls-create': 'true' })).toMatchObject({ block: {}, problems: [{ severity: 'Error', field: keyOf('pls-create') }] });
    const { block, problems } = compiled({ 'pls-create': 'true', 'disable-load-balancer-floating-ip': 'true' });
    expect([block, problems]).toEqual([{ floatingIP: false, privateLink: {} }, []]);
  });

  test('a range that lets in more than is written is refused, with what it would be', () => {
    const { block, problems } = compiled({ 'allowed-ip-ranges': '10.0.0.5/8' });
    const message = expect.stringContaining('"10.0.0.5/8" has bits beyond its mask, without which it is 10.0.0.0/8') as string;
    expect([block, problems]).toEqual([{}, [expect.objectContaining({ severity: 'Error', field: keyOf('allowed-ip-ranges'), message })]]);
  });

  test('it has as many addresses as it is given', () => {
    const { block, problems } = compiled({ ...link, 'pls-ip-configuration-ip-address': '10.0.0.5 10.0.0.6' });
    expect(problems).toMatchObject([{ severity: 'Error', field: keyOf('pls-ip-configuration-ip-address') }]);
    expect(block).toEqual({ privateLink: {} });
  });

  test('whoever does not see it is not approved', () => {
    const { block, problems } = compiled({ ...link, 'pls-auto-approval': SUBSCRIPTION });
    expect(problems).toMatchObject([{ severity: 'Warning', field: keyOf('pls-auto-approval') }]);
    expect(block).toEqual({ privateLink: {} });
  });

  test.each(Object.keys(WITHOUT_EFFECT))('%s has no effect, and says why', (name) => {
    expect(compiled({ [name]: 'x' })).toMatchObject({ block: {}, problems: [{ severity: 'Warning', field: keyOf(name) }] });
  });

  test('unknown ones are warned of, with the one that was meant', () => {
    expect(compiled({ 'pip-nmae': 'web' }).problems).toMatchObject([{ severity: 'Warning' }]);
    expect(compiled({ 'pip-nmae': 'web' }).problems[0]?.message).toMatch(/Did you mean .*azure-pip-name\?/);
    expect(compiled({ 'load-balancer-colour': 'x' }).problems[0]?.message).toMatch(/use one of .*load-balancer-internal/);
    expect(compiled({ '80_health-probe': 'x' }).problems[0]?.message).toMatch(/port_<port>_ with one of no_lb_rule/);
    expect(compile({ 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb', other: 'x' })).toEqual({ block: {}, problems: [] });
  });

  test('an empty one counts as absent', () => {
    expect(compiled({ 'pip-name': ' ', '80_no_lb_rule': '' })).toEqual({ block: {}, problems: [] });
  });

  test('whatever is written, nothing throws, and the kind’s schema takes what comes out', () => {
    const names = [...ANNOTATIONS.map(({ name }) => name), ...OF_PORTS.map(({ name }) => `80_${name}`), ...Object.keys(WITHOUT_EFFECT)];
    const texts = [...ROWS.flatMap(({ good, bad = '' }) => [good, bad]), 'true', 'false', '5', '119', ''];
    const annotations = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...texts), fc.string()), { maxKeys: 12 });
    fc.assert(
      fc.property(annotations, (given) => {
        const { block, problems } = compiled(given);
        const parsed = azureLoadBalancer.safeParse(block);
        expect(parsed.error?.issues ?? []).toEqual([]);
        for (const { message } of problems) expect(message).toMatch(/\.$|\?$/);
      }),
      { numRuns: 300 },
    );
  });
});
