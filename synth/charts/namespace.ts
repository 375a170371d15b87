import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { labels, OPERATOR_NAME, workloadOf, type Settings } from '../options';

/** Where the operator and its state live, and as whom it works. */
export class NamespaceChart extends Chart {
  constructor(scope: Construct, settings: Settings) {
    super(scope, 'namespace', { disableResourceNameHashes: true });
    const { namespace, stateNamespace, dropIn, network } = settings;
    // On the host's network it runs before there is any other. A drop-in's Pods are elsewhere.
    const podSecurity = enforced(dropIn === undefined && network === 'Host' ? 'privileged' : 'restricted');
    const there = dropIn?.serviceAccount.namespace;
    if (namespace !== there) {
      new k8s.KubeNamespace(this, 'namespace', { metadata: { name: namespace, labels: { ...labels('operator'), ...podSecurity } } });
    }
    if (stateNamespace !== namespace && stateNamespace !== there) {
      new k8s.KubeNamespace(this, 'state-namespace', {
        metadata: { name: stateNamespace, labels: { ...labels('state'), ...enforced('restricted') } },
      });
    }
    if (dropIn !== undefined || workloadOf(settings) === 'StaticPod') return;
    new k8s.KubeServiceAccount(this, 'service-account', { metadata: { name: OPERATOR_NAME, namespace, labels: labels('operator') } });
  }
}

/** Which Pods the namespace takes. */
function enforced(level: 'privileged' | 'restricted'): Record<string, string> {
  return { 'pod-security.kubernetes.io/enforce': level };
}
