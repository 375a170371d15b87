const BITS = 32;
const FULL = 0xffffffff;

/** So many bits in a row, each free or taken. Works in words of 32: a whole range costs no more than its words. */
export class Bitmap {
  private readonly words: Uint32Array;
  private takenCount = 0;

  /** @param size number of bits, up to 2^32 */
  constructor(readonly size: number) {
    this.words = new Uint32Array(Math.ceil(size / BITS));
  }

  /** How many bits are taken. */
  get taken(): number {
    return this.takenCount;
  }

  /** @returns how many of the bits from `first` to `last`, both included, were free before */
  take(first: number, last: number): number {
    return this.write(first, last, true);
  }

  /** @returns how many of the bits from `first` to `last`, both included, were taken before */
  free(first: number, last: number): number {
    return this.write(first, last, false);
  }

  /** The first free bit at or after `from`, going on at the beginning; undefined = all are taken. */
  nextFree(from: number): number | undefined {
    if (this.takenCount === this.size) return undefined;
    return this.freeBetween(from, this.size) ?? this.freeBetween(0, from);
  }

  private freeBetween(from: number, end: number): number | undefined {
    for (let bit = from; bit < end;) {
      const word = this.words[Math.floor(bit / BITS)] ?? FULL;
      const offset = bit % BITS;
      const freeOnes = ~word >>> offset;
      if (freeOnes !== 0) {
        const found = bit + lowestBit(freeOnes);
        return found < end ? found : undefined;
      }
      bit += BITS - offset;
    }
    return undefined;
  }

  private write(first: number, last: number, value: boolean): number {
    let changed = 0;
    for (let bit = first; bit <= last;) {
      const offset = bit % BITS;
      const count = Math.min(BITS - offset, last - bit + 1);
      const mask = count === BITS ? FULL : ((2 ** count - 1) << offset) >>> 0;
      changed += this.writeWord(Math.floor(bit / BITS), mask, value);
      bit += count;
    }
    this.takenCount += value ? changed : -changed;
    return changed;
  }

  private writeWord(at: number, mask: number, value: boolean): number {
    const before = this.words[at] ?? 0;
    this.words[at] = value ? before | mask : before & ~mask;
    return countBits(value ? ~before & mask : before & mask);
  }
}

function lowestBit(word: number): number {
  return BITS - 1 - Math.clz32(word & -word);
}

function countBits(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}
