import { toOperatorError, type OperatorError } from '../../base/errors';
import { isBlamable } from './blame';

export interface Trial<C, R> {
  /** Candidates that are not in the cloud yet: each may be at fault when an update fails. */
  suspects: readonly C[];
  /** Brings the stack to these candidates; all other members go on with what they have. */
  attempt(candidates: readonly C[]): Promise<R>;
  /** Those of the attempt's candidates whose fault the failure is; empty = it does not say. Pure. */
  attribute(error: OperatorError, candidates: readonly C[]): readonly C[];
  /** True for a failure that is nobody's fault and yet one's own where it names whose: others can go on without. Pure. */
  isOwn(error: OperatorError): boolean;
  /** False where nothing would be left in the stack without the suspects, or going back would fail of the same. Pure. */
  restorable(error: OperatorError): boolean;
}

export interface TrialResult<C, R> {
  result: R;
  /** Candidates that must wait, each with its own failure. */
  failed: { candidate: C; error: OperatorError }[];
}

/**
 * Brings a stack to as many of its candidates as the cloud takes: the failing ones are named by the provider, or found by bisection, and left out
 * (design: Stacks). The last attempt is always one that succeeded.
 * @throws OperatorError the failure, where it is nobody's, or leaving candidates out does not help
 */
export async function isolate<C, R>(trial: Trial<C, R>): Promise<TrialResult<C, R>> {
  const good: C[] = [];
  const failed: TrialResult<C, R>['failed'] = [];
  const groups: C[][] = [[...trial.suspects]];
  let last: { result: R } | undefined;
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    try {
      last = { result: await trial.attempt([...good, ...group]) };
      good.push(...group);
    } catch (thrown) {
      const error = blamable(thrown, group, trial);
      last = undefined;
      const named = trial.attribute(error, [...good, ...group]).filter((one) => group.includes(one));
      if (named.length === 0 && !isBlamable(error)) throw error;
      const { blamed, left } = split(group, named);
      failed.push(...blamed.map((candidate) => ({ candidate, error })));
      groups.unshift(...left);
    }
  }
  last ??= await restore(good, failed, trial);
  return { ...last, failed };
}

/** The failure, where one of the group can be at fault. @throws the failure, where not */
function blamable<C, R>(thrown: unknown, group: readonly C[], trial: Trial<C, R>): OperatorError {
  const error = toOperatorError(thrown);
  const alone = trial.suspects.length === 1 && !trial.restorable(error);
  const isDone = error.undeleted !== undefined;
  if (group.length === 0 || alone || isDone || !(isBlamable(error) || trial.isOwn(error))) throw error;
  return error;
}

/** Whom a failed attempt convicts, and the groups that are to be tried next. */
function split<C>(group: readonly C[], named: readonly C[]): { blamed: readonly C[]; left: C[][] } {
  if (named.length > 0) return { blamed: named, left: nonEmpty([group.filter((one) => !named.includes(one))]) };
  if (group.length === 1) return { blamed: group, left: [] };
  const middle = Math.ceil(group.length / 2);
  return { blamed: [], left: [group.slice(0, middle), group.slice(middle)] };
}

/** After the last failure: the stack is brought back to what works. */
async function restore<C, R>(good: readonly C[], failed: TrialResult<C, R>['failed'], trial: Trial<C, R>): Promise<{ result: R }> {
  const [first] = failed;
  if (good.length === 0 && first !== undefined && !trial.restorable(first.error)) throw first.error;
  return { result: await trial.attempt(good) };
}

function nonEmpty<C>(groups: C[][]): C[][] {
  return groups.filter((group) => group.length > 0);
}
