import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { TestCluster } from '../../harness/cluster';

export interface Answer {
  status: number;
  body: AnswerBody;
}

/** An object or a Status: the parts that tests look at. Reading a part that the answer lacks fails the test. */
export interface AnswerBody {
  metadata: { resourceVersion: string; generation: number };
  spec: unknown;
  status: { conditions: { type: string; status: string; message: string }[]; observedGeneration?: number; allowed?: boolean };
  message: string;
  details: { causes: { field: string; message: string }[] };
  resources: { name: string; namespaced: boolean; verbs: string[] }[];
  groups: { name: string; preferredVersion: { groupVersion: string } }[];
}

/** Plain requests to the API server, as the admin: nothing of ours stands between the test and the answer. */
export class RawApi {
  private readonly agent: Agent;

  constructor(private readonly cluster: TestCluster) {
    this.agent = new Agent({ keepAlive: true, maxSockets: 8, ca: readFileSync(cluster.caPath) });
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  create(path: string, body: object): Promise<Answer> {
    return this.send('POST', path, body, 'application/json');
  }

  merge(path: string, body: object): Promise<Answer> {
    return this.send('PATCH', path, body, 'application/merge-patch+json');
  }

  remove(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  apply(path: string, body: object, fieldManager: string): Promise<Answer> {
    return this.send('PATCH', `${path}?fieldManager=${fieldManager}&force=true`, body, 'application/apply-patch+yaml');
  }

  close(): void {
    this.agent.destroy();
  }

  private send(method: string, path: string, body?: object, contentType?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.cluster.token}`,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      };
      const call = request(`${this.cluster.url}${path}`, { method, headers, agent: this.agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          resolve({ status: response.statusCode ?? 0, body: (text.startsWith('{') ? JSON.parse(text) : {}) as AnswerBody });
        });
      });
      call.on('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

interface Applicable {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

/** Where an object is in the API. */
export function pathOf({ apiVersion, kind, metadata }: Applicable): string {
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const namespace = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  const plural = kind.toLowerCase().replace(/y$/, 'ie');
  return `${base}${namespace}/${plural}s/${metadata.name}`;
}
