import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { get, type ClientRequestArgs } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { answerHttp } from './node-ports';
import { POD_PORT, type PodRequest } from './nodelet-protocol';
import { openHttp } from './open-port';

export interface PodOptions {
  node: string;
  instanceID: string;
  /** Address of the pod, inside the node's pod CIDR. */
  ip: string;
  /** Present in the tier without namespaces: the router that knows the route table, and the socket behind which the pod is to listen. */
  userland?: { router: string; podSocket: string };
}

/** The one pod of a node: answers HTTP with the node's name, and asks other pods. */
export class Pod {
  constructor(private readonly options: PodOptions) {}

  /** Takes the address as a network plugin would, and listens. */
  async start(): Promise<void> {
    const { userland, ip, node } = this.options;
    if (userland === undefined) await promisify(execFile)('ip', ['address', 'replace', `${ip}/32`, 'dev', 'cni0']);
    const where = userland === undefined ? { host: ip, port: POD_PORT } : { path: userland.podSocket };
    await openHttp(where, (request, response) => answerHttp(request, response, node));
  }

  /** @returns the body of the answer @throws when there is no route, no pod, or no answer within the time */
  async fetch(request: PodRequest): Promise<string> {
    const { userland, ip } = this.options;
    if (userland === undefined) {
      return getBody({ host: request.ip, port: request.port, agent: false, localAddress: ip }, request.timeoutMs);
    }
    const socket = await this.throughRouter(userland.router, request);
    // Neither host nor agent: both would make Node connect by itself, to an address that means nothing outside the router.
    return getBody({ createConnection: () => socket }, request.timeoutMs);
  }

  private async throughRouter(router: string, request: PodRequest): Promise<Socket> {
    const socket = connect(router);
    const { ip: sourceIP, instanceID: from } = this.options;
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
