import { OperatorError, toOperatorError } from '../../base/errors';
import { type Cidr, formatCidr, parseCidr } from '../cidr';
import { BlockSet, type BlockSetMetrics } from './block-set';
import type { NodeCidrSettings } from './settings';

/** What one Node has, by the index of the block set. */
type Holding = readonly Cidr[];

/** A Node as far as its pod CIDRs go. */
export interface Holder {
  name: string;
  uid: string;
}

/**
 * Which Node has which blocks, by the Nodes' UIDs: those in its podCIDRs, or those reserved until the Node has been written.
 * Where holdings overlap, what others still have stays taken when one is given back.
 */
export class CidrLedger {
  private readonly sets: readonly BlockSet[];
  private readonly holdings = new Map<string, Holding>();
  private overlapping = false;

  constructor(
    private readonly settings: NodeCidrSettings,
    metrics?: (clusterCidr: string, blocks: number) => BlockSetMetrics,
  ) {
    this.sets = settings.ranges.map(
      ({ cluster, nodeMask }) => new BlockSet(cluster, nodeMask, metrics?.(formatCidr(cluster), 2 ** (nodeMask - cluster.prefix))),
    );
    this.occupyServices();
  }

  /** The CIDRs that a Node holds, as its podCIDRs would show them; undefined = none. */
  held(uid: string): string[] | undefined {
    return this.holdings.get(uid)?.map(formatCidr);
  }

  /**
   * Takes the next free block of every range for a Node that holds none. A range without a free one gives back what the others gave.
   * @throws OperatorError Quota in upstream's words
   */
  reserve({ uid }: Holder): string[] {
    const blocks: Cidr[] = [];
    for (const [index, set] of this.sets.entries()) {
      const block = set.next();
      if (block === undefined) {
        blocks.forEach((taken, at) => this.sets[at]?.release(taken));
        const message = `failed to allocate cidr from cluster cidr at idx:${index}: CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range`;
        throw new OperatorError('Quota', message);
      }
      blocks.push(block);
    }
    this.holdings.set(uid, blocks);
    return blocks.map(formatCidr);
  }

  /**
   * Notes the podCIDRs that a Node has, in place of what it held; those that can be taken are, also when others can't.
   * @throws OperatorError Invalid in upstream's words when one can't be read, or has no place in the ranges
   */
  hold({ name, uid }: Holder, podCIDRs: readonly string[]): void {
    this.release(uid);
    const blocks: Cidr[] = [];
    let problem: OperatorError | undefined;
    for (const [index, text] of podCIDRs.entries()) {
      try {
        blocks[index] = this.occupy(name, index, text);
      } catch (thrown) {
        problem ??= toOperatorError(thrown);
      }
    }
    if (blocks.length > 0) this.holdings.set(uid, blocks);
    if (problem !== undefined) throw problem;
  }

  /** Gives back what a Node holds. @returns true when there was something */
  release(uid: string): boolean {
    const holding = this.holdings.get(uid);
    if (holding === undefined) return false;
    this.holdings.delete(uid);
    holding.forEach((cidr, index) => this.sets[index]?.release(cidr));
    if (this.overlapping) this.occupyAgain();
    return true;
  }

  private occupy(name: string, index: number, text: string): Cidr {
    const cidr = parseCidr(text);
    if (cidr === undefined) throw new OperatorError('Invalid', `failed to parse node ${name}, CIDR ${text}`);
    const set = this.sets[index];
    if (set === undefined) {
      const message = `node:${name} has an allocated cidr: ${text} at index:${index} that does not exist in cluster cidrs configuration`;
      throw new OperatorError('Invalid', message);
    }
    try {
      if (!set.occupy(cidr)) this.overlapping = true;
      return cidr;
    } catch (thrown) {
      const { code, message } = toOperatorError(thrown);
      throw new OperatorError(
        code,
        `failed to mark cidr[${formatCidr(cidr)}] at idx [${index}] as occupied for node: ${name}: ${message}`,
        { cause: thrown },
      );
    }
  }

  private occupyServices(): void {
    for (const set of this.sets) {
      for (const service of this.settings.services) if (set.indexes(service) !== undefined) set.occupy(service);
    }
  }

  private occupyAgain(): void {
    this.occupyServices();
    for (const holding of this.holdings.values()) holding.forEach((cidr, index) => this.sets[index]?.occupy(cidr));
  }
}
