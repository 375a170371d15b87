import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { labels, OPERATOR_NAME, type Settings } from '../options';

/** Where the operator and its state live, and as whom it works. */
export class NamespaceChart extends Chart {
  constructor(scope: Construct, { namespace, stateNamespace, dropIn }: Settings) {
    super(scope, 'namespace', { disableResourceNameHashes: true });
    // The operator uses the host's network, since it runs before there is any other. A drop-in's Pods are elsewhere.
    const podSecurity = dropIn === undefined ? { 'pod-security.kubernetes.io/enforce': 'privileged' } : {};
    const there = dropIn?.serviceAccount.namespace;
    if (namespace !== there) {
      new k8s.KubeNamespace(this, 'namespace', { metadata: { name: namespace, labels: { ...labels('operator'), ...podSecurity } } });
    }
    if (stateNamespace !== namespace && stateNamespace !== there) {
      new k8s.KubeNamespace(this, 'state-namespace', { metadata: { name: stateNamespace, labels: labels('state') } });
    }
    if (dropIn !== undefined) return;
    new k8s.KubeServiceAccount(this, 'service-account', { metadata: { name: OPERATOR_NAME, namespace, labels: labels('operator') } });
  }
}
