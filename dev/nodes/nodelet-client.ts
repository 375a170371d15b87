import { connect, type Socket } from 'node:net';
import { systemClock } from '../../operator/base/clock';
import { OperatorError } from '../../operator/base/errors';
import { onLines } from '../../providers/local/cloud/data-plane/lines';
import type { NodeletRequest, NodeletResponse, PodRequest, ServedPorts } from './nodelet-protocol';

const RECONNECT_MS = 50;
const SERVE_TIMEOUT_MS = 10_000;

type Call<T = NodeletRequest> = T extends NodeletRequest ? Omit<T, 'id'> : never;

interface Waiting {
  line: string;
  sent: boolean;
  settle: (error: Error | undefined, result?: unknown) => void;
}

/** Keeps a connection to one nodelet: after each start of the nodelet it is told what to serve. */
export class NodeletClient {
  private socket: Socket | undefined;
  private served: ServedPorts = { ports: [], healthChecks: [] };
  private readonly waiting = new Map<number, Waiting>();
  private lastID = 0;
  private closed = false;
  private cancelReconnect: () => void = () => undefined;

  /** @param onProblem told why the nodelet does not serve what it should */
  constructor(
    private readonly path: string,
    private readonly onProblem: (error: Error) => void,
  ) {
    this.connect();
  }

  /** What the nodelet serves from now on, also after it was started anew. Resolves when the ports are open. */
  async serve(ports: ServedPorts): Promise<void> {
    this.served = ports;
    await this.call({ method: 'serve', params: ports }, SERVE_TIMEOUT_MS);
  }

  /** @returns the body of the pod's answer @throws OperatorError when there is none */
  async fetchPod(request: PodRequest): Promise<string> {
    // The nodelet keeps the time; ours only ends the waiting for a nodelet that is not there.
    return (await this.call({ method: 'fetchPod', params: request }, request.timeoutMs + 2000)) as string;
  }

  close(): void {
    this.closed = true;
    this.cancelReconnect();
    this.socket?.destroy();
    for (const { settle } of [...this.waiting.values()]) settle(new OperatorError('Canceled', 'the fleet was stopped'));
  }

  private connect(): void {
    const socket = connect(this.path);
    this.socket = socket;
    let reason = 'the nodelet ended';
    socket.on('connect', () => {
      for (const waiting of this.waiting.values()) this.send(waiting);
      // Last, so that it holds.
      this.serve(this.served).catch(this.onProblem);
    });
    onLines(socket, (line) => this.receive(JSON.parse(line) as NodeletResponse));
    socket.on('error', (error) => (reason = error.message));
    socket.on('close', () => {
      for (const { sent, settle } of [...this.waiting.values()]) if (sent) settle(new OperatorError('Transient', reason));
      // It starts, or starts again; what was not sent yet waits for that.
      if (!this.closed) this.cancelReconnect = systemClock.after(RECONNECT_MS, () => this.connect());
    });
  }

  private call(call: Call, timeoutMs: number): Promise<unknown> {
    if (this.closed) return Promise.reject(new OperatorError('Canceled', 'the fleet was stopped'));
    const id = ++this.lastID;
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined, result?: unknown): void => {
        cancel();
        this.waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(error);
      };
      const late = new OperatorError('Transient', `the nodelet behind ${this.path} did not answer within ${timeoutMs} ms`);
      const cancel = systemClock.after(timeoutMs, () => settle(late));
      const waiting = { line: `${JSON.stringify({ ...call, id })}\n`, sent: false, settle };
      this.waiting.set(id, waiting);
      this.send(waiting);
    });
  }

  private send(waiting: Waiting): void {
    if (waiting.sent || this.socket?.readyState !== 'open') return;
    waiting.sent = true;
    this.socket.write(waiting.line);
  }

  private receive({ id, result, error }: NodeletResponse): void {
    this.waiting.get(id)?.settle(error === undefined ? undefined : new OperatorError('Unknown', error), result);
  }
}
