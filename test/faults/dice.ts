import { createHash } from 'node:crypto';
import { seededRandom } from '../../providers/local/cloud/random';

/** Seeded choices: the same seed and label give the same choices in the same order. */
export class Dice {
  private readonly random: () => number;

  constructor(seed: number, label: string) {
    this.random = seededRandom(createHash('sha256').update(`${seed}/${label}`).digest().readUInt32LE());
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** @throws RangeError when there is nothing to pick from */
  pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.random() * from.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((value) => ({ value, order: this.random() }))
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value);
  }
}
