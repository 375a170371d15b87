import { arch } from 'node:os';
import type { KubeCondition, Service } from '../../operator/kube/object';
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
 * local endpoints are to be used; each node counts as having one. Pure.
 */
export function servedPorts(services: readonly Service[]): ServedPorts {
  const exposed = services.filter(({ spec }) => spec.type === 'LoadBalancer' || spec.type === 'NodePort');
  const ports = exposed.flatMap(({ spec }) =>
    (spec.ports ?? []).flatMap(({ nodePort, protocol = 'TCP' }) =>
      nodePort === undefined || nodePort === 0 || protocol === 'SCTP' ? [] : [{ port: nodePort, protocol }],
    ),
  );
  const healthChecks = exposed.flatMap(({ spec }) =>
    spec.externalTrafficPolicy === 'Local' && (spec.healthCheckNodePort ?? 0) !== 0
      ? [{ port: spec.healthCheckNodePort ?? 0, localEndpoints: 1 }]
      : [],
  );
  return { ports, healthChecks };
}
