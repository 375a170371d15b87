import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { labels, OPERATOR_NAME, type Settings } from '../options';

/** Where the operator lives, and as whom. */
export class NamespaceChart extends Chart {
  constructor(scope: Construct, { namespace }: Settings) {
    super(scope, 'namespace', { disableResourceNameHashes: true });
    // The operator uses the host's network, since it runs before there is any other.
    const podSecurity = { 'pod-security.kubernetes.io/enforce': 'privileged' };
    new k8s.KubeNamespace(this, 'namespace', { metadata: { name: namespace, labels: { ...labels('operator'), ...podSecurity } } });
    new k8s.KubeServiceAccount(this, 'service-account', { metadata: { name: OPERATOR_NAME, namespace, labels: labels('operator') } });
  }
}
