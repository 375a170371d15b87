import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { sleep, type Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import { answerReview, type AdmissionHandler } from './admission-review';
import { Certificates } from './certificates';
import { close, listen } from './listener';
import type { WebhookServingOptions } from './options';
import type { WebhookMetrics } from './webhook-metrics';

const RELOAD_MS = 60_000;
/** The API server takes objects of up to 3 MB, and a review holds the old and the new one. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

export interface WebhookServerOptions {
  serving: WebhookServingOptions;
  /** By name, which is the path too. */
  handlers: ReadonlyMap<string, AdmissionHandler>;
  metrics: WebhookMetrics;
  clock: Clock;
  logger: Logger;
}

/** Hosts admission webhooks over HTTPS (KEP-2699, contract 7.3). Clients are not authenticated: nothing is told that they did not send. */
export class WebhookServer {
  private readonly certificates: Certificates;
  private readonly server: Server;

  /** @throws OperatorError Invalid when a certificate can't be used */
  constructor(private readonly options: WebhookServerOptions) {
    const { tls, bindAddress } = options.serving;
    this.certificates = new Certificates({ tls, bindAddress, pairName: 'cloud-controller-manager-webhook' });
    this.server = createServer({ ...this.certificates.options(''), requestCert: false });
    this.server.on('request', (request, response) => void this.handle(request, response));
  }

  /**
   * Listens; reads changed certificates until the signal is aborted.
   * @returns where
   * @throws OperatorError Invalid when the address can't be had
   */
  async start(signal: AbortSignal): Promise<{ address: string; port: number }> {
    const where = await listen(this.server, { ...this.options.serving, what: 'webhooks', logger: this.options.logger });
    void this.follow(signal);
    return where;
  }

  /** Closes all connections; resolves when the port is free. */
  stop(): Promise<void> {
    return close(this.server);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { handlers, metrics, clock, logger } = this.options;
    const began = clock.monotonic();
    const name = (request.url ?? '').split('?')[0]?.slice(1) ?? '';
    const handler = handlers.get(name);
    if (handler === undefined) return send(response, 404, `there is no webhook here; there are /${[...handlers.keys()].join(', /')}\n`);
    if (request.method !== 'POST') return send(response, 405, 'only POST\n');
    try {
      const sent = { contentType: request.headers['content-type'] ?? '', body: await textOf(request) };
      const { status, body } = await answerReview(handler, sent, logger);
      metrics.answered(name, status, clock.monotonic() - began);
      send(response, status, body);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      logger.warn({ err: error, webhook: name }, `a request can't be read: ${error.message}`);
      metrics.answered(name, 400, clock.monotonic() - began);
      send(response, 400, `${error.message}\n`);
    }
  }

  private async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.options.clock, RELOAD_MS, signal).catch(() => undefined);
      if (!signal.aborted) this.reload();
    }
  }

  private reload(): void {
    try {
      if (this.certificates.reload()) this.server.setSecureContext(this.certificates.options(''));
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.options.logger.warn({ err: error }, `certificates of the webhooks can't be read again: ${error.message}`);
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new OperatorError('Invalid', `the body is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: string): void {
  if (response.headersSent || response.destroyed) return;
  const type = status === 200 ? 'application/json' : 'text/plain; charset=utf-8';
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body);
}
