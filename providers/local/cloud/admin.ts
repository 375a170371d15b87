import type { Calls } from './calls';
import type { Cloud } from './cloud';
import type { DataPlane } from './data-plane';
import { ApiFailure, toApiFailure } from './api-failure';
import { drift } from './drift';
import type { Faults } from './faults';
import type { Metrics } from './metrics';
import { failureAnswer, type Answer } from './service';
import type { Store } from './store';

export interface AdminOptions {
  cloud: Cloud;
  store: Store;
  plane: DataPlane;
  calls: Calls;
  faults: Faults;
  metrics: Metrics;
}

const PATHS = ['/_calls', '/_faults', '/_drift', '/_topology', '/metrics'];

/** What a real cloud does not have: counts, faults, changes from behind, and a look inside. */
export class Admin {
  constructor(private readonly options: AdminOptions) {}

  /** No token needed: it tells nothing but ready or not. */
  health(): Answer {
    const { failed } = this.options.store;
    if (failed === undefined) return { status: 200, body: { status: 'ok' } };
    return failureAnswer(new ApiFailure('Unavailable', failed.message));
  }

  /** @returns undefined for a path that is not one of ours */
  async answer(request: string, body: unknown): Promise<Answer | undefined> {
    try {
      return await this.perform(request, body);
    } catch (error) {
      return failureAnswer(toApiFailure(error));
    }
  }

  private async perform(request: string, body: unknown): Promise<Answer | undefined> {
    const { calls, faults, plane, metrics } = this.options;
    switch (request) {
      case 'GET /_calls':
        return { status: 200, body: calls.get() };
      case 'DELETE /_calls':
        calls.reset();
        return { status: 200, body: calls.get() };
      case 'GET /_faults':
        return { status: 200, body: faults.status() };
      case 'PUT /_faults':
        return this.setFaults(body);
      case 'POST /_drift':
        return this.drift(body);
      case 'GET /_topology':
        return { status: 200, body: plane.topology };
      case 'GET /metrics':
        return { status: 200, body: await metrics.registry.metrics() };
      default:
        return this.unknown(request);
    }
  }

  private async setFaults(body: unknown): Promise<Answer> {
    const { cloud, faults, store } = this.options;
    const status = faults.set(body);
    store.history.keep(faults.longestLagMs);
    await cloud.release();
    return { status: 200, body: status };
  }

  private async drift(body: unknown): Promise<Answer> {
    const { cloud, plane, store } = this.options;
    const changed = await drift(body, cloud, plane);
    await store.durable();
    return { status: 200, body: changed };
  }

  private unknown(request: string): Answer | undefined {
    const [method = '', path = ''] = request.split(' ');
    if (!PATHS.includes(path)) return undefined;
    return failureAnswer(new ApiFailure('InvalidArgument', `${method} is not possible on ${path}`, { status: 405 }));
  }
}
