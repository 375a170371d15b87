import { request } from 'node:http';
import { join } from 'node:path';
import type { JsonObject } from '../../operator/base/json';

/** The etcd of a control plane, asked past the API server by its own HTTP API. @param directory of the control plane */
export class Etcd {
  constructor(private readonly directory: string) {}

  /** Raises or takes back its alarm of a used-up quota: while it is on, etcd refuses all that would need room, and carries out deletions. */
  async setFull(full: boolean): Promise<void> {
    await this.call('maintenance/alarm', { action: full ? 'ACTIVATE' : 'DEACTIVATE', alarm: 'NOSPACE' });
  }

  /** Bytes of its database that are in use, after all old versions were dropped. */
  async bytesInUse(): Promise<number> {
    const { header } = await this.call('maintenance/status', {});
    const { revision } = header as { revision: string };
    await this.call('kv/compaction', { revision, physical: true });
    return Number((await this.call('maintenance/status', {})).dbSizeInUse);
  }

  private call(path: string, body: object): Promise<JsonObject> {
    const asked = { socketPath: join(this.directory, 'etcd.sock'), method: 'POST', path: `/v3/${path}`, headers: { host: 'localhost' } };
    return new Promise((resolve, reject) => {
      request(asked, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve(JSON.parse(text) as JsonObject);
          else reject(new Error(`etcd, ${path}: ${answer.statusCode} ${text}`));
        });
      })
        .once('error', reject)
        .end(JSON.stringify(body));
    });
  }
}
