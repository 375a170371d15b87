import fc from 'fast-check';
import { BlockSet, type BlockSetMetrics } from '../../../../operator/loops/ipam/block-set';
import { formatCidr, parseCidr, type Cidr } from '../../../../operator/loops/cidr';
import { seededRandom } from '../../../../providers/local/cloud/random';

const cidr = (text: string): Cidr => parseCidr(text)!;
const setOf = (range: string, mask: number, metrics?: BlockSetMetrics): BlockSet => new BlockSet(cidr(range), mask, metrics);

/** @param text `127.0.0.0/8 mask 16` */
function ofText(text: string): BlockSet {
  const [range = '', mask] = text.split(' mask ');
  return setOf(range, Number(mask));
}

function nextOf(set: BlockSet): string | undefined {
  const block = set.next();
  return block === undefined ? undefined : formatCidr(block);
}

test('C-IPAM-11 bitmap: one slot; a second request fails; after a release the same again', () => {
  const set = setOf('127.123.234.0/30', 30);
  expect([nextOf(set), nextOf(set)]).toEqual(['127.123.234.0/30', undefined]);
  set.release(cidr('127.123.234.0/30'));
  expect([nextOf(set), nextOf(set)]).toEqual(['127.123.234.0/30', undefined]);
});

test.each([
  ['C-IPAM-12 bitmap', '127.0.0.0/8', 32, ['127.0.0.0/32', '127.0.0.1/32']],
  ['C-IPAM-13 bitmap', '2001:beef:1234:369b::/60', 64, ['2001:beef:1234:3690::/64', '2001:beef:1234:3691::/64']],
])('%s: the first blocks of %s with mask %i', (_id, range, mask, wanted) => {
  const set = setOf(range, mask);
  expect(wanted.map(() => nextOf(set))).toEqual(wanted);
});

test.each<[string, string, number, string]>([
  ['C-IPAM-14 index → block', '127.123.0.0/16 mask 24', 15, '127.123.15.0/24'],
  ['C-IPAM-15 index → block', '2001:db8:1234::/48 mask 64', 15, '2001:db8:1234:f::/64'],
  ['C-IPAM-16 index → block', '2001:db8:1234:ff00::/56 mask 72', 15, '2001:db8:1234:ff00:f00::/72'],
  ['C-IPAM-17 block → index', '127.0.0.0/8 mask 16', 123, '127.123.0.0/16'],
  ['the last of 2^24', '10.0.0.0/8 mask 32', 2 ** 24 - 1, '10.255.255.255/32'],
])('%s: %s, %i', (_id, range, index, block) => {
  const set = ofText(range);
  expect(formatCidr(set.block(index))).toBe(block);
  expect(set.indexes(cidr(block))).toEqual({ first: index, last: index });
});

test.each<[string, string, string, { first: number; last: number } | undefined]>([
  ['C-IPAM-18 occupy', '127.0.0.0/8 mask 16', '127.0.0.0/2', { first: 0, last: 255 }],
  ['C-IPAM-19 occupy', '127.0.0.0/7 mask 16', '127.0.0.0/15', { first: 256, last: 257 }],
  ['narrower than a block', '10.0.0.0/16 mask 24', '10.0.7.128/26', { first: 7, last: 7 }],
  ['the range itself', '10.0.0.0/16 mask 24', '10.0.0.0/16', { first: 0, last: 255 }],
  ['outside', '10.0.0.0/16 mask 24', '10.1.0.0/24', undefined],
  ['another family', '10.0.0.0/16 mask 24', '::/0', undefined],
])('%s: in %s, %s', (_id, range, occupied, wanted) => {
  const set = ofText(range);
  expect(set.indexes(cidr(occupied))).toEqual(wanted);
  if (wanted === undefined) return expect(() => set.occupy(cidr(occupied))).toThrow('is out the range of cluster cidr');
  set.occupy(cidr(occupied));
  expect(set.taken).toBe(wanted.last - wanted.first + 1);
});

test('C-IPAM-20 counts: what is occupied twice counts once, and so does releasing what is free', () => {
  const set = setOf('10.42.0.0/16', 24);
  const used = ['10.42.5.0/24', '10.42.9.0/24', '10.42.8.0/22', '10.42.9.0/24'].map((text) => {
    set.occupy(cidr(text));
    return set.taken;
  });
  expect(used).toEqual([1, 2, 5, 5]);
  set.release(cidr('10.42.8.0/22'));
  set.release(cidr('10.42.8.0/22'));
  expect(set.taken).toBe(1);
});

test('C-IPAM-21 order: 256 taken, all released, 256 taken again: the same sequence', () => {
  const set = setOf('10.42.0.0/16', 24);
  const all = (): (string | undefined)[] => Array.from({ length: 256 }, () => nextOf(set));
  const first = all();
  expect(new Set(first).size).toBe(256);
  expect(nextOf(set)).toBeUndefined();
  for (const text of first) set.release(cidr(text!));
  expect(all()).toEqual(first);
});

test('a block that was given back comes after those that were never used', () => {
  const set = setOf('10.42.0.0/30', 32);
  expect([nextOf(set), nextOf(set)]).toEqual(['10.42.0.0/32', '10.42.0.1/32']);
  set.release(cidr('10.42.0.0/32'));
  expect([nextOf(set), nextOf(set), nextOf(set)]).toEqual(['10.42.0.2/32', '10.42.0.3/32', '10.42.0.0/32']);
});

test('C-IPAM-22 metrics: what was found taken, and the share', () => {
  const told: string[] = [];
  const set = setOf('10.0.0.0/16', 24, {
    allocated: (blocks) => told.push(`allocated ${blocks}`),
    released: (blocks) => told.push(`released ${blocks}`),
    tries: (blocks) => told.push(`tries ${blocks}`),
    usage: (share) => told.push(`usage ${share}`),
  });
  set.occupy(cidr('10.0.0.0/17'));
  set.next();
  set.release(cidr('10.0.0.0/24'));
  expect(told).toEqual(['allocated 128', 'usage 0.5', 'tries 128', 'allocated 1', `usage ${129 / 256}`, 'released 1', 'usage 0.5']);
});

test('large ranges: 2^24 blocks in 2 MB, and the last free one is found at once', () => {
  const set = setOf('10.0.0.0/8', 32);
  set.occupy(cidr('10.0.0.0/8'));
  expect(set.taken).toBe(2 ** 24);
  set.release(cidr('10.255.255.255/32'));
  expect(nextOf(set)).toBe('10.255.255.255/32');
  expect(nextOf(set)).toBeUndefined();
  expect(setOf('2001:db8::/48', 64).size).toBe(65_536);
});

/** A range of either family, its node mask, and the number of one of its blocks. */
const placed = fc
  .constantFrom({ family: 'IPv4' as const, bits: 32 }, { family: 'IPv6' as const, bits: 128 })
  .chain(({ family, bits }) =>
    fc
      .tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), fc.integer({ min: 1, max: bits }), fc.integer({ min: 0, max: 16 }))
      .map(([address, prefix, more]) => {
        const host = 2n ** BigInt(bits - prefix) - 1n;
        const range: Cidr = { family, first: address & ~host, last: address | host, prefix };
        return { range, nodeMask: Math.min(bits, prefix + more) };
      }),
  )
  .chain(({ range, nodeMask }) =>
    fc.record({ range: fc.constant(range), nodeMask: fc.constant(nodeMask), index: fc.nat({ max: 2 ** (nodeMask - range.prefix) - 1 }) }),
  );

test('property: a block’s number gives the block, the block gives its number, and blocks side by side fill the range without a gap', () => {
  fc.assert(
    fc.property(placed, ({ range, nodeMask, index }) => {
      const set = new BlockSet(range, nodeMask);
      const block = set.block(index);
      expect(set.indexes(block)).toEqual({ first: index, last: index });
      expect(parseCidr(formatCidr(block))).toEqual(block);
      expect(block.first >= range.first && block.last <= range.last).toBe(true);
      expect(block.first).toBe(index === 0 ? range.first : set.block(index - 1).last + 1n);
      if (index === set.size - 1) expect(block.last).toBe(range.last);
    }),
  );
});

test('property: of any two blocks that are handed out, none is given twice before it was given back', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat({ max: 40 }), { nil: undefined }), { maxLength: 80 }), (steps) => {
      const set = setOf('10.0.0.0/24', 29);
      const out: string[] = [];
      for (const step of steps) {
        const given = step === undefined || step >= out.length ? nextOf(set) : undefined;
        if (given !== undefined) {
          expect(out).not.toContain(given);
          out.push(given);
        } else if (step !== undefined && step < out.length) set.release(cidr(out.splice(step, 1)[0]!));
        else expect(out).toHaveLength(32);
        expect(set.taken).toBe(out.length);
      }
    }),
  );
});

/** Random takes and gives, compared with a plain set of numbers. */
test.each([1, 2, 3, 4, 5])('property: it agrees with a plain set (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const set = setOf('10.0.0.0/24', 31);
  const model = new Set<number>();
  let cursor = 0;
  for (let step = 0; step < 2_000; step++) {
    const prefix = 25 + Math.floor(random() * 8);
    const some = cidr(`10.0.0.${Math.floor(random() * 256)}/${prefix}`);
    const { first, last } = set.indexes(some)!;
    const blocks = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const kind = Math.floor(random() * 3);
    if (kind === 0) {
      set.occupy(some);
      blocks.forEach((block) => model.add(block));
    } else if (kind === 1) {
      set.release(some);
      blocks.forEach((block) => model.delete(block));
    } else {
      const free = Array.from({ length: 128 }, (_, index) => (cursor + index) % 128).find((block) => !model.has(block));
      expect(nextOf(set)).toBe(free === undefined ? undefined : formatCidr(set.block(free)));
      if (free !== undefined) {
        model.add(free);
        cursor = (free + 1) % 128;
      }
    }
    expect(set.taken).toBe(model.size);
  }
});
