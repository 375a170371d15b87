import { FAULT_KINDS, PHASES } from '../../faults/kinds';
import { planRounds, type Round } from '../../faults/plan';
import { changed } from '../../faults/world';

function first(count: number, seed: number): Round[] {
  const plan = planRounds(seed);
  return Array.from({ length: count }, () => plan.next().value);
}

describe('the plan of fault rounds', () => {
  it('is decided by its seed', () => {
    expect(first(20, 7)).toEqual(first(20, 7));
    expect(first(20, 7)).not.toEqual(first(20, 8));
  });

  it('has two operators in every tenth round', () => {
    expect(first(40, 5).flatMap(({ number, elected }) => (elected ? [number] : []))).toEqual([10, 20, 30, 40]);
  });

  it('has at least ten changes and one fault in each round, each possible where it comes', () => {
    for (const { before, steps, after } of first(200, 1)) {
      expect(steps.length).toBeGreaterThanOrEqual(10);
      expect(steps.filter(({ fault }) => fault !== undefined).length).toBeGreaterThanOrEqual(1);
      expect(steps.reduce((world, { change }) => changed(world, change), before)).toEqual(after);
    }
  });

  it('brings every kind of fault to every phase three times in 120 rounds', () => {
    const met = first(120, 3).flatMap(({ steps }) =>
      steps.flatMap(({ fault }) => (fault === undefined ? [] : [`${fault.kind} ${fault.phase}`])),
    );
    for (const kind of FAULT_KINDS) {
      for (const phase of PHASES) expect(met.filter((pair) => pair === `${kind} ${phase}`)).toHaveLength(3);
    }
  });
});
