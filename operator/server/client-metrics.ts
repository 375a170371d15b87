import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestObserver } from '../kube/request-observer';

/** client-go's, in seconds and bytes. */
const LATENCY_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** What requests to the API server show, under client-go's names (contract 7.7). */
export function clientMetrics(registers: Registry[]): RequestObserver {
  const byVerb = { labelNames: ['verb', 'host'] as const, registers };
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by the answer’s code; <error> = there was none',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const durations = new Histogram({
    ...byVerb,
    name: 'rest_client_request_duration_seconds',
    help: 'How long a request took until its answer was there',
    buckets: LATENCY_BUCKETS,
  });
  const waits = new Histogram({
    ...byVerb,
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'How long a request waited for the client’s own rate limit',
    buckets: LATENCY_BUCKETS,
  });
  const sent = new Histogram({
    ...byVerb,
    name: 'rest_client_request_size_bytes',
    help: 'Size of a request’s body',
    buckets: SIZE_BUCKETS,
  });
  const received = new Histogram({ ...byVerb, name: 'rest_client_response_size_bytes', help: 'Size of an answer', buckets: SIZE_BUCKETS });
  return {
    waited: ({ verb, host }, ms) => waits.observe({ verb, host }, ms / 1000),
    sent: ({ verb, host }, bytes) => sent.observe({ verb, host }, bytes),
    answered: ({ verb, host }, code, ms) => {
      requests.inc({ code, method: verb, host });
      durations.observe({ verb, host }, ms / 1000);
    },
    received: ({ verb, host }, bytes) => received.observe({ verb, host }, bytes),
  };
}
