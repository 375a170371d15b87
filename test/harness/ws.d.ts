/** The part of ws (WebSockets, which the Kubernetes client brings) that test/harness/forwarding-kubelet.ts uses. */
declare module 'ws' {
  import type { IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export class WebSocket {
    on(event: 'message', listener: (data: Buffer) => void): this;
    on(event: 'close' | 'error', listener: () => void): this;
    send(data: Uint8Array): void;
    close(): void;
  }
  export class WebSocketServer {
    constructor(options: { noServer: true; handleProtocols: (protocols: Set<string>) => string | false });
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: WebSocket) => void): void;
  }
}
