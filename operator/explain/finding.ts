import type { Condition } from '../../crds';
import { objectState } from './object-state';
import type { Judged } from './kinds';
import { REMEDIES, SERVICE_REMEDIES } from './remedies';

/** One thing that was looked at, in words. */
export interface Finding {
  /** `good`: as it should be. `waiting`: comes by itself. `bad`: somebody must do something. `note`: worth knowing. */
  state: 'good' | 'waiting' | 'bad' | 'note';
  says: string;
  /** What to do; a command, or where to read on. */
  next?: string;
}

/** Says nothing of what to do where nothing is to be done. Pure. */
export function finding(state: Finding['state'], says: string, next?: string): Finding {
  return { state, says, ...(next === undefined || next === '' ? {} : { next }) };
}

/** What docs/conditions.md says to do about a reason. Pure. */
export function remedyOf(reason: string, where: 'ours' | 'service' = 'ours'): string {
  const remedy = (where === 'service' ? SERVICE_REMEDIES[reason] : undefined) ?? REMEDIES[reason];
  return remedy ?? 'docs/operate/state.md, "When something is wrong"';
}

/** A condition as a finding: what it says, and what to do. Pure. */
export function conditionFinding(state: Finding['state'], { type, status, reason, message }: Condition): Finding {
  const says = message === '' ? reason : message;
  return finding(state, `${type}=${status}, ${reason}: ${says}`, state === 'good' ? undefined : remedyOf(reason));
}

/** The conditions that stand beside Ready, Reconciling and Stalled. */
const PROTOCOL = ['Ready', 'Reconciling', 'Stalled'];

/** What the conditions of one of our objects say: first how it is, then what stands beside that. Pure. */
export function conditionFindings(kind: string, name: string, object: Judged): Finding[] {
  const { word, tone, condition } = objectState(object);
  const beside = (object.status?.conditions ?? []).filter(({ type, status }) => !PROTOCOL.includes(type) && status === 'True');
  return [
    stateFinding(`${kind} ${name}`, word, tone === 'good' ? 'good' : tone === 'bad' ? 'bad' : 'waiting', condition),
    ...beside.map((one) => conditionFinding('note', one)),
  ];
}

function stateFinding(what: string, word: string, state: Finding['state'], condition: Condition | undefined): Finding {
  if (word === 'NotSeen') {
    const next = 'wait some seconds; if it lasts, see whether the operator runs, and its log';
    return finding('waiting', `${what}: the operator has not looked at its newest version yet`, next);
  }
  if (condition === undefined) return finding('waiting', `${what} is ${word}, and has no condition yet`, 'wait some seconds');
  const remedy = state === 'good' ? undefined : remedyOf(condition.reason);
  return finding(state, `${what} is ${word} (${condition.reason}): ${condition.message}`, remedy === 'nothing' ? undefined : remedy);
}
