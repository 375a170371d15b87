import { OperatorError } from '../../base/errors';
import { type Cidr, formatCidr } from '../cidr';
import { Bitmap } from './bitmap';

/** Told of every change of one block set. */
export interface BlockSetMetrics {
  allocated(blocks: number): void;
  released(blocks: number): void;
  /** How many blocks one request found taken before the free one. */
  tries(blocks: number): void;
  /** @param share of the blocks that are taken, 0…1 */
  usage(share: number): void;
}

/** The blocks of one cluster CIDR, all of one size, each free or taken (contract 6.2). */
export class BlockSet {
  private readonly bitmap: Bitmap;
  private readonly shift: bigint;
  /** Just after the last block that was handed out: one that was given back isn't used again before all others. */
  private cursor = 0;

  /** @param nodeMask prefix length of a block, at least that of the range, and at most 32 more */
  constructor(
    readonly range: Cidr,
    private readonly nodeMask: number,
    private readonly metrics?: BlockSetMetrics,
  ) {
    this.bitmap = new Bitmap(2 ** (nodeMask - range.prefix));
    this.shift = BigInt((range.family === 'IPv4' ? 32 : 128) - nodeMask);
  }

  /** How many blocks there are. */
  get size(): number {
    return this.bitmap.size;
  }

  /** How many blocks are taken. */
  get taken(): number {
    return this.bitmap.taken;
  }

  block(index: number): Cidr {
    const first = this.range.first + (BigInt(index) << this.shift);
    return { family: this.range.family, first, last: first + (1n << this.shift) - 1n, prefix: this.nodeMask };
  }

  /** First and last block that a CIDR touches, also one that is wider or narrower than a block; undefined = it lies outside. */
  indexes(cidr: Cidr): { first: number; last: number } | undefined {
    const { range } = this;
    if (cidr.family !== range.family || cidr.last < range.first || cidr.first > range.last) return undefined;
    const indexOf = (address: bigint): number => Number((address - range.first) >> this.shift);
    return {
      first: cidr.first <= range.first ? 0 : indexOf(cidr.first),
      last: cidr.last >= range.last ? this.size - 1 : indexOf(cidr.last),
    };
  }

  /** Takes the next free block; undefined = there is none. */
  next(): Cidr | undefined {
    const index = this.bitmap.nextFree(this.cursor);
    if (index === undefined) return undefined;
    this.metrics?.tries((index - this.cursor + this.size) % this.size);
    this.cursor = (index + 1) % this.size;
    this.bitmap.take(index, index);
    this.tell('allocated', 1);
    return this.block(index);
  }

  /**
   * @returns true when no block of it was taken before
   * @throws OperatorError Invalid when it lies outside
   */
  occupy(cidr: Cidr): boolean {
    const { first, last } = this.within(cidr);
    const changed = this.bitmap.take(first, last);
    this.tell('allocated', changed);
    return changed === last - first + 1;
  }

  /** @throws OperatorError Invalid when it lies outside */
  release(cidr: Cidr): void {
    const { first, last } = this.within(cidr);
    this.tell('released', this.bitmap.free(first, last));
  }

  private within(cidr: Cidr): { first: number; last: number } {
    const found = this.indexes(cidr);
    if (found !== undefined) return found;
    throw new OperatorError('Invalid', `cidr ${formatCidr(cidr)} is out the range of cluster cidr ${formatCidr(this.range)}`);
  }

  private tell(what: 'allocated' | 'released', blocks: number): void {
    if (blocks > 0) this.metrics?.[what](blocks);
    this.metrics?.usage(this.taken / this.size);
  }
}
