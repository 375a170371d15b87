import { createServer, type Socket } from 'node:net';
import { addressInCIDR } from '../../providers/local/cloud/data-plane/ip-range';
import { onLines } from '../../providers/local/cloud/data-plane/lines';
import { NodePorts } from './node-ports';
import type { NodeletRequest, NodeletResponse } from './nodelet-protocol';
import { Pod } from './pod';

/**
 * A node for development: what kubelet, kube-proxy and a network plugin do for traffic, in one small process that the local cloud runs on
 * an instance. It is told what to serve over its unix socket, and ends on SIGTERM or when the cloud does.
 */
async function main(): Promise<void> {
  const instanceID = required('LOCALCLOUD_INSTANCE');
  const node = process.env['NODE_NAME'] ?? instanceID;
  const ports = new NodePorts(node, required('LOCALCLOUD_ADDRESS').split(','));
  await ports.start();
  const podCIDRs = (process.env['LOCALCLOUD_POD_CIDRS'] ?? '').split(',').filter((cidr) => cidr !== '');
  const ips = podCIDRs.map((cidr) => addressInCIDR(cidr, 2));
  const pod = ips.length === 0 ? undefined : new Pod({ node, instanceID, ips, ...userland() });
  await pod?.start();
  await listen(required('LOCALCLOUD_SOCKET'), (request) => {
    if (request.method === 'serve') return ports.serve(request.params);
    if (pod === undefined) return Promise.reject(new Error(`${node} has no pod CIDR`));
    return pod.fetch(request.params);
  });
}

/** Serves requests on the unix socket, each answered when it is done. */
async function listen(path: string, handle: (request: NodeletRequest) => Promise<unknown>): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', (error) => process.stderr.write(`control connection: ${error.message}\n`));
    onLines(socket, (line) => void answer(socket, JSON.parse(line) as NodeletRequest, handle));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

async function answer(socket: Socket, request: NodeletRequest, handle: (request: NodeletRequest) => Promise<unknown>): Promise<void> {
  const response: NodeletResponse = await handle(request).then(
    (result) => ({ id: request.id, result }),
    (error: unknown) => ({ id: request.id, error: (error as Error).message }),
  );
  socket.write(`${JSON.stringify(response)}\n`);
}

function userland(): { userland?: { router: string; podSocket: string } } {
  const router = process.env['LOCALCLOUD_ROUTER'];
  const podSocket = process.env['LOCALCLOUD_POD_SOCKET'];
  return router === undefined || podSocket === undefined ? {} : { userland: { router, podSocket } };
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; the local cloud sets it for the process of an instance`);
  return value;
}

process.on('SIGTERM', () => process.exit(0));
// Standard input is a pipe from the cloud: its end is the cloud's.
process.stdin.resume().on('end', () => process.exit(0));
main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
});
