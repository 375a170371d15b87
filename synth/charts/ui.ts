import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { labels, OPERATOR_NAME, type Settings } from '../options';

/** Of the ServiceAccount that `kubectl cloud ui` takes a token of, of its right, and of the Role for people. */
const UI_NAME = `${OPERATOR_NAME}-ui`;
const RBAC = 'rbac.authorization.k8s.io';

/**
 * Who may see the operator's page: a ServiceAccount that may do nothing else, and a Role with which people get to it. To whom that Role is given,
 * the platform team says; nobody has it by another role of ours.
 */
export class UiChart extends Chart {
  constructor(scope: Construct, { namespace }: Settings) {
    super(scope, 'ui', { disableResourceNameHashes: true });
    const metadata = { name: UI_NAME, labels: labels('people') };
    const inNamespace = { ...metadata, namespace };
    new k8s.KubeServiceAccount(this, 'account', { metadata: inNamespace, automountServiceAccountToken: false });
    new k8s.KubeClusterRole(this, 'page', { metadata, rules: [{ nonResourceUrLs: ['/ui', '/ui/*'], verbs: ['get'] }] });
    new k8s.KubeClusterRoleBinding(this, 'page-binding', {
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: UI_NAME },
      subjects: [{ kind: 'ServiceAccount', name: UI_NAME, namespace }],
    });
    new k8s.KubeRole(this, 'people', {
      metadata: inNamespace,
      rules: [
        { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [UI_NAME], verbs: ['create'] },
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
        // a WebSocket begins with a GET, which newer API servers take for a `create`
        { apiGroups: [''], resources: ['pods/portforward'], verbs: ['create', 'get'] },
      ],
    });
  }
}
