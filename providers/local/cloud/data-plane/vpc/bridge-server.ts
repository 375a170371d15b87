import { createServer, type Socket } from 'node:net';
import type { Engine } from '../engine/engine';
import { TcpListener } from '../engine/tcp-listener';
import { UdpListener } from '../engine/udp-listener';
import { readFirstLine } from '../first-line';
import { onLines } from '../lines';
import { SocketFolder } from '../socket-folder';
import { BRIDGE_ACCEPTED, BRIDGE_SOCKET, type BridgedDatagram, type BridgeHello } from './bridge-protocol';

const LONGEST_HELLO = 4096;

/** The VPC's end of the bridge: hands the host's clients to the listeners as if they had come in there. */
export class BridgeServer {
  private readonly path: string;

  constructor(
    directory: string,
    private readonly engine: Engine,
  ) {
    this.path = new SocketFolder(directory).socket(BRIDGE_SOCKET);
  }

  async start(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      // `close` follows, and ends what the connection stands for.
      socket.on('error', () => socket.destroy());
      readFirstLine(socket, LONGEST_HELLO, (line) => this.join(socket, line));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.path, resolve);
    });
  }

  private join(socket: Socket, line: string | undefined): void {
    if (line === undefined) return void socket.destroy();
    const { loadBalancerID, protocol, ip, port, client } = JSON.parse(line) as BridgeHello;
    const listener = this.engine.find(loadBalancerID, protocol, ip, port);
    if (listener instanceof TcpListener && client !== undefined) {
      listener.accept(socket, client, () => socket.write(BRIDGE_ACCEPTED));
    } else if (listener instanceof UdpListener) {
      this.relay(socket, listener);
    } else {
      socket.destroy();
    }
  }

  private relay(socket: Socket, listener: UdpListener): void {
    onLines(socket, (line) => {
      const { client, data } = JSON.parse(line) as BridgedDatagram;
      listener.receive(Buffer.from(data, 'base64'), client, (answer) => {
        if (socket.writable) socket.write(`${JSON.stringify({ client, data: answer.toString('base64') } satisfies BridgedDatagram)}\n`);
      });
    });
    socket.on('end', () => socket.destroy());
    socket.resume();
  }
}
