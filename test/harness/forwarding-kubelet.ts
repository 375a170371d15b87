import { createServer, type Server } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { CertificateAuthority } from './certificate-authority';

/** Data and errors of the one port that is forwarded, as channels of the WebSocket. */
const [DATA, ERROR] = [0, 1];
const PROTOCOL = 'v4.channel.k8s.io';

/**
 * The part of a kubelet that the API server hands a port-forward on to: `/portForward/<namespace>/<pod>?port=<n>` over a WebSocket. Pods of it have
 * their ports on this machine.
 */
export class ForwardingKubelet {
  /** `<namespace>/<pod>:<port>` of what was asked for. */
  readonly asked: string[] = [];
  private readonly sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL });
  private readonly server: Server;

  constructor() {
    this.server = createServer(new CertificateAuthority('kubelet').server('127.0.0.1'));
    this.server.on('upgrade', (request, socket, head) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'https://kubelet');
      const [, verb, namespace, pod] = pathname.split('/');
      const port = Number(searchParams.get('port'));
      if (verb !== 'portForward' || !(port > 0)) return void socket.destroy();
      this.asked.push(`${namespace}/${pod}:${port}`);
      this.sockets.handleUpgrade(request, socket, head, (tunnel) => carry(tunnel, port));
    });
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Each channel begins with the port's number, as a kubelet's does. */
function carry(tunnel: WebSocket, port: number): void {
  const target = connect(port, '127.0.0.1');
  for (const channel of [DATA, ERROR]) tunnel.send(Buffer.from([channel, port & 0xff, port >> 8]));
  target.on('data', (chunk: Buffer) => tunnel.send(Buffer.concat([Buffer.from([DATA]), chunk])));
  target.on('close', () => tunnel.close());
  target.on('error', () => tunnel.close());
  tunnel.on('message', (data) => void (data[0] === DATA && target.write(data.subarray(1))));
  tunnel.on('close', () => void target.destroy());
  tunnel.on('error', () => void target.destroy());
}
