import { Counter, Histogram, type Registry } from 'prom-client';

/** In seconds, upstream's. */
const BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];

/** What the webhooks are asked, under upstream's names (contract 7.7). */
export class WebhookMetrics {
  private readonly requests: Counter<'code' | 'webhook'>;
  private readonly durations: Histogram<'code' | 'webhook'>;

  constructor(registers: Registry[]) {
    const labelNames = ['code', 'webhook'] as const;
    this.requests = new Counter({
      ...{ name: 'cloud_provider_webhook_request_total', help: 'Requests to a webhook, by the answer’s code', labelNames, registers },
    });
    this.durations = new Histogram({
      ...{ name: 'cloud_provider_webhook_request_duration_seconds', help: 'How long a webhook took to answer', labelNames, registers },
      buckets: BUCKETS,
    });
  }

  answered(webhook: string, status: number, tookMs: number): void {
    const labels = { code: String(status), webhook };
    this.requests.inc(labels);
    this.durations.observe(labels, tookMs / 1000);
  }
}
