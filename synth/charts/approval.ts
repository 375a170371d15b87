import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { ANNOTATIONS, APPROVAL_POLICY, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES, GROUP, VERSION } from '../../crds';
import { labels } from '../options';

const API = 'admissionregistration.k8s.io/v1';
const RESOURCES = [CLOUD_LOAD_BALANCERS.plural, CLOUD_ROUTES.plural, CLOUD_PROVIDERS.plural];

/** CEL: may whoever sends the request approve plans of this object? One that is in no namespace has no such key. */
const MAY_APPROVE =
  `authorizer.group('${GROUP}').resource(request.resource.resource).namespace(request.?namespace.orValue(''))` +
  ".name(request.name).check('approve').allowed()";

/**
 * Whoever may change an object may set its annotations too. This asks for the verb `approve` where a change approves a plan, or makes the
 * approval of later ones unnecessary (design: Who may do what).
 */
export class ApprovalChart extends Chart {
  constructor(scope: Construct) {
    super(scope, 'approval', { disableResourceNameHashes: true });
    const metadata = { name: APPROVAL_POLICY, labels: labels('people') };
    const rule = { apiGroups: [GROUP], apiVersions: [VERSION], operations: ['CREATE', 'UPDATE'], resources: RESOURCES, scope: '*' };
    new ApiObject(this, 'policy', {
      apiVersion: API,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        // With the API server's own defaults: it takes the whole for one value, and a second tool that applies it would be told of a conflict.
        matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] },
        variables: [
          { name: 'approved', expression: approvedBy('object') },
          { name: 'before', expression: `oldObject == null ? '' : ${approvedBy('oldObject')}` },
          { name: 'mayApprove', expression: MAY_APPROVE },
        ],
        validations: [
          {
            expression: "variables.approved == '' || variables.approved == variables.before || variables.mayApprove",
            message: `annotation ${ANNOTATIONS.approve} can only be set by who has the verb approve on this object (ClusterRole cloud-operator-approve)`,
            reason: 'Forbidden',
          },
          ...[
            ['approval', 'Auto', 'Manual'],
            ['replace', 'Never', 'Never'],
          ].map(([field = '', preset = '', strict = '']) => ({
            expression: `oldObject == null || ${setting('oldObject', field, preset)} != '${strict}' || ${setting('object', field, preset)} == '${strict}' || variables.mayApprove`,
            message: `spec.updatePolicy.${field} ${strict} can only be given up by who has the verb approve on this object (ClusterRole cloud-operator-approve)`,
            reason: 'Forbidden',
          })),
        ],
      },
    });
    new ApiObject(this, 'binding', {
      apiVersion: API,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: APPROVAL_POLICY, validationActions: ['Deny'] },
    });
  }
}

function approvedBy(object: string): string {
  return `${object}.metadata.?annotations[?'${ANNOTATIONS.approve}'].orValue('')`;
}

function setting(object: string, field: string, preset: string): string {
  return `${object}.spec.?updatePolicy.?${field}.orValue('${preset}')`;
}
