import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { HEALTHZ_PORT, type NodeAnswer, type ServedPorts } from './nodelet-protocol';
import { takeAddress } from './own-address';
import { openHttp, openUdp, type OpenPort } from './open-port';

/** The ports that a node serves, as kube-proxy would make them: NodePorts, service health, and its own health. */
export class NodePorts {
  private readonly open = new Map<string, OpenPort>();
  private readonly localEndpoints = new Map<number, number>();
  /** One change of the set at a time. */
  private changes: Promise<void> = Promise.resolve();

  constructor(
    private readonly node: string,
    private readonly addresses: readonly string[],
  ) {}

  /** Opens kube-proxy's own health port. */
  async start(): Promise<void> {
    await this.openHttp(HEALTHZ_PORT, (_request, response) => void response.end('ok\n'));
  }

  /**
   * Makes `wanted` the whole set.
   * @throws the first port's failure; the others are open
   */
  serve(wanted: ServedPorts): Promise<void> {
    const change = this.changes.then(() => this.change(wanted));
    this.changes = change.catch(() => undefined);
    return change;
  }

  private async change(wanted: ServedPorts): Promise<void> {
    const openers = new Map<string, () => Promise<OpenPort>>();
    for (const { port, protocol } of wanted.ports) openers.set(`${protocol}/${port}`, () => this.openNodePort(port, protocol));
    for (const { port, localEndpoints } of wanted.healthChecks) {
      this.localEndpoints.set(port, localEndpoints);
      openers.set(`health/${port}`, () => this.openServiceHealth(port));
    }
    for (const { ip, port, protocol } of wanted.external ?? []) {
      openers.set(`${protocol}/${ip}/${port}`, () => this.openExternal(ip, port, protocol));
    }
    const leaving = [...this.open].filter(([key]) => !openers.has(key));
    for (const [key, port] of leaving) {
      this.open.delete(key);
      // Not waited for: its last requests may take long, and the others must not wait.
      void port.close();
    }
    const failures: unknown[] = [];
    for (const [key, opener] of openers) {
      if (this.open.has(key)) continue;
      await opener().then(
        (port) => this.open.set(key, port),
        (error: unknown) => failures.push(error),
      );
    }
    if (failures.length > 0) throw failures[0];
  }

  private openNodePort(port: number, protocol: 'TCP' | 'UDP'): Promise<OpenPort> {
    return openAll(this.addresses, (host) => this.openPort(host, port, protocol));
  }

  /** The address is the load balancer's: the node answers to it without telling others. */
  private async openExternal(ip: string, port: number, protocol: 'TCP' | 'UDP'): Promise<OpenPort> {
    await takeAddress(ip, 'lo');
    return this.openPort(ip, port, protocol);
  }

  private openPort(host: string, port: number, protocol: 'TCP' | 'UDP'): Promise<OpenPort> {
    if (protocol === 'UDP') return openUdp(host, port, (data) => `${this.node}: ${data.toString()}`);
    return openHttp({ host, port }, (request, response) => answerHttp(request, response, this.node));
  }

  private openHttp(port: number, answer: RequestListener): Promise<OpenPort> {
    return openAll(this.addresses, (host) => openHttp({ host, port }, answer));
  }

  private openServiceHealth(port: number): Promise<OpenPort> {
    return this.openHttp(port, (_request, response) => {
      const localEndpoints = this.localEndpoints.get(port) ?? 0;
      response.writeHead(localEndpoints > 0 ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify({ localEndpoints }));
    });
  }
}

/** The same port of several addresses; none stays open when one can't be. */
async function openAll(hosts: readonly string[], open: (host: string) => Promise<OpenPort>): Promise<OpenPort> {
  const ports: OpenPort[] = [];
  const close = async (): Promise<void> => void (await Promise.all(ports.map((port) => port.close())));
  try {
    for (const host of hosts) ports.push(await open(host));
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Says who answered and whom. */
export function answerHttp(request: IncomingMessage, response: ServerResponse, node: string): void {
  const { remoteAddress, localPort } = request.socket;
  const answer: NodeAnswer = {
    node,
    ...(remoteAddress !== undefined && { client: remoteAddress }),
    ...(localPort !== undefined && { port: localPort }),
  };
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(answer)}\n`);
}
