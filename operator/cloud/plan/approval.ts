import type { CloudLoadBalancerSpec } from '../../../crds';
import type { Replacement } from '../../../providers/provider';
import { canonicalJson } from '../../base/json';
import { onlyRetires } from './generation';
import type { Part } from '../stack-plan';

export type UpdatePolicy = NonNullable<CloudLoadBalancerSpec['updatePolicy']>;

export interface ApprovalFacts<O> {
  part: Part<O>;
  policy: UpdatePolicy | undefined;
  /** What its candidate would replace. */
  replacement: Replacement | undefined;
  /** An update would change something even though no input has changed: drift, an interrupted update, a new program. */
  pending: boolean;
}

/** Why a member's change must be approved by a person first; undefined = it need not. Deletions and the end of a replacement go on. Pure. */
export function whyApproval<O>({ part: { candidate, accepted }, policy, replacement, pending }: ApprovalFacts<O>): string | undefined {
  if (candidate === undefined) return undefined;
  const changed = canonicalJson(candidate) !== canonicalJson(accepted);
  if (!changed && !pending) return undefined;
  if (accepted !== undefined && onlyRetires(accepted, candidate, (a, b) => canonicalJson(a) === canonicalJson(b))) return undefined;
  if (policy?.approval === 'Manual') return 'spec.updatePolicy.approval is Manual';
  if (replacement === undefined || policy?.replace === 'Allow') return undefined;
  return `${replacement.why}, and spec.updatePolicy.replace is Never`;
}
