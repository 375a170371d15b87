import { ANNOTATIONS, APPROVAL_POLICY, GROUP, VERSION } from '../../../crds';
import { isEmptySelector, type LabelSelector } from '../../base/label-selector';
import type { KubeApi } from '../../kube/api';
import type { KubeObject, ResourcePath } from '../../kube/object';
import type { Verdict } from '../conditions';

const API = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const POLICIES: ResourcePath = { ...API, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' };
const BINDINGS: ResourcePath = { ...API, plural: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' };

interface Rule {
  apiGroups?: string[];
  apiVersions?: string[];
  operations?: string[];
  resources?: string[];
  resourceNames?: string[];
  scope?: string;
}

interface Match {
  resourceRules?: Rule[];
  excludeResourceRules?: Rule[];
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
}

export type GuardPolicy = KubeObject & {
  spec?: {
    failurePolicy?: string;
    matchConstraints?: Match;
    matchConditions?: object[];
    paramKind?: object;
    variables?: { expression?: string }[];
    validations?: { expression?: string }[];
  };
};

export type GuardBinding = KubeObject & {
  spec?: { policyName?: string; validationActions?: string[]; matchResources?: Match };
};

/** Whether the API server asks for the verb `approve` before it takes an approval. Where it doesn't, an approval says nothing. */
export class ApprovalGuard {
  /** @param resource of the objects whose changes wait */
  constructor(
    private readonly api: Pick<KubeApi, 'get'>,
    private readonly resource: ResourcePath,
  ) {}

  /** Why anybody could approve; undefined = only who may. */
  async problem(): Promise<string | undefined> {
    const [policy, binding] = await Promise.all([
      this.api.get<GuardPolicy>(POLICIES, APPROVAL_POLICY),
      this.api.get<GuardBinding>(BINDINGS, APPROVAL_POLICY),
    ]);
    return guardProblem(policy, binding, this.resource);
  }
}

/** What is wrong with the policy or its binding: whatever lets an approval through without the question, also only some. Pure. */
export function guardProblem(
  policy: GuardPolicy | undefined,
  binding: GuardBinding | undefined,
  resource: ResourcePath,
): string | undefined {
  const named = `ValidatingAdmissionPolicy ${APPROVAL_POLICY}`;
  if (policy === undefined || !denies(binding)) return `the cluster has no ${named} with a binding that denies`;
  const wrong = policyProblem(policy, resource);
  if (wrong !== undefined) return `${named} ${wrong}`;
  if (coversAll(binding?.spec?.matchResources, { preset: true, resource })) return undefined;
  return `the binding of ${named} does not cover all ${resource.plural} (matchResources)`;
}

function denies(binding: GuardBinding | undefined): boolean {
  return binding?.spec?.policyName === APPROVAL_POLICY && binding.spec.validationActions?.includes('Deny') === true;
}

function policyProblem(policy: GuardPolicy, resource: ResourcePath): string | undefined {
  const { failurePolicy = 'Fail', matchConstraints, matchConditions = [], paramKind } = policy.spec ?? {};
  if (failurePolicy !== 'Fail') return "lets through what it can't decide (failurePolicy)";
  if (!asks(policy)) return 'does not ask for the verb approve';
  if (matchConditions.length > 0 || paramKind !== undefined) return 'asks under conditions of its own (matchConditions, paramKind)';
  return coversAll(matchConstraints, { preset: false, resource }) ? undefined : `does not cover all ${resource.plural} (matchConstraints)`;
}

function asks({ spec }: GuardPolicy): boolean {
  const told = [...(spec?.variables ?? []), ...(spec?.validations ?? [])].map(({ expression = '' }) => expression).join(' ');
  return (spec?.validations ?? []).length > 0 && told.includes("check('approve')") && told.includes(ANNOTATIONS.approve);
}

/** @param preset what no rules at all mean: nothing in a policy, everything in a binding */
function coversAll(
  { resourceRules, excludeResourceRules = [], namespaceSelector = {}, objectSelector = {} }: Match = {},
  { preset, resource }: { preset: boolean; resource: ResourcePath },
): boolean {
  const leavesOut = excludeResourceRules.some((rule) => touches(rule, resource));
  if (![namespaceSelector, objectSelector].every(isEmptySelector) || leavesOut) return false;
  if (resourceRules === undefined) return preset;
  return ['CREATE', 'UPDATE'].every((operation) => resourceRules.some((rule) => covers(rule, operation, resource)));
}

function covers(rule: Rule, operation: string, resource: ResourcePath): boolean {
  const { operations, resourceNames = [], scope = '*' } = rule;
  const scopes = ['*', resource.namespaced ? 'Namespaced' : 'Cluster'];
  return touches(rule, resource) && has(operations, operation) && resourceNames.length === 0 && scopes.includes(scope);
}

/** It is about the kind, at least in part. */
function touches({ apiGroups, apiVersions, resources }: Rule, { plural }: ResourcePath): boolean {
  return has(apiGroups, GROUP) && has(apiVersions, VERSION) && (has(resources, plural) || has(resources, '*/*'));
}

function has(list: string[] = [], item: string): boolean {
  return list.includes(item) || list.includes('*');
}

/** What is said of a change that waits for an approval that anybody could give. Pure. @param problem guardProblem's */
export function unprotected(problem: string): Verdict & { state: 'Stalled' } {
  return {
    state: 'Stalled',
    reason: 'ApprovalUnprotected',
    message:
      `spec.updatePolicy.approval is Manual, but ${problem}, so anybody who may change the object could approve; ` +
      'install the manifests (cloud-operator manifests), or set approval to Auto',
  };
}
