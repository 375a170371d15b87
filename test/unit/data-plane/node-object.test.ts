import { nodeObject, servedPorts } from '../../../dev/nodes/node-object';
import type { Service } from '../../../operator/kube/object';

const service = (spec: Service['spec']) => ({ spec }) as Service;

test('nodes serve the NodePorts of Services that have them, and service health where it is asked for', () => {
  const services = [
    service({
      type: 'LoadBalancer',
      ports: [
        { port: 80, nodePort: 30080 },
        { port: 53, nodePort: 30053, protocol: 'UDP' },
      ],
    }),
    service({ type: 'NodePort', ports: [{ port: 81, nodePort: 30081 }] }),
    service({ type: 'ClusterIP', ports: [{ port: 82 }] }),
    service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000, ports: [{ port: 83, nodePort: 30083 }] }),
    service({ type: 'LoadBalancer', ports: [{ port: 84, protocol: 'SCTP', nodePort: 30084 }, { port: 85 }] }),
  ];
  expect(servedPorts(services)).toEqual({
    ports: [
      { port: 30080, protocol: 'TCP' },
      { port: 30053, protocol: 'UDP' },
      { port: 30081, protocol: 'TCP' },
      { port: 30083, protocol: 'TCP' },
    ],
    healthChecks: [{ port: 31000, localEndpoints: 1 }],
  });
});

test('a Node registers as with an external cloud provider', () => {
  expect(nodeObject('node-1', ['10.244.1.0/24'], new Date(0))).toMatchObject({
    metadata: { name: 'node-1' },
    spec: {
      podCIDR: '10.244.1.0/24',
      podCIDRs: ['10.244.1.0/24'],
      taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
});
