import { createServer, type Server, type Socket } from 'node:net';
import { listenOnFirst } from './host-port';
import type { ClientAddress, Listener, ListenerParts, ListenerSettings } from './listener';
import { proxyHeader } from './proxy-header';
import { reset, TcpFlow } from './tcp-flow';

/** More connections than this at once on one listener are refused: a leak in a client must not take the cloud down. */
const MAX_CONNECTIONS = 10_000;

/** Accepts TCP connections and hands each to a target of the pool. */
export class TcpListener implements Listener {
  private readonly server: Server;
  private readonly flows = new Set<TcpFlow>();
  private opened = 0;

  constructor(
    public settings: ListenerSettings,
    private readonly parts: ListenerParts,
  ) {
    this.server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      this.accept(socket, { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 });
    });
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  get port(): number {
    return this.opened;
  }

  /** @throws OperatorError Conflict when no candidate port can be opened */
  async open(): Promise<void> {
    const { ip, candidates } = this.parts;
    this.opened = await listenOnFirst(ip, candidates, (port) => this.listen(ip, port));
  }

  /**
   * Takes a connection that came in here or through the bridge from the host.
   * @param onConnected called once a target has accepted
   */
  accept(client: Socket, from: ClientAddress, onConnected?: () => void): void {
    const { settings } = this;
    if (!settings.sourceRanges.admits(from.address)) return reset(client);
    const flow: TcpFlow = new TcpFlow(client, {
      clock: this.parts.clock,
      pool: settings.pool,
      from,
      preface: proxyHeader(settings.pool.proxyProtocol, from, { address: this.parts.ip, port: this.opened }),
      idleTimeoutMs: settings.idleTimeoutMs,
      connectTimeoutMs: settings.connectTimeoutMs,
      ...(onConnected === undefined ? {} : { onConnected }),
      onClosed: () => this.flows.delete(flow),
    });
    this.flows.add(flow);
    flow.start();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const flow of [...this.flows]) flow.cut();
    await closed;
  }

  private listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port, backlog: 1024 }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }
}
