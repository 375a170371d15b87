import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Clock } from '../../../../../operator/base/clock';
import type { ClientAddress } from './listener';
import type { Pool } from './pool';
import type { Flow, Target } from './target';

export interface TcpFlowOptions {
  clock: Clock;
  pool: Pool;
  from: ClientAddress;
  /** What the target is sent before the client's first byte. */
  preface?: Buffer | undefined;
  /** Silence in both directions for so long ends the connection, milliseconds. */
  idleTimeoutMs: number;
  /** How long one target may take to accept, milliseconds. */
  connectTimeoutMs: number;
  /** Called when the connection has reached a target, just before the first byte moves. */
  onConnected?: () => void;
  onClosed: () => void;
}

/** After so long without any target answering, the client is let go, milliseconds. */
const GIVE_UP_MS = 15_000;
/** Where the first health checks are still under way, a client waits so long for the next look, milliseconds. */
const UNDECIDED_MS = 20;

/**
 * Closes at once, with a reset where the socket can, so that the other side learns that this was no orderly end.
 * Node refuses a reset after the socket's own end was sent, and keeps the descriptor open then: such a socket is only closed.
 */
export function reset(socket: Socket): void {
  // A unix socket has no address and knows no reset.
  const canReset = socket.remoteAddress !== undefined && !socket.connecting && !socket.writableEnded;
  const unsent = socket.writableLength > 0;
  if (canReset) socket.resetAndDestroy();
  // Node's reset waits until everything is sent, and a peer that does not read would keep it waiting for ever.
  if (!canReset || unsent) socket.destroy();
}

/** One client connection and its way to a target: tries targets until one accepts, then copies bytes both ways. */
export class TcpFlow implements Flow {
  private upstream: Socket | undefined;
  private target: Target | undefined;
  private readonly tried = new Set<Target>();
  private readonly started: number;
  private readonly pool: Pool;
  private done = false;

  /** `client` must be paused and half-open. */
  constructor(
    private readonly client: Socket,
    private readonly options: TcpFlowOptions,
  ) {
    this.pool = options.pool;
    this.started = options.clock.monotonic();
  }

  /** Goes looking for a target. */
  start(): void {
    this.client.on('error', () => this.cut());
    this.client.on('close', () => this.clientClosed());
    this.client.setNoDelay(true);
    this.tryNext();
  }

  cut(): void {
    reset(this.client);
    if (this.upstream !== undefined) reset(this.upstream);
    this.close();
  }

  private tryNext(): void {
    const { clock, from } = this.options;
    const inTime = clock.monotonic() - this.started < GIVE_UP_MS;
    const target = inTime ? this.pool.pick(this.tried, from.address) : undefined;
    if (target === undefined) return inTime && this.pool.undecided ? this.waitForCheck() : this.cut();
    this.tried.add(target);
    this.target = target;
    this.pool.hold(target, this);
    this.connectTo(target);
  }

  private waitForCheck(): void {
    this.options.clock.after(UNDECIDED_MS, () => {
      if (!this.done) this.tryNext();
    });
  }

  private connectTo(target: Target): void {
    const upstream = connect({ host: target.address, port: target.port, allowHalfOpen: true, noDelay: true });
    this.upstream = upstream;
    const failed = (reason: string): void => {
      stopTimer();
      upstream.removeAllListeners().on('error', ignoreLateError).destroy();
      this.upstream = undefined;
      this.pool.reportFailure(target, reason);
      this.letGo();
      if (!this.done) this.tryNext();
    };
    const { connectTimeoutMs, clock } = this.options;
    const stopTimer = clock.after(connectTimeoutMs, () => failed(`no connection within ${connectTimeoutMs} ms`));
    upstream.once('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message));
    upstream.once('close', stopTimer);
    upstream.once('connect', () => {
      stopTimer();
      upstream.removeAllListeners('error');
      this.join(upstream);
    });
  }

  private join(upstream: Socket): void {
    const { client, options } = this;
    upstream.on('error', () => this.cut());
    upstream.on('close', () => this.upstreamClosed());
    for (const socket of [client, upstream]) socket.setTimeout(options.idleTimeoutMs, () => this.cut());
    options.onConnected?.();
    const { preface } = options;
    if (preface !== undefined) upstream.write(preface);
    client.pipe(upstream);
    upstream.pipe(client);
  }

  /** What was read from the client still goes out to the target; then the flow ends. */
  private clientClosed(): void {
    const upstream = this.upstream;
    if (upstream !== undefined && !upstream.connecting && !upstream.closed) return upstream.destroySoon();
    upstream?.destroy();
    this.close();
  }

  private upstreamClosed(): void {
    if (this.client.closed) this.close();
    else this.client.destroySoon();
  }

  private letGo(): void {
    if (this.target !== undefined) this.pool.release(this.target, this);
    this.target = undefined;
  }

  private close(): void {
    if (this.done) return;
    this.done = true;
    this.letGo();
    this.options.onClosed();
  }
}

/** A socket that was given up may still report an error: nobody waits for it. */
function ignoreLateError(): void {
  return undefined;
}
