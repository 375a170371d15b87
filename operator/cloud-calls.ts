import type { Logger } from './base/log';
import type { Metrics } from './server/metrics';
import type { OnCall } from './updates/limits/accounts';

/** What is called for its answer, or again and again for the Nodes, is of interest to few. */
const QUIET_VERBS = new Set(['get', 'list', 'targets']);

/** Counts each call to a cloud, and logs it with the cloud's own id of the request: of what was not answered, and of what changes resources, always. */
export function watchCalls(metrics: Pick<Metrics, 'cloudCalled'>, logger: Logger): OnCall {
  return (provider, verb, outcome, tookMs) => {
    const { kind, requestID } = outcome;
    metrics.cloudCalled(provider, verb, kind);
    const level = kind === 'Answered' && QUIET_VERBS.has(verb) ? 'debug' : 'info';
    logger[level]({ provider, verb, outcome: kind, requestID, ms: Math.round(tookMs) }, 'cloud call');
  };
}
