import { createSocket } from 'node:dgram';
import type { Agent } from 'node:http';
import { get } from 'node:http';
import { isIPv6 } from 'node:net';

export interface Answer {
  node: string;
  client: string;
}

export interface Endpoint {
  ip: string;
  port: number;
}

/** One request on a connection of its own; rejects on anything but an answer of a node. */
export function request(to: Endpoint, options: { agent?: Agent; localAddress?: string; timeoutMs?: number } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = get({ host: to.ip, port: to.port, agent: options.agent ?? false, localAddress: options.localAddress }, (response) => {
      let body = '';
      response.on('data', (data: Buffer) => (body += data.toString()));
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve(JSON.parse(body) as Answer);
        } catch {
          reject(new Error(`HTTP ${response.statusCode} with "${body}"`));
        }
      });
    });
    call.setTimeout(options.timeoutMs ?? 10_000, () => call.destroy(new Error('no answer in time')));
    call.on('error', reject);
  });
}

/** Sends one datagram and waits for its echo; undefined when none came within `timeoutMs`. */
export function echo(to: Endpoint, text: string, options: { localAddress?: string; timeoutMs?: number } = {}): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(to.ip) ? 'udp6' : 'udp4');
    const finish = (answer?: string) => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(finish, options.timeoutMs ?? 2000);
    socket.once('error', reject);
    socket.once('message', (data) => finish(data.toString()));
    socket.bind(0, options.localAddress, () => socket.send(text, to.port, to.ip));
  });
}

/** Requests one after another in `workers` lanes, each on a new connection, until stopped. */
export class Load {
  readonly byNode = new Map<string, number>();
  readonly failures: string[] = [];
  private running = true;
  private readonly lanes: Promise<void>[];

  constructor(to: Endpoint, workers: number) {
    this.lanes = Array.from({ length: workers }, () => this.lane(to));
  }

  get answered(): number {
    return [...this.byNode.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves once so many further requests are answered, of `node` where given. */
  async more(count: number, node?: string): Promise<void> {
    const now = () => (node === undefined ? this.answered : (this.byNode.get(node) ?? 0));
    const target = now() + count;
    await until(() => now() >= target);
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.lanes);
  }

  private async lane(to: Endpoint): Promise<void> {
    while (this.running) {
      try {
        const { node } = await request(to);
        this.byNode.set(node, (this.byNode.get(node) ?? 0) + 1);
      } catch (error) {
        this.failures.push((error as Error).message);
      }
    }
  }
}

/** Resolves when `condition` holds; rejects when it has not after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
