import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server that plays a node: answers every HTTP request with its name, and echoes UDP with its name in front. */
export class Backend {
  healthy = true;
  /** Answers are held back until `release` is called. */
  held: (() => void)[] | undefined;
  /** True while a client of `/flood` gets data without end. */
  flooding = false;
  private readonly server: Server;
  private readonly udp: UdpSocket;
  private readonly sockets = new Set<Socket>();

  private constructor(
    readonly name: string,
    readonly address: string,
    public port: number,
  ) {
    this.server = createServer((request, response) => {
      if (request.url === '/healthz') {
        response.writeHead(this.healthy ? 200 : 503).end();
        return;
      }
      if (request.url === '/flood') return this.flood(response);
      const answer = () => response.end(JSON.stringify({ node: name, client: request.socket.remoteAddress }));
      if (this.held === undefined) answer();
      else this.held.push(answer);
    });
    this.server.keepAliveTimeout = 30_000;
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    this.udp = createSocket('udp4', (data, from) => this.udp.send(`${name}:${data.toString()}`, from.port, from.address));
  }

  static async start(name: string, address: string, port = 0): Promise<Backend> {
    const backend = new Backend(name, address, port);
    await new Promise<void>((resolve, reject) => backend.server.once('error', reject).listen(port, address, resolve));
    backend.port = (backend.server.address() as AddressInfo).port;
    await new Promise<void>((resolve) => backend.udp.bind(backend.port, address, resolve));
    return backend;
  }

  private flood(response: ServerResponse): void {
    this.flooding = true;
    response.on('close', () => (this.flooding = false));
    const block = Buffer.alloc(1 << 20);
    const fill = () => void (response.write(block) ? setImmediate(fill) : response.once('drain', fill));
    fill();
  }

  /** Ends like a process that is killed. */
  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
    await new Promise<void>((resolve) => this.udp.close(() => resolve()));
  }
}
