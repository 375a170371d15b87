import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { listenOnFirst } from './host-port';
import type { ClientAddress, Listener, ListenerParts, ListenerSettings } from './listener';
import { UdpFlow } from './udp-flow';

/** More clients than this at once on one listener: the one that has been there longest is forgotten. */
const MAX_CLIENTS = 10_000;

/** Receives datagrams and relays each client's to one target of the pool. */
export class UdpListener implements Listener {
  private socket: Socket | undefined;
  private readonly flows = new Map<string, UdpFlow>();
  private opened = 0;

  constructor(
    public settings: ListenerSettings,
    private readonly parts: ListenerParts,
  ) {}

  get port(): number {
    return this.opened;
  }

  /** @throws OperatorError Conflict when no candidate port can be opened */
  async open(): Promise<void> {
    const { ip, candidates } = this.parts;
    this.opened = await listenOnFirst(ip, candidates, (port) => this.bind(ip, port));
  }

  /** Takes a datagram that came in here or through the bridge from the host. */
  receive(data: Buffer, from: ClientAddress, reply: (data: Buffer) => void): void {
    if (!this.settings.sourceRanges.admits(from.address)) return;
    const key = flowKey(from);
    if (this.flows.get(key)?.stale === true) this.flows.get(key)?.cut();
    (this.flows.get(key) ?? this.openFlow(from, reply)).send(data);
  }

  async close(): Promise<void> {
    for (const flow of [...this.flows.values()]) flow.cut();
    const { socket } = this;
    if (socket !== undefined) await new Promise<void>((resolve) => socket.close(() => resolve()));
  }

  private openFlow(from: ClientAddress, reply: (data: Buffer) => void): UdpFlow {
    if (this.flows.size >= MAX_CLIENTS) this.flows.values().next().value?.cut();
    const { pool, idleTimeoutMs } = this.settings;
    const key = flowKey(from);
    const onClosed = (): void => {
      this.flows.delete(key);
    };
    const flow = new UdpFlow({ clock: this.parts.clock, pool, from, idleTimeoutMs, reply, onClosed });
    this.flows.set(key, flow);
    flow.start();
    return flow;
  }

  private bind(address: string, port: number): Promise<void> {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close();
        reject(error);
      });
      socket.bind({ address, port, exclusive: true }, () => {
        socket.removeAllListeners('error').on('error', ignoreSendError);
        socket.on('message', (data, from) => {
          this.receive(data, from, (answer) => socket.send(answer, from.port, from.address, ignoreSendError));
        });
        this.socket = socket;
        resolve();
      });
    });
  }
}

function flowKey({ address, port }: ClientAddress): string {
  return `${address}|${port}`;
}

/** A client that has gone away makes sending to it fail; UDP promises nothing, and the socket serves others. */
function ignoreSendError(): void {
  return undefined;
}
