import { once } from 'node:events';
import { get, type ClientRequestArgs } from 'node:http';
import { connect, type Socket } from 'node:net';
import { familyOf } from '../../providers/local/cloud/data-plane/ip-range';
import { answerHttp } from './node-ports';
import { POD_PORT, type PodRequest } from './nodelet-protocol';
import { openHttp } from './open-port';
import { takeAddress } from './own-address';

export interface PodOptions {
  node: string;
  instanceID: string;
  /** Addresses of the pod, one inside each of the node's pod CIDRs. */
  ips: string[];
  /** Present in the tier without namespaces: the router that knows the route table, and the socket behind which the pod is to listen. */
  userland?: { router: string; podSocket: string };
}

/** The one pod of a node: answers HTTP with the node's name, and asks other pods. */
export class Pod {
  constructor(private readonly options: PodOptions) {}

  /** Takes the addresses as a network plugin would, and listens. */
  async start(): Promise<void> {
    const { userland, ips, node } = this.options;
    const places = userland === undefined ? ips.map((host) => ({ host, port: POD_PORT })) : [{ path: userland.podSocket }];
    if (userland === undefined) for (const ip of ips) await takeAddress(ip, 'cni0');
    for (const where of places) await openHttp(where, (request, response) => answerHttp(request, response, node));
  }

  /** @returns the body of the answer @throws when there is no route, no pod, or no answer within the time */
  async fetch(request: PodRequest): Promise<string> {
    const { userland } = this.options;
    if (userland === undefined) {
      return getBody({ host: request.ip, port: request.port, agent: false, localAddress: this.sourceFor(request) }, request.timeoutMs);
    }
    const socket = await this.throughRouter(userland.router, request);
    // Neither host nor agent: both would make Node connect by itself, to an address that means nothing outside the router.
    return getBody({ createConnection: () => socket }, request.timeoutMs);
  }

  /** Its address of the family of the other end. */
  private sourceFor({ ip }: PodRequest): string {
    const source = this.options.ips.find((own) => familyOf(own) === familyOf(ip));
    if (source === undefined) throw new Error(`the pod of ${this.options.node} has no ${familyOf(ip)} address`);
    return source;
  }

  private async throughRouter(router: string, request: PodRequest): Promise<Socket> {
    const socket = connect(router);
    const { instanceID: from } = this.options;
    const sourceIP = this.sourceFor(request);
    const timer = setTimeout(
      () => socket.destroy(new Error(`no answer from the router within ${request.timeoutMs} ms`)),
      request.timeoutMs,
    );
    try {
      await once(socket, 'connect');
      socket.write(`${JSON.stringify({ from, sourceIP, ip: request.ip, port: request.port })}\n`);
      // One line; the pod behind it says nothing until it is asked.
      const [answer] = (await once(socket, 'data')) as [Buffer];
      if (answer.toString() !== 'ok\n') throw new Error(answer.toString().trim());
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function getBody(options: ClientRequestArgs, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        clearTimeout(timer);
        resolve(Buffer.concat(chunks).toString());
      });
    });
    const late = new Error(`the pod did not answer within ${timeoutMs} ms`);
    const timer = setTimeout(() => request.destroy(late), timeoutMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
