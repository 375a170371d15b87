import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES, GROUP, KINDS } from '../../crds';
import { ACCOUNT_NAMESPACE, LOOP_ACCOUNTS, permissions, permissionsOfAccount, type Permission } from '../../operator/permissions';
import { labels, OPERATOR_NAME, servesHttps, workloadOf, type Settings } from '../options';
import { rulesIn } from '../rbac';
import { STATIC_POD_USER } from '../static-pod';

const RBAC = 'rbac.authorization.k8s.io';

/** The operator's rights, and those of people on our kinds. */
export class RbacChart extends Chart {
  private readonly subjects: k8s.Subject[];

  constructor(scope: Construct, settings: Settings) {
    super(scope, 'rbac', { disableResourceNameHashes: true });
    const { controllerManager, dropIn, namespace } = settings;
    this.subjects =
      workloadOf(settings) === 'StaticPod'
        ? [{ kind: 'User', apiGroup: RBAC, name: STATIC_POD_USER }]
        : [{ kind: 'ServiceAccount', ...(dropIn?.serviceAccount ?? { name: OPERATOR_NAME, namespace }) }];
    const serviceAccountCredentials = (controllerManager ?? dropIn)?.serviceAccountCredentials === true;
    const all = permissions({ ...settings, serviceAccountCredentials });
    const table = serviceAccountCredentials ? permissionsOfAccount(all, undefined) : all;
    this.clusterRole(OPERATOR_NAME, table, this.subjects);
    for (const one of namespacesOf(table)) this.role(table, one);
    if (serviceAccountCredentials) this.loopRoles(all);
    if (servesHttps(settings) || dropIn !== undefined) this.delegation();
    this.peopleRoles();
    this.approveRole();
  }

  private clusterRole(name: string, table: Permission[], subjects: k8s.Subject[]): void {
    const metadata = { name, labels: labels('operator') };
    new k8s.KubeClusterRole(this, `cluster-role-of-${name}`, { metadata, rules: rulesIn(table, undefined) });
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
    new k8s.KubeClusterRoleBinding(this, `cluster-role-binding-of-${name}`, { metadata, roleRef, subjects });
  }

  /** For ServiceAccounts that upstream's other controllers have too: the operator makes them, no manifest does. */
  private loopRoles(table: Permission[]): void {
    for (const account of LOOP_ACCOUNTS) {
      const subject = { kind: 'ServiceAccount', name: account, namespace: ACCOUNT_NAMESPACE };
      this.clusterRole(`${OPERATOR_NAME}-${account}`, permissionsOfAccount(table, account), [subject]);
    }
  }

  private role(table: Permission[], namespace: string): void {
    const metadata = { name: OPERATOR_NAME, namespace, labels: labels('operator') };
    new k8s.KubeRole(this, `role-${namespace}`, { metadata, rules: rulesIn(table, namespace) });
    const roleRef = { apiGroup: RBAC, kind: 'Role', name: OPERATOR_NAME };
    new k8s.KubeRoleBinding(this, `role-binding-${namespace}`, { metadata, roleRef, subjects: this.subjects });
  }

  /** Its HTTPS server asks the API server who somebody is, whom the cluster's CAs vouch for, and what that one may do (contract 7.8). */
  private delegation(): void {
    const delegator = { name: `${OPERATOR_NAME}-auth-delegator`, labels: labels('operator') };
    const asked = { apiGroup: RBAC, kind: 'ClusterRole', name: 'system:auth-delegator' };
    new k8s.KubeClusterRoleBinding(this, 'auth-delegator', { metadata: delegator, roleRef: asked, subjects: this.subjects });
    const reader = { name: `${OPERATOR_NAME}-authentication-reader`, namespace: 'kube-system', labels: labels('operator') };
    const read = { apiGroup: RBAC, kind: 'Role', name: 'extension-apiserver-authentication-reader' };
    new k8s.KubeRoleBinding(this, 'authentication-reader', { metadata: reader, roleRef: read, subjects: this.subjects });
  }

  /**
   * Adds our kinds to the cluster's own roles view and edit. Nobody gets `/status`: the operator reads it back. What belongs to the
   * platform team (CloudProvider, CloudRoute) and what the operator writes can be changed by cluster administrators only.
   */
  private peopleRoles(): void {
    const plurals = KINDS.map(({ plural }) => plural);
    const namespaced = KINDS.filter(({ scope }) => scope === 'Namespaced').map(({ plural }) => plural);
    this.aggregated('view', ['view', 'edit', 'admin'], { apiGroups: [GROUP], resources: plurals, verbs: ['get', 'list', 'watch'] });
    this.aggregated('edit', ['edit', 'admin'], {
      apiGroups: [GROUP],
      resources: namespaced,
      verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
    });
  }

  /** For whom the platform team chooses: no role of the cluster's own has it. */
  private approveRole(): void {
    const metadata = { name: `${OPERATOR_NAME}-approve`, labels: labels('people') };
    const resources = [CLOUD_LOAD_BALANCERS.plural, CLOUD_ROUTES.plural, CLOUD_PROVIDERS.plural];
    new k8s.KubeClusterRole(this, 'cluster-role-approve', { metadata, rules: [{ apiGroups: [GROUP], resources, verbs: ['approve'] }] });
  }

  private aggregated(name: string, into: string[], rule: k8s.PolicyRule): void {
    const aggregation = Object.fromEntries(into.map((role) => [`${RBAC}/aggregate-to-${role}`, 'true']));
    const metadata = { name: `${OPERATOR_NAME}-${name}`, labels: { ...labels('people'), ...aggregation } };
    new k8s.KubeClusterRole(this, `cluster-role-${name}`, { metadata, rules: [rule] });
  }
}

function namespacesOf(table: Permission[]): string[] {
  return [...new Set(table.flatMap(({ namespace }) => namespace ?? []))].sort();
}
