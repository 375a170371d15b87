import { run } from '@bufbuild/cel';
import type { HealthCheckExpr } from '../../synth/gitops/flux-checks';

type Checked = Parameters<typeof run>[1];

/**
 * What Flux says of an object by a `healthCheckExprs` entry: its fields are the variables, the first of inProgress, failed and current that is true
 * decides, and where none is, or one can't be evaluated, Flux waits.
 */
export function fluxHealth({ inProgress, failed, current }: HealthCheckExpr, object: object): 'InProgress' | 'Failed' | 'Current' {
  const verdicts = [
    ['InProgress', inProgress],
    ['Failed', failed],
    ['Current', current],
  ] as const;
  for (const [verdict, expression] of verdicts) {
    const value = run(expression, object as Checked);
    if (typeof value !== 'boolean') throw new TypeError(`CEL: ${expression} gives no bool, but ${typeof value}`);
    if (value) return verdict;
  }
  return 'InProgress';
}
