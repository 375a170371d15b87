import { APPROVAL_POLICY } from '../../../crds';
import type { KubeApi } from '../../kube/api';
import type { KubeObject, ResourcePath } from '../../kube/object';
import type { Verdict } from '../conditions';

const API = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const POLICIES: ResourcePath = { ...API, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' };
const BINDINGS: ResourcePath = { ...API, plural: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' };

type Binding = KubeObject & { spec?: { policyName?: string; validationActions?: string[] } };

/** Whether the API server asks for the verb `approve` before it takes an approval. Where it doesn't, an approval says nothing. */
export class ApprovalGuard {
  constructor(private readonly api: Pick<KubeApi, 'get'>) {}

  async isInstalled(): Promise<boolean> {
    const [policy, binding] = await Promise.all([
      this.api.get<KubeObject>(POLICIES, APPROVAL_POLICY),
      this.api.get<Binding>(BINDINGS, APPROVAL_POLICY),
    ]);
    return policy !== undefined && guards(binding);
  }
}

/** Pure. */
export function guards(binding: Binding | undefined): boolean {
  return binding?.spec?.policyName === APPROVAL_POLICY && binding.spec.validationActions?.includes('Deny') === true;
}

/** What is said of a change that waits for an approval that anybody could give. */
export const UNPROTECTED: Verdict & { state: 'Stalled' } = {
  state: 'Stalled',
  reason: 'ApprovalUnprotected',
  message:
    `spec.updatePolicy.approval is Manual, but the cluster has no ValidatingAdmissionPolicy ${APPROVAL_POLICY} with a binding that denies, so anybody ` +
    'who may change the object could approve; install the manifests (cloud-operator manifests), or set approval to Auto',
};
