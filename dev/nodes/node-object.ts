import { arch } from 'node:os';
import type { KubeCondition, Node, Service } from '../../operator/kube/object';
import { LABEL_HOSTNAME, TAINT_UNINITIALIZED } from '../../operator/kube/well-known';
import type { ServedPorts } from './nodelet-protocol';

/** A Node as a kubelet with `--cloud-provider=external` registers it: tainted, without providerID and without addresses of its own. Pure. */
export function nodeObject(name: string, podCIDRs: string[], now: Date): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { [LABEL_HOSTNAME]: name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': arch() === 'x64' ? 'amd64' : arch() },
    },
    spec: {
      ...(podCIDRs[0] !== undefined && { podCIDR: podCIDRs[0], podCIDRs }),
      taints: [{ key: TAINT_UNINITIALIZED, value: 'true', effect: 'NoSchedule' }],
    },
    status: {
      capacity: { cpu: '2', memory: '4Gi', pods: '110' },
      allocatable: { cpu: '2', memory: '4Gi', pods: '110' },
      addresses: [{ type: 'Hostname', address: name }],
      conditions: [{ ...readyCondition(true, now), lastTransitionTime: now.toISOString() }],
      nodeInfo: {
        ...{ architecture: arch() === 'x64' ? 'amd64' : arch(), operatingSystem: 'linux', osImage: 'nodelet' },
        ...{ kernelVersion: '', containerRuntimeVersion: '', kubeletVersion: 'v1.35.4', kubeProxyVersion: '' },
        ...{ machineID: '', systemUUID: '', bootID: '' },
      },
    },
  };
}

/** `node-7` → 7; undefined for a name that is none of a fleet's. Pure. */
export function nodeNumber(name: string): number | undefined {
  const digits = /^node-([0-9]{1,5})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export const NODE_LEASE_NAMESPACE = 'kube-node-lease';

/** A Node's Lease as its kubelet renews it; goes with the Node. Pure. */
export function nodeLease({ metadata: { name, uid } }: Node, now: Date): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: NODE_LEASE_NAMESPACE, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: now.toISOString().replace('Z', '000Z') },
  };
}

/** What a kubelet says of itself with each heartbeat. Pure. */
export function readyCondition(ready: boolean, now: Date): KubeCondition {
  return {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason: ready ? 'KubeletReady' : 'KubeletNotReady',
    message: ready ? 'nodelet is posting ready status' : 'nodelet was told not to be ready',
    lastHeartbeatTime: now.toISOString(),
  };
}

/**
 * The ports that kube-proxy opens on every node for these Services: NodePorts of every Service that has them, and service health where only
 * local endpoints are to be used. Of a load balancer that hands packets on as they are, its own address too. Pure.
 */
export function servedPorts(services: readonly Service[], localEndpoints = 1): ServedPorts {
  const exposed = services.filter(({ spec }) => spec.type === 'LoadBalancer' || spec.type === 'NodePort');
  const ports = exposed.flatMap(({ spec }) =>
    (spec.ports ?? []).flatMap(({ nodePort, protocol = 'TCP' }) =>
      nodePort === undefined || nodePort === 0 || protocol === 'SCTP' ? [] : [{ port: nodePort, protocol }],
    ),
  );
  const healthChecks = exposed.flatMap(({ spec }) =>
    spec.externalTrafficPolicy === 'Local' && (spec.healthCheckNodePort ?? 0) !== 0
      ? [{ port: spec.healthCheckNodePort ?? 0, localEndpoints }]
      : [],
  );
  const external = exposed.flatMap(({ spec, status }) => {
    const vips = (status?.loadBalancer?.ingress ?? []).filter(({ ip, ipMode }) => ip !== undefined && ipMode === 'VIP');
    return vips.flatMap(({ ip = '' }) =>
      (spec.ports ?? []).flatMap(({ port, protocol = 'TCP' }) => (protocol === 'SCTP' ? [] : [{ ip, port, protocol }])),
    );
  });
  return { ports, healthChecks, ...(external.length > 0 && { external }) };
}
