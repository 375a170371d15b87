import { Client } from 'undici';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { CallCounts, DriftRequest, FaultRules, FaultStatus, Topology } from '../api';
import { errorOfAnswer } from '../api-error';
import { parseEndpoint } from '../endpoint';

const ANSWER_TIMEOUT_MS = 30_000;

/** Reaches what only the local cloud has: counts, faults, changes from behind. For people, the demo and tests; the operator does not use it. */
export class LocalCloudAdmin {
  private readonly client: Client;

  /** @throws OperatorError Invalid when the endpoint can't be one */
  constructor(
    private readonly endpoint: string,
    private readonly token: string,
  ) {
    const { origin, socketPath } = parseEndpoint(endpoint);
    this.client = new Client(origin, { headersTimeout: ANSWER_TIMEOUT_MS, ...(socketPath !== undefined && { socketPath }) });
  }

  calls(): Promise<CallCounts> {
    return this.call('GET', '/_calls');
  }

  resetCalls(): Promise<CallCounts> {
    return this.call('DELETE', '/_calls');
  }

  faults(): Promise<FaultStatus> {
    return this.call('GET', '/_faults');
  }

  /** Replaces all rules; none = nothing goes wrong any more, and what was stuck goes on. */
  setFaults(rules: FaultRules): Promise<FaultStatus> {
    return this.call('PUT', '/_faults', rules);
  }

  drift(request: DriftRequest): Promise<unknown> {
    return this.call('POST', '/_drift', request);
  }

  topology(): Promise<Topology> {
    return this.call('GET', '/_topology');
  }

  async close(): Promise<void> {
    await this.client.destroy();
  }

  private async call<T>(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const answer = await this.client.request({ method, path, headers, ...payload });
      const parsed: unknown = await answer.body.json();
      if (answer.statusCode < 300) return parsed as T;
      throw errorOfAnswer(`${method} ${path}`, answer.statusCode, parsed, undefined);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code !== 'Transient') throw error;
      throw new OperatorError('Transient', `no local cloud answers at ${this.endpoint}: ${error.message}`, {
        cause: thrown,
        remedy: 'start it with: cloud-operator local-cloud serve',
      });
    }
  }
}
