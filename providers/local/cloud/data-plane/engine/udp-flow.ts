import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Clock } from '../../../../../operator/base/clock';
import type { ClientAddress } from './listener';
import type { Pool } from './pool';
import type { Flow, Target } from './target';

export interface UdpFlowOptions {
  clock: Clock;
  pool: Pool;
  from: ClientAddress;
  /** A client that is silent for so long is forgotten, milliseconds. */
  idleTimeoutMs: number;
  /** Sends an answer to the client. */
  reply: (data: Buffer) => void;
  onClosed: () => void;
}

/** Datagrams kept while a target has not answered yet, so that they can be sent to another one. */
const MAX_UNANSWERED = 16;

/** The datagrams of one client: all go to one target, until that says that nobody listens there. */
export class UdpFlow implements Flow {
  private socket: Socket | undefined;
  private target: Target | undefined;
  private readonly tried = new Set<Target>();
  private unanswered: Buffer[] = [];
  private answered = false;
  private done = false;
  private lastSeen: number;
  private connected = false;
  private cancelIdle: () => void = () => undefined;

  constructor(private readonly options: UdpFlowOptions) {
    this.lastSeen = options.clock.monotonic();
  }

  /** Takes a target and begins to count the silence. */
  start(): void {
    this.checkIdle();
    this.tryNext();
  }

  /** True where the next datagram may go to a target of another choice: this one has failed. */
  get stale(): boolean {
    return this.target !== undefined && this.target.health.state === 'unhealthy';
  }

  send(data: Buffer): void {
    if (this.done) return;
    this.lastSeen = this.options.clock.monotonic();
    if (!this.answered && this.unanswered.length < MAX_UNANSWERED) this.unanswered.push(data);
    this.forward(data);
  }

  cut(): void {
    if (this.done) return;
    this.done = true;
    this.cancelIdle();
    this.letGo();
    this.options.onClosed();
  }

  private tryNext(): void {
    const target = this.options.pool.pick(this.tried, this.options.from.address);
    if (target === undefined) return this.cut();
    this.tried.add(target);
    this.target = target;
    this.options.pool.hold(target, this);
    const socket = createSocket(isIPv6(target.address) ? 'udp6' : 'udp4');
    this.socket = socket;
    socket.on('error', (error: NodeJS.ErrnoException) => this.failed(socket, error.code ?? error.message));
    socket.on('message', (data) => this.answer(data));
    // A connected socket hears of a port where nobody listens, and takes answers from its target only.
    socket.connect(target.port, target.address, () => this.flush(socket));
  }

  private flush(socket: Socket): void {
    if (this.socket !== socket) return;
    this.connected = true;
    for (const data of this.unanswered) this.forward(data);
  }

  private forward(data: Buffer): void {
    const { socket } = this;
    // Until then datagrams wait in `unanswered`.
    if (socket === undefined || !this.connected) return;
    socket.send(data, (error: NodeJS.ErrnoException | null) => {
      if (error !== null) this.failed(socket, error.code ?? error.message);
    });
  }

  private answer(data: Buffer): void {
    this.lastSeen = this.options.clock.monotonic();
    this.answered = true;
    this.unanswered = [];
    this.options.reply(data);
  }

  private failed(socket: Socket, reason: string): void {
    if (this.socket !== socket || this.done) return;
    if (this.target !== undefined) this.options.pool.reportFailure(this.target, reason);
    if (this.answered) return this.cut();
    this.letGo();
    this.tryNext();
  }

  private checkIdle(): void {
    const rest = this.lastSeen + this.options.idleTimeoutMs - this.options.clock.monotonic();
    if (rest <= 0) return this.cut();
    this.cancelIdle = this.options.clock.after(rest, () => this.checkIdle());
  }

  private letGo(): void {
    this.socket?.close();
    this.socket = undefined;
    this.connected = false;
    if (this.target !== undefined) this.options.pool.release(this.target, this);
    this.target = undefined;
  }
}
