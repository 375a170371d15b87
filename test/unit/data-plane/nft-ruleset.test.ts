import { rulesetOf, scriptFor, type PassthroughListener } from '../../../providers/local/cloud/data-plane/vpc/nft-ruleset';

const HTTP: PassthroughListener = {
  ip: '10.208.0.2',
  protocol: 'TCP',
  port: 80,
  sourceRanges: [],
  affinityMs: 0,
  fresh: [1001, 1002],
  kept: [1003],
};
const NOTHING = rulesetOf([]);

const rulesOf = (listener: PassthroughListener): string[] => {
  const { chains } = rulesetOf([listener]);
  return [...chains].find(([name]) => name.length > 'prerouting'.length)?.[1] ?? [];
};

test('what is known goes on to its target, what is new takes turns, what has lost its target is reset', () => {
  expect(rulesOf(HTTP)).toEqual([
    'ct mark { 1001, 1002, 1003 } meta mark set ct mark return',
    'ct mark != 0 reject with tcp reset',
    'ct mark 0 meta mark set numgen inc mod 2 offset 1',
    'ct mark 0 meta mark 1 ct mark set 1001',
    'ct mark 0 meta mark 2 ct mark set 1002',
    'meta mark set ct mark',
  ]);
});

test.each<[string, Partial<PassthroughListener>, string[]]>([
  ['of its family', { sourceRanges: ['192.0.2.0/24', '2001:db8::/32'] }, ['ip saddr 192.0.2.0/24']],
  ['of the other family alone', { sourceRanges: ['2001:db8::/32'] }, []],
  ['of IPv6', { ip: 'fd00::2', sourceRanges: ['2001:db8::/32', 'fd00::/8'] }, ['ip6 saddr 2001:db8::/32', 'ip6 saddr fd00::/8']],
])('clients from ranges %s go on to the targets, all others are refused', (_what, changes, ranges) => {
  const { chains } = rulesetOf([{ ...HTTP, ...changes }]);
  const [targets = ''] = [...chains.keys()].filter((name) => /^l[0-9a-f]{12}$/.test(name));
  expect(chains.get(`${targets}_from`)).toEqual([...ranges.map((range) => `${range} goto ${targets}`), 'reject with tcp reset']);
  expect(chains.get('prerouting')?.[0]).toMatch(new RegExp(`goto ${targets}_from$`));
});

test('no rule looks into a map or a set of ranges, whose entries a packet can miss while the rules are replaced', () => {
  const { chains } = rulesetOf([HTTP, { ...HTTP, protocol: 'UDP', port: 53, affinityMs: 1000, sourceRanges: ['192.0.2.0/24'] }]);
  expect([...chains.values()].flat().filter((rule) => /\bv?map\b|addr[^@]*\{/.test(rule))).toEqual([]);
  expect(chains.get('prerouting')).toEqual([
    expect.stringMatching(/^ct direction original ip daddr 10\.208\.0\.2 tcp dport 80 goto l[0-9a-f]{12}$/),
    expect.stringMatching(/^ct direction original ip daddr 10\.208\.0\.2 udp dport 53 goto l[0-9a-f]{12}_from$/),
  ]);
});

test.each<[string, Partial<PassthroughListener>, string]>([
  ['without targets', { fresh: [], kept: [] }, 'reject with tcp reset'],
  ['UDP without targets', { protocol: 'UDP', fresh: [] }, 'drop'],
  ['UDP whose target is gone', { protocol: 'UDP' }, 'ct mark != 0 ct mark set 0'],
])('%s', (_what, changes, rule) => {
  expect(rulesOf({ ...HTTP, ...changes })).toContain(rule);
});

test('clients’ bonds outlive a change of the members: only the set of the target that left goes', () => {
  const bound = { ...HTTP, affinityMs: 1000, kept: [] };
  const before = rulesetOf([bound]);
  const after = rulesetOf([{ ...bound, fresh: [1002, 1004] }]);
  const deleted = scriptFor(before, after).match(/^delete .*$/gm) ?? [];
  expect(deleted).toHaveLength(1);
  expect(deleted[0]).toMatch(/^delete set inet localcloud l[0-9a-f]{12}_1001_1000$/);
  expect(rulesOf(bound)).toContainEqual(expect.stringMatching(/^ip saddr @l[0-9a-f]{12}_1001_1000 ct mark set 1001$/));
});

test('a listener that goes takes its chain with it, after nothing refers to it any more', () => {
  const lines = scriptFor(rulesetOf([HTTP]), NOTHING).split('\n');
  const last = lines.findIndex((line) => line.startsWith('delete chain'));
  expect(last).toBeGreaterThan(lines.findIndex((line) => line === 'flush chain inet localcloud prerouting'));
  expect(lines.filter((line) => line.startsWith('add rule'))).toEqual([]);
});
