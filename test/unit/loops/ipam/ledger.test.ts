import fc from 'fast-check';
import { toOperatorError } from '../../../../operator/base/errors';
import { type Cidr, parseCidr } from '../../../../operator/loops/cidr';
import { CidrLedger } from '../../../../operator/loops/ipam/ledger';
import type { NodeCidrSettings } from '../../../../operator/loops/ipam/settings';

/** Two ranges of eight blocks each, of which services have the third and fourth, and half of the second. */
const RANGES = [
  { cluster: cidr('10.0.0.0/26'), nodeMask: 29 },
  { cluster: cidr('fd00::/61'), nodeMask: 64 },
];
const SERVICES = [cidr('10.0.0.16/28'), cidr('fd00:0:0:1:8000::/65')];
const SETTINGS: NodeCidrSettings = { ranges: RANGES, services: SERVICES, unreadable: [] };
const BLOCKS = [
  Array.from({ length: 8 }, (_, index) => cidr(`10.0.0.${index * 8}/29`)),
  Array.from({ length: 8 }, (_, index) => cidr(`fd00:0:0:${index}::/64`)),
] as const;

type Step = { kind: 'reserve' | 'release' | 'restart'; uid: string } | { kind: 'hold'; uid: string; podCIDRs: string[] };

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new RangeError(text);
  return parsed;
}

const overlaps = (a: Cidr, b: Cidr): boolean => a.family === b.family && a.first <= b.last && b.first <= a.last;

const uid = fc.constantFrom(...Array.from({ length: 10 }, (_, index) => `uid-${index}`));
/** What people and other controllers write: right, too wide, too narrow, of the services, outside, and no CIDR at all. */
const ipv4 = fc.oneof(
  fc.tuple(fc.nat({ max: 63 }), fc.integer({ min: 24, max: 32 })).map(([last, prefix]) => `10.0.0.${last}/${prefix}`),
  fc.constantFrom('10.9.0.0/29', 'nonsense'),
);
const ipv6 = fc.oneof(
  fc.tuple(fc.nat({ max: 7 }), fc.integer({ min: 60, max: 66 })).map(([block, prefix]) => `fd00:0:0:${block}::/${prefix}`),
  fc.constant('fd99::/64'),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('reserve' as const), uid }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), uid }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), uid }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hold' as const), uid, podCIDRs: fc.tuple(ipv4, ipv6) }) },
);

/** The ledger, and what each Node has by its own account. */
class Cluster {
  ledger = new CidrLedger(SETTINGS);
  readonly nodes = new Map<string, readonly string[]>();

  take(next: Step): void {
    const { uid: of } = next;
    if (next.kind === 'restart') return this.restart();
    if (next.kind === 'release') {
      this.ledger.release(of);
      this.nodes.delete(of);
    } else if (next.kind === 'hold') this.hold(of, next.podCIDRs);
    else if (this.ledger.held(of) === undefined) this.reserve(of);
  }

  /** What is taken in a range: by services, and by what Nodes have there, as far as it could be noted. */
  private taken(range: number): Cidr[] {
    const held = [...this.nodes.keys()].flatMap((of) => this.ledger.held(of)?.[range] ?? []);
    return [...SERVICES, ...held.map(cidr)];
  }

  private reserve(of: string): void {
    const free = BLOCKS.map((blocks, range) => blocks.filter((block) => !this.taken(range).some((other) => overlaps(block, other))));
    const before = [0, 1].map((range) => this.taken(range));
    try {
      const got = this.ledger.reserve({ name: of, uid: of });
      this.nodes.set(of, got);
      expect(got).toHaveLength(2);
      got.map(cidr).forEach((block, range) => {
        expect(BLOCKS[range]).toContainEqual(block);
        expect(before[range]?.filter((other) => overlaps(block, other))).toEqual([]);
      });
    } catch (thrown) {
      expect(toOperatorError(thrown).code).toBe('Quota');
      expect(free.some((blocks) => blocks.length === 0)).toBe(true);
      return;
    }
    expect(free.every((blocks) => blocks.length > 0)).toBe(true);
  }

  private hold(of: string, podCIDRs: readonly string[]): void {
    this.nodes.set(of, podCIDRs);
    try {
      this.ledger.hold({ name: of, uid: of }, podCIDRs);
    } catch (thrown) {
      expect(toOperatorError(thrown).code).toBe('Invalid');
    }
  }

  /** The next leader knows only what the Nodes show. */
  private restart(): void {
    const before = new Map([...this.nodes.keys()].map((of) => [of, this.ledger.held(of)]));
    this.ledger = new CidrLedger(SETTINGS);
    for (const [of, podCIDRs] of this.nodes) this.hold(of, podCIDRs);
    for (const [of, held] of before) expect(this.ledger.held(of)).toEqual(held);
  }
}

test('no block is given twice or to nobody: whatever Nodes come with, go, and however often the leader changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const cluster = new Cluster();
      for (const next of steps) cluster.take(next);
    }),
    { numRuns: 300 },
  );
});

test('a Node that finds one range used up leaves the other as it was', () => {
  const ledger = new CidrLedger(SETTINGS);
  ledger.hold({ name: 'greedy', uid: 'greedy' }, ['10.0.0.0/29', 'fd00::/61']);
  for (let turn = 0; turn < 20; turn++)
    expect(() => ledger.reserve({ name: 'n', uid: 'n' })).toThrow('failed to allocate cidr from cluster cidr at idx:1');
  ledger.release('greedy');
  const given = Array.from({ length: 6 }, (_, index) => ledger.reserve({ name: `n${index}`, uid: `n${index}` })[0]);
  expect(new Set(given).size).toBe(6);
});
