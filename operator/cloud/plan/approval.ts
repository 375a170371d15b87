import { ANNOTATIONS, type CloudLoadBalancerSpec, type CloudProviderSpec, type CloudRouteSpec, type PlannedOperation } from '../../../crds';
import type { Replacement } from '../../../providers/provider';
import { canonicalJson } from '../../base/json';
import type { KubeMeta } from '../../kube/object';
import { shortType } from '../../updates/checkpoint';
import { onlyRetires } from './generation';
import { keepsPromise } from './promise';
import type { MemberInput } from '../stack/member-input';
import type { Part } from '../stack/stack-plan';

/** Of either kind: a route is never replaced. */
export type UpdatePolicy = NonNullable<CloudRouteSpec['updatePolicy'] & Partial<CloudLoadBalancerSpec['updatePolicy']>> & {
  /** Its CloudProvider asks for approval. */
  ofProvider?: true;
};

/**
 * A load balancer's policy, with what its CloudProvider asks for, and its Service's annotation: that is no field, which only who may approve could take back
 * from Manual. Whatever the annotation says counts as Manual. Pure.
 */
export function updatePolicyOf(
  { metadata, spec }: { metadata: KubeMeta; spec: { updatePolicy?: UpdatePolicy | undefined } },
  provider: Pick<CloudProviderSpec, 'updatePolicy'> | undefined,
): UpdatePolicy | undefined {
  const { updatePolicy } = spec;
  const asked = metadata.annotations?.[ANNOTATIONS.approval] !== undefined || updatePolicy?.approval === 'Manual';
  if (asked) return { ...updatePolicy, approval: 'Manual' };
  return provider?.updatePolicy?.approval === 'Manual' ? { ...updatePolicy, approval: 'Manual', ofProvider: true } : updatePolicy;
}

/** Nobody has said beforehand that what serves may be replaced without a question. Pure. */
export function mustBeAsked(policy: UpdatePolicy | undefined): boolean {
  return policy?.approval === 'Manual' || policy?.replace !== 'Allow';
}

/** Who asks for approval, in words. Pure. */
export function whyManual({ ofProvider }: UpdatePolicy): string {
  return `spec.updatePolicy.approval${ofProvider === true ? ' of its CloudProvider' : ''} is Manual`;
}

export interface ApprovalFacts<O> {
  part: Part<O>;
  policy: UpdatePolicy | undefined;
  /** What its candidate would replace. */
  replacement: Replacement | undefined;
  /** An update would change something even though no input has changed: drift, an interrupted update, a new program. */
  pending: boolean;
  /** The update was approved, began, and did not end: it goes on. */
  underway?: boolean;
}

/**
 * Something of the member is to reach the cloud that may have to wait, also what it has already where its spec can't be tried. Deletions, the end of a
 * replacement and what has begun go on; of what a lever holds nobody is asked. Pure.
 */
export function isChange<O>({ part, pending, underway }: Pick<ApprovalFacts<O>, 'part' | 'pending' | 'underway'>): boolean {
  const { candidate, accepted, held } = part;
  if (held === true || underway === true) return false;
  if (candidate === undefined) return pending && accepted !== undefined;
  if (isSecondHalf(accepted, candidate)) return false;
  return pending || canonicalJson(candidate) !== canonicalJson(accepted);
}

/** Why a member's change must be approved by a person first; undefined = it need not. Pure. */
export function whyApproval<O>(facts: ApprovalFacts<O>): string | undefined {
  if (!isChange(facts)) return undefined;
  const { policy, replacement } = facts;
  if (policy?.approval === 'Manual') return `${replacement === undefined ? '' : `${replacement.why}, and `}${whyManual(policy)}`;
  if (replacement === undefined || policy?.replace === 'Allow') return undefined;
  return `${replacement.why}, and spec.updatePolicy.replace is Never`;
}

/**
 * What an update takes away of a load balancer that serves, where nothing says how it would be made as it is: what is replaced, and load balancers that go
 * (docs/decisions/0023-consent-in-place-of-protection.md). Undefined = nothing. Pure.
 * @param why nothing says it: the beginning of a sentence
 */
export function lossIn(operations: readonly PlannedOperation[], why: string): Replacement | undefined {
  const lost = operations.find(({ op, type }) => op === 'replace' || (op === 'delete' && type.endsWith(':LoadBalancer')));
  if (lost === undefined) return undefined;
  const what = `${lost.op === 'replace' ? 'replaces' : 'deletes'} ${shortType(lost.type)} ${lost.name}`;
  return { why: `${why}, and by what the cloud has, the update ${what}`, gap: true };
}

function isSecondHalf(accepted: MemberInput | undefined, candidate: MemberInput): boolean {
  const equal = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);
  return accepted !== undefined && (onlyRetires(accepted, candidate, equal) || keepsPromise(accepted, candidate, equal));
}
