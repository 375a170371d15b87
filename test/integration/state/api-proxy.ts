import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { KubeConfig } from '../../../operator/kube/kube-config';
import type { TestCluster } from '../../harness/cluster';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';

/** What happens to a write of a Secret: a full etcd's answer; no answer although it was done; no answer. */
export type WriteFault = 'full' | 'lost' | 'cut';

/** Stands between a client and the real API server: counts writes of Secrets, and makes them fail as told. */
export class ApiProxy extends LoopbackServer {
  /** `PATCH stack-web` … of all writes of Secrets that were let through. */
  readonly writes: string[] = [];
  /** How many writes met a fault. */
  faults = 0;
  /** Asked for each write of a Secret. */
  fault: (write: string) => WriteFault | undefined = () => undefined;

  constructor(private readonly cluster: TestCluster) {
    super();
  }

  kubeConfig(): KubeConfig {
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'proxy', server: this.url, skipTLSVerify: true }, { name: 'tester' });
    return config;
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const write = writeOf(request, body);
    const fault = write === undefined ? undefined : this.fault(write);
    if (fault !== undefined) this.faults++;
    if (fault === 'full') return refuse(response);
    if (fault === 'cut') return void response.destroy();
    if (write !== undefined) this.writes.push(write);
    this.#forward(request, response, { body, lose: fault === 'lost' });
  }

  #forward(request: IncomingMessage, response: ServerResponse, { body, lose }: { body: Buffer; lose: boolean }): void {
    const { 'content-type': type = 'application/json', accept = '*/*' } = request.headers;
    // Node sends the body of a DELETE without its length, unless told.
    const headers = { 'content-type': type, accept, 'content-length': body.length, authorization: `Bearer ${this.cluster.token}` };
    const forwarded = httpsRequest(
      `${this.cluster.url}${request.url}`,
      { method: request.method, ca: readFileSync(this.cluster.caPath), headers },
      (answer) => {
        if (lose) return void answer.resume().once('end', () => response.destroy());
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.once('error', () => response.destroy());
    forwarded.end(body);
  }
}

function writeOf(request: IncomingMessage, body: Buffer): string | undefined {
  const path = (request.url ?? '').split('?')[0] ?? '';
  if (request.method === 'GET' || !path.includes('/secrets')) return undefined;
  const name = path.split('/secrets/')[1] ?? (JSON.parse(body.toString()) as { metadata: { name: string } }).metadata.name;
  return `${request.method} ${name}`;
}

function refuse(response: ServerResponse): void {
  const message = 'etcdserver: mvcc: database space exceeded';
  response.writeHead(500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'InternalError', code: 500, message }));
}
