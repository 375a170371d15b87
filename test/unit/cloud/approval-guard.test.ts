import { parseAllDocuments } from 'yaml';
import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES } from '../../../crds';
import { guardProblem, type GuardBinding, type GuardPolicy } from '../../../operator/cloud/plan/approval-guard';
import { outputFiles } from '../../../synth/output';

type Named = { kind?: string };
const objects = parseAllDocuments(outputFiles().get('install.yaml') ?? '').map((document) => document.toJS() as Named | null);
const policy = objects.find((object) => object?.kind === 'ValidatingAdmissionPolicy') as GuardPolicy;
const binding = objects.find((object) => object?.kind === 'ValidatingAdmissionPolicyBinding') as GuardBinding;

type PolicySpec = NonNullable<GuardPolicy['spec']>;
type Match = NonNullable<PolicySpec['matchConstraints']>;
const rule = policy.spec?.matchConstraints?.resourceRules?.[0] ?? {};
const withPolicy = (spec: PolicySpec): GuardPolicy => ({ ...policy, spec: { ...policy.spec, ...spec } });
const withRules = (...resourceRules: Match['resourceRules'] & object): GuardPolicy => withPolicy({ matchConstraints: { resourceRules } });
const withBinding = (spec: GuardBinding['spec']): GuardBinding => ({ ...binding, spec: { ...binding.spec, ...spec } });
const LABELLED = { matchLabels: { team: 'a' } };

test.each<[string, GuardPolicy, GuardBinding]>([
  ['as the manifests have it', policy, binding],
  [
    'as the API server gives it back, with its defaults',
    withPolicy({
      matchConstraints: { resourceRules: [{ ...rule, scope: '*' }], namespaceSelector: {}, objectSelector: {} },
    }),
    withBinding({ matchResources: { namespaceSelector: {}, objectSelector: {} } }),
  ],
  ['one rule for each operation', withRules({ ...rule, operations: ['CREATE'] }, { ...rule, operations: ['UPDATE'] }), binding],
  ['everything', withRules({ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }), binding],
  ['a binding with the same rules', policy, withBinding({ matchResources: { resourceRules: [rule] } })],
  [
    'others left out',
    withPolicy({ matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, apiGroups: ['apps'] }] } }),
    binding,
  ],
])('protected: %s', (_what, one, other) => expect(guardProblem(one, other, CLOUD_LOAD_BALANCERS)).toBeUndefined());

const DOES_NOT_COVER = /^ValidatingAdmissionPolicy .* does not cover all cloudloadbalancers \(matchConstraints\)$/;

test.each<[string, GuardPolicy | undefined, RegExp]>([
  ['no policy', undefined, /^the cluster has no ValidatingAdmissionPolicy approval.cloud-operator.dev with a binding that denies$/],
  ['without a spec', { ...policy, spec: {} }, /does not ask for the verb approve/],
  ['without rules', withRules(), DOES_NOT_COVER],
  ['without constraints', withPolicy({ matchConstraints: {} }), DOES_NOT_COVER],
  ['an empty rule', withRules({}), DOES_NOT_COVER],
  ['of another kind', withRules({ ...rule, resources: ['cloudroutes'] }), DOES_NOT_COVER],
  ['of another group', withRules({ ...rule, apiGroups: ['apps'] }), DOES_NOT_COVER],
  ['only when they are made', withRules({ ...rule, operations: ['CREATE'] }), DOES_NOT_COVER],
  ['some names only', withRules({ ...rule, resourceNames: ['web'] }), DOES_NOT_COVER],
  ['cluster-scoped ones only', withRules({ ...rule, scope: 'Cluster' }), DOES_NOT_COVER],
  ['some namespaces only', withPolicy({ matchConstraints: { resourceRules: [rule], namespaceSelector: LABELLED } }), DOES_NOT_COVER],
  ['some objects only', withPolicy({ matchConstraints: { resourceRules: [rule], objectSelector: LABELLED } }), DOES_NOT_COVER],
  ['taken out again', withPolicy({ matchConstraints: { resourceRules: [rule], excludeResourceRules: [rule] } }), DOES_NOT_COVER],
  ['a condition', withPolicy({ matchConditions: [{ name: 'never', expression: 'false' }] }), /under conditions of its own/],
  ['fails open', withPolicy({ failurePolicy: 'Ignore' }), /failurePolicy/],
  ['asks nothing', withPolicy({ validations: [{ expression: 'true' }], variables: [] }), /does not ask/],
  ['no question left', withPolicy({ validations: [] }), /does not ask/],
])('unprotected: the policy, %s', (_what, one, says) => expect(guardProblem(one, binding, CLOUD_LOAD_BALANCERS)).toMatch(says));

const NO_BINDING = /^the cluster has no ValidatingAdmissionPolicy .* with a binding that denies$/;

test.each<[string, GuardBinding | undefined, RegExp]>([
  ['none', undefined, NO_BINDING],
  ['only warns', withBinding({ validationActions: ['Warn'] }), NO_BINDING],
  ['of another policy', withBinding({ policyName: 'another' }), NO_BINDING],
  ['some namespaces only', withBinding({ matchResources: { namespaceSelector: LABELLED } }), /binding .* \(matchResources\)$/],
  ['of another kind', withBinding({ matchResources: { resourceRules: [{ ...rule, resources: ['cloudroutes'] }] } }), /\(matchResources\)$/],
])('unprotected: the binding, %s', (_what, other, says) => expect(guardProblem(policy, other, CLOUD_LOAD_BALANCERS)).toMatch(says));

test.each<[string, GuardPolicy, string | undefined]>([
  ['as the manifests have it', policy, undefined],
  ['cluster-scoped ones', withRules({ ...rule, scope: 'Cluster' }), undefined],
  ['namespaced ones only', withRules({ ...rule, scope: 'Namespaced' }), 'does not cover all cloudroutes (matchConstraints)'],
  ['load balancers only', withRules({ ...rule, resources: ['cloudloadbalancers'] }), 'does not cover all cloudroutes (matchConstraints)'],
])('of routes: %s', (_what, one, says) => {
  const problem = guardProblem(one, binding, CLOUD_ROUTES);
  expect(problem).toEqual(says === undefined ? undefined : expect.stringContaining(says));
});
