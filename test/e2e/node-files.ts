import { CLUSTER_CIDR } from './network';
import { PAUSE } from './images';

/** Paths inside a node's machine; /run, /var/lib and /var/log are its own there. */
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
export const KUBELET_PLUGINS = '/var/lib/kubelet-volume-plugins';
const CNI_CONFIGURATION = '/run/cni';

export interface NodeSettings {
  name: string;
  /** Absolute, as kubelets name it. */
  cgroup: string;
  cgroupVersion1: boolean;
  /** The cluster's DNS server. */
  dns: string;
  /** Folder of the CNI plugins. */
  cniPlugins: string;
  /** Folder of the node's files outside, which is there inside as well. */
  directory: string;
}

/** containerd's configuration. Pure. */
export function containerdConfig({ cniPlugins, directory }: NodeSettings): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE}"
  netns_mounts_under_state_dir = true
  enable_selinux = false
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniPlugins}"
    conf_dir = "${CNI_CONFIGURATION}"
    conf_template = "${directory}/cni.json"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
}

/** The network of the node's Pods: containerd fills in the PodCIDR that the kubelet tells it, so no Pod starts before there is one. Pure. */
export function cniTemplate(): string {
  const ipam = { type: 'host-local', ranges: [[{ subnet: '{{.PodCIDR}}' }]], routes: [{ dst: '0.0.0.0/0' }] };
  return JSON.stringify({ cniVersion: '0.3.1', name: 'pods', plugins: [{ type: 'ptp', ipMasq: false, ipam }] });
}

/** Pure. */
export function kubeletConfig({ cgroup, cgroupVersion1, dns, directory }: NodeSettings): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Only this run's own processes reach it.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroup,
    failCgroupV1: !cgroupVersion1,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    // The disk is everybody's: a full one must not end the tests' Pods, nor cost the images, which nobody could pull again.
    evictionHard: { 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    clusterDNS: [dns],
    clusterDomain: 'cluster.local',
    resolvConf: `${directory}/resolv.conf`,
    volumePluginDir: KUBELET_PLUGINS,
    readOnlyPort: 0,
  };
}

/** Pure. */
export function kubeProxyConfig({ name }: NodeSettings, kubeconfig: string, mode: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    hostnameOverride: name,
    mode,
    clusterCIDR: CLUSTER_CIDR,
    detectLocalMode: 'ClusterCIDR',
    // The whole machine's limit is not the node's to set.
    conntrack: { maxPerCore: 0, min: 0 },
  };
}
