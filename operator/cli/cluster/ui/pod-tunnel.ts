import { PortForward } from '@kubernetes/client-node';
import { createServer, type Socket } from 'node:net';
import { OperatorError, toOperatorError } from '../../../base/errors';
import type { KubeClient } from '../../../kube/client';
import type { KubeObject, ResourcePath } from '../../../kube/object';
import type { Upstream } from './upstream';

const PODS: ResourcePath = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const SELECTOR = 'app.kubernetes.io/name=cloud-operator,app.kubernetes.io/component=operator';

interface Pod extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/**
 * A port on this machine whose connections end at a Pod of the operator: each goes through the API server, as kubectl port-forward does.
 * @throws OperatorError NotFound where no Pod of it is ready
 */
export async function reachPod(
  api: KubeClient,
  { namespace, operatorPort }: { namespace: string; operatorPort: number },
): Promise<Upstream> {
  const pods = await api.list<Pod>(PODS, { namespace, labelSelector: SELECTOR });
  const pod = pods.find(isReady)?.metadata.name;
  if (pod === undefined) {
    const remedy = `kubectl get pods -n ${namespace} -l ${SELECTOR}; another namespace is named with --namespace, and an operator elsewhere with --server`;
    throw new OperatorError('NotFound', `no Pod of the operator is ready in namespace ${namespace}: ${pods.length} are there`, { remedy });
  }
  const forward = new PortForward(api.kubeConfig);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    void carry(forward, { namespace, pod, port: operatorPort }, socket);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => resolve((server.address() as { port: number }).port));
  });
  const end = async (): Promise<void> => {
    sockets.forEach((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { host: '127.0.0.1', port, close: end };
}

/** The WebSocket, as far as it is used here; its own types are those of a package that is not there. */
interface Tunnel {
  on(event: 'close' | 'error', listener: () => void): void;
  close(): void;
}

/** Whoever is at the socket's other end sees a connection that breaks, as when the Pod goes. */
async function carry(
  forward: PortForward,
  { namespace, pod, port }: { namespace: string; pod: string; port: number },
  socket: Socket,
): Promise<void> {
  try {
    const tunnel = (await forward.portForward(namespace, pod, [port], socket, null, socket)) as Tunnel;
    const ended = (): void => void socket.destroy();
    tunnel.on('close', ended);
    tunnel.on('error', ended);
    socket.on('close', () => tunnel.close());
    socket.on('error', () => tunnel.close());
  } catch (thrown) {
    socket.destroy(toOperatorError(thrown));
  }
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
  return ready && metadata.deletionTimestamp === undefined;
}
