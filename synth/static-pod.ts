import type { k8s } from 'cdk8s-plus-27';

/** The user of its kubeconfig: a static Pod can't have a ServiceAccount. */
export const STATIC_POD_USER = 'cloud-operator';

/** On the host, beside those of kubeadm's own static Pods. */
const KUBECONFIG = '/etc/kubernetes/cloud-operator.conf';

/** How a static Pod reaches the API server: by a file of its host. */
export function staticPodAccess(https: boolean): { args: string[]; volumes: k8s.Volume[]; mounts: k8s.VolumeMount[] } {
  const asked = https ? ['authentication', 'authorization'].map((what) => `--${what}-kubeconfig=${KUBECONFIG}`) : [];
  return {
    args: [`--kubeconfig=${KUBECONFIG}`, ...asked],
    volumes: [{ name: 'kubeconfig', hostPath: { path: KUBECONFIG, type: 'File' } }],
    mounts: [{ name: 'kubeconfig', mountPath: KUBECONFIG, readOnly: true }],
  };
}
