import { OperatorError } from '../../operator/base/errors';
import type { Choice, Decision } from './choices';

interface Literal {
  test: string;
  holds: (decision: Decision) => boolean;
}

/** Finds tests for templates. */
export class Condition {
  private readonly literals: Literal[];

  constructor(choices: readonly Choice[]) {
    this.literals = choices.flatMap(({ name, outcomes }) =>
      outcomes.map(({ value, test }) => ({ test, holds: (decision: Decision) => decision[name] === value })),
    );
  }

  /**
   * The shortest test that holds for exactly the wanted ones of the given decisions.
   * @returns undefined when it always holds
   * @throws OperatorError Invalid when three tests are not enough
   */
  of(wanted: readonly Decision[], all: readonly Decision[]): string | undefined {
    if (wanted.length === all.length) return undefined;
    const set = new Set(wanted);
    const fits = (holds: Literal['holds']): boolean => all.every((decision) => holds(decision) === set.has(decision));
    for (const group of this.groups()) {
      const joined = group.map(({ test }) => (group.length === 1 ? test : `(${test})`)).join(' ');
      if (fits((decision) => group.every(({ holds }) => holds(decision)))) return group.length === 1 ? joined : `and ${joined}`;
      if (fits((decision) => group.some(({ holds }) => holds(decision)))) return `or ${joined}`;
    }
    throw new OperatorError('Invalid', `no test tells ${wanted.length} of ${all.length} decisions from the others`);
  }

  private *groups(): Generator<Literal[]> {
    for (const one of this.literals) yield [one];
    for (const one of this.literals) for (const two of this.literals) yield [one, two];
    for (const one of this.literals) for (const two of this.literals) for (const three of this.literals) yield [one, two, three];
  }
}
