import { FAULT_KINDS, PHASES } from '../../faults/kinds';
import { Matrix } from '../../faults/matrix';

const met = (times: number): Matrix => {
  const matrix = new Matrix();
  for (let time = 0; time < times; time++) FAULT_KINDS.forEach((kind) => PHASES.forEach((phase) => matrix.hit(kind, phase)));
  return matrix;
};

test.each([
  [1000, 2, true],
  [999, 2, false],
  [1000, 3, false],
])('after %d rounds, each pair met %d times: thin is %s', (rounds, times, thin) => {
  expect(met(times).isThin(rounds)).toBe(thin);
});

test('the sum tells the pair that was met least', () => {
  const matrix = met(1);
  matrix.hit('kill', 'queued');
  matrix.miss();
  const total = FAULT_KINDS.length * PHASES.length + 1;
  expect(matrix.toString()).toContain(
    `${total} faults at their phase, every pair at least 1 times; 1 at another moment or without a victim`,
  );
});
