import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import { HEALTH_PATHS, type HealthAnswer, type HealthChecks, type HealthPath } from './health';
import type { Registry } from 'prom-client';
import type { Guard } from './guard';
import { close, listen } from './listener';
import type { Metrics } from './metrics';
import { isBelow, type PageAnswer, type ServedPage } from './served-page';

const TEXT_TYPE = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

export interface OperatorServerOptions {
  /** Address to listen on, such as `127.0.0.1`, `0.0.0.0` or `::`. */
  bindAddress: string;
  /** 0 = any free one. */
  port: number;
  health: HealthChecks;
  metrics: Metrics;
  /** Answered at /configz: group of the configuration → the configuration. */
  configuration?: Record<string, unknown>;
  /** A page for people; only with `secure`. */
  page?: ServedPage | undefined;
  /** TLS, and who may read what; absent = plain HTTP for everybody who reaches the address. */
  secure?: { server: SecureServer; guard: Guard };
  logger: Logger;
}

/** Serves /healthz, /livez, /readyz (each with `?verbose`, `?exclude=<check>` and `/<check>`), /metrics, /metrics/slis and /configz. */
export class OperatorServer {
  private readonly server: Server | SecureServer;

  constructor(private readonly options: OperatorServerOptions) {
    this.server = options.secure?.server ?? createServer();
    this.server.on('request', (request, response) => void this.handle(request, response));
  }

  /**
   * Listens.
   * @returns where
   * @throws OperatorError Invalid when the address can't be had
   */
  start(): Promise<{ address: string; port: number }> {
    return listen(this.server, { ...this.options, what: 'health and metrics' });
  }

  /** Closes all connections; resolves when the port is free. */
  stop(): Promise<void> {
    return close(this.server);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = urlOf(request);
      if (url === undefined) return send(response, { status: 400, body: 'the path is no URL\n' });
      const { secure } = this.options;
      const page = secure === undefined ? undefined : this.pageAt(url);
      // Somebody who opens all paths of metrics and health to everybody has not meant the page.
      const refusal = await secure?.guard.refusal(request, url.pathname, { neverOpen: page !== undefined });
      if (refusal !== undefined) return send(response, refusal, JSON_TYPE);
      if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, { status: 405, body: 'only GET\n' });
      if (page !== undefined) return sendPage(response, page.answer(url, request.headers));
      await this.answer(url, response);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.options.logger.error({ err: error, url: request.url }, `answering failed: ${error.message}`);
      send(response, { status: 500, body: 'internal server error\n' });
    }
  }

  private pageAt({ pathname }: URL): ServedPage | undefined {
    const { page } = this.options;
    return page !== undefined && isBelow(page.path, pathname) ? page : undefined;
  }

  private async answer(url: URL, response: ServerResponse): Promise<void> {
    const { metrics, configuration, health } = this.options;
    if (url.pathname === '/metrics') return sendMetrics(response, metrics.registry);
    if (url.pathname === '/metrics/slis') {
      await health.measure();
      return sendMetrics(response, health.registry);
    }
    if (url.pathname === '/configz' && configuration !== undefined)
      return send(response, { status: 200, body: JSON.stringify(configuration) }, JSON_TYPE);
    send(response, await this.healthAnswer(url));
  }

  private async healthAnswer(url: URL): Promise<HealthAnswer> {
    const [, path, check, ...more] = url.pathname.split('/');
    if (!isHealthPath(path) || more.length > 0) return { status: 404, body: 'not found; try /healthz, /livez, /readyz or /metrics\n' };
    return check === undefined || check === ''
      ? this.options.health.answer(path, url.searchParams)
      : this.options.health.answerOne(path, check);
  }
}

function sendPage(response: ServerResponse, { status, headers, body }: PageAnswer): void {
  response.writeHead(status, headers).end(body);
}

async function sendMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  const body = await registry.metrics();
  response.writeHead(200, { 'content-type': registry.contentType }).end(body);
}

function send(response: ServerResponse, { status, body }: { status: number; body: string }, type: string = TEXT_TYPE): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body);
}

function urlOf(request: IncomingMessage): URL | undefined {
  return URL.parse(request.url ?? '/', 'http://localhost') ?? undefined;
}

function isHealthPath(path: string | undefined): path is HealthPath {
  return HEALTH_PATHS.some((known) => known === path);
}
