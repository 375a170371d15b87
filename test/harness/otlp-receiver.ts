import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Record<string, string>;
}

interface Wire {
  resourceSpans: {
    resource: { attributes: WireAttribute[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: WireAttribute[] })[] }[];
  }[];
}

interface WireAttribute {
  key: string;
  value: Record<string, string | number | boolean>;
}

/** Takes OTLP over HTTP in JSON, as a collector does. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Attributes of whoever sent them. */
  readonly resources: Record<string, string>[] = [];
  private readonly server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.url === '/v1/traces') this.take(JSON.parse(body) as Wire);
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });

  /** @returns its base URL */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take({ resourceSpans }: Wire): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(fieldsOf(resource.attributes));
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, attributes: fieldsOf(span.attributes) })));
    }
  }
}

function fieldsOf(attributes: WireAttribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}
