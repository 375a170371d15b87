import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { LoadBalancer } from '../../../api';
import { placesOf, type ListenerPlan, type LoadBalancerPlan } from '../../data-plane';
import { listenOnFirst, portCandidates } from '../engine/host-port';
import { reset } from '../engine/tcp-flow';
import { readFirstLine } from '../first-line';
import { KeyedLock } from '../keyed-lock';
import { onLines } from '../lines';
import { BRIDGE_ACCEPTED, type BridgedDatagram, type BridgeHello } from './bridge-protocol';

interface Door {
  loadBalancerID: string;
  port: number;
  close(): Promise<void>;
}

/** The host's end of the bridge: for each listener in the VPC a port on a loopback address, so that clients here can reach it. */
export class BridgeClient {
  private readonly doors = new Map<string, Door>();
  private readonly lock = new KeyedLock();

  /**
   * @param path the bridge's unix socket
   * @param hostAddress the loopback address that stands for an address in the VPC
   */
  constructor(
    private readonly path: string,
    private readonly hostAddress: (ip: string) => string,
  ) {}

  /**
   * Opens and closes ports until each listener has one.
   * @throws OperatorError Conflict when a port can't be opened
   */
  applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    return this.lock.run(plan.id, async () => {
      const wanted = placesOf(plan).map(({ ip, listener }) => ({ ip, listener, key: doorKey(plan.id, ip, listener) }));
      const keys = new Set(wanted.map(({ key }) => key));
      await this.closeWhere((door, key) => door.loadBalancerID === plan.id && !keys.has(key));
      const ports: LoadBalancer['hostPorts'] = [];
      for (const { ip, listener, key } of wanted) {
        const door = this.doors.get(key) ?? (await this.open(plan.id, ip, listener));
        this.doors.set(key, door);
        ports.push({ listener: listener.name, ip: this.hostAddress(ip), port: door.port, protocol: listener.protocol });
      }
      return ports;
    });
  }

  async removeLoadBalancer(id: string): Promise<void> {
    await this.lock.run(id, () => this.closeWhere((door) => door.loadBalancerID === id));
  }

  async close(): Promise<void> {
    await this.closeWhere(() => true);
  }

  private async closeWhere(matches: (door: Door, key: string) => boolean): Promise<void> {
    const closing = [...this.doors].filter(([key, door]) => matches(door, key));
    for (const [key] of closing) this.doors.delete(key);
    await Promise.all(closing.map(([, door]) => door.close()));
  }

  private open(loadBalancerID: string, ip: string, { protocol, port }: ListenerPlan): Promise<Door> {
    const hello: BridgeHello = { loadBalancerID, protocol, ip, port };
    return protocol === 'TCP' ? openTcpDoor(this.path, this.hostAddress(ip), hello) : openUdpDoor(this.path, this.hostAddress(ip), hello);
  }
}

function doorKey(loadBalancerID: string, ip: string, { protocol, port }: ListenerPlan): string {
  return `${loadBalancerID}|${protocol}|${ip}|${port}`;
}

async function openTcpDoor(path: string, hostIP: string, hello: BridgeHello): Promise<Door> {
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    bridge(path, client, { ...hello, client: { address: client.remoteAddress ?? '', port: client.remotePort ?? 0 } });
  });
  const port = await listenOnFirst(hostIP, portCandidates(hello.port, true), (candidate) => listen(server, hostIP, candidate));
  return {
    loadBalancerID: hello.loadBalancerID,
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const client of clients) reset(client);
      await closed;
    },
  };
}

/** Joins a client on the host with the listener in the VPC; a refusal there is a reset here. */
function bridge(path: string, client: Socket, hello: BridgeHello): void {
  const inside = connect({ path, allowHalfOpen: true });
  let accepted = false;
  client.on('error', () => inside.destroy());
  client.on('close', () => (accepted ? inside.destroySoon() : inside.destroy()));
  inside.on('error', () => reset(client));
  inside.on('close', () => (accepted ? client.destroySoon() : reset(client)));
  inside.write(`${JSON.stringify(hello)}\n`);
  readFirstLine(inside, BRIDGE_ACCEPTED.length, (line) => {
    if (line !== BRIDGE_ACCEPTED.trimEnd()) return void inside.destroy();
    accepted = true;
    client.pipe(inside);
    inside.pipe(client);
  });
}

async function openUdpDoor(path: string, hostIP: string, hello: BridgeHello): Promise<Door> {
  let socket: UdpSocket | undefined;
  const port = await listenOnFirst(hostIP, portCandidates(hello.port, true), async (candidate) => {
    socket = await bindUdp(hostIP, candidate);
  });
  const outside = socket;
  let inside: Socket | undefined;
  const connectInside = (): Socket => {
    const connection = connect(path);
    connection.write(`${JSON.stringify(hello)}\n`);
    onLines(connection, (line) => {
      const { client, data } = JSON.parse(line) as BridgedDatagram;
      outside?.send(Buffer.from(data, 'base64'), client.port, client.address);
    });
    // The next datagram makes a new connection.
    connection.on('error', () => connection.destroy()).on('close', () => (inside = inside === connection ? undefined : inside));
    return connection;
  };
  outside?.on('message', (data, from) => {
    inside ??= connectInside();
    const datagram: BridgedDatagram = { client: { address: from.address, port: from.port }, data: data.toString('base64') };
    inside.write(`${JSON.stringify(datagram)}\n`);
  });
  return {
    loadBalancerID: hello.loadBalancerID,
    port,
    close: () =>
      new Promise((resolve) => {
        inside?.destroy();
        if (outside === undefined) resolve();
        else outside.close(() => resolve());
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function bindUdp(address: string, port: number): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ address, port, exclusive: true }, () => {
      // A client that has gone away makes sending to it fail; the others must still be served.
      socket.removeAllListeners('error').on('error', () => undefined);
      resolve(socket);
    });
  });
}
