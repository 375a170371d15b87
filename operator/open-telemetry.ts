import type { Context, Span, SpanKind } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Change } from './base/change';
import { OperatorError, toOperatorError } from './base/errors';
import type { Logger } from './base/log';
import { traceTo, type OpenSpan, type SpanAttributes } from './base/tracing';

const TRACES_PATH = 'v1/traces';

export interface TracingOptions {
  /** Base URL of an OTLP receiver over HTTP; absent = as OpenTelemetry's environment variables say. */
  endpoint?: string;
  version: string;
  /** Who we are, among several. */
  identity: string;
}

/** Whether OpenTelemetry's environment asks for traces. Pure. */
export function tracesAreAskedFor(env: Record<string, string | undefined>): boolean {
  if (env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none') return false;
  return (env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== '' || (env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '') !== '';
}

/**
 * Sends the spans of all changes to an OTLP receiver from now on. The SDK is loaded here and nowhere else: who does not trace does not pay for it.
 * @returns what sends the rest, and ends it
 * @throws OperatorError Invalid for an endpoint that is no URL
 */
export async function startTracing({ endpoint, version, identity }: TracingOptions, logger: Logger): Promise<() => Promise<void>> {
  const api = await import('@opentelemetry/api');
  const { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } = await import('@opentelemetry/sdk-trace-base');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources');
  const own = resourceFromAttributes({ 'service.name': 'cloud-operator', 'service.version': version, 'service.instance.id': identity });
  const random = new RandomIdGenerator();
  let trace = ''; // of the span that is being made, where that is its trace's first
  const provider = new BasicTracerProvider({
    // What the environment says wins.
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(await exporterTo(endpoint))],
    idGenerator: { generateTraceId: () => trace, generateSpanId: () => random.generateSpanId() },
  });
  api.diag.setLogger(
    { ...silent(), error: (message) => logger.warn({ problem: message.slice(0, 500) }, 'traces can not be sent') },
    { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const tracer = provider.getTracer('cloud-operator', version);
  const parentOf = ({ id, span }: Change): Context => {
    if (span === undefined) return api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId: id, spanId: span, traceFlags: api.TraceFlags.SAMPLED });
  };
  traceTo({
    start: (name, change, attributes) => {
      trace = change.id;
      const kind: SpanKind = 'cloud.verb' in attributes ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL;
      const about = { 'cloud_operator.object': change.object, ...attributes };
      return openSpan(tracer.startSpan(name, { kind, attributes: about }, parentOf(change)), api.SpanStatusCode.ERROR);
    },
  });
  return async () => {
    traceTo(undefined);
    await provider
      .shutdown()
      .catch((thrown: unknown) => logger.warn({ problem: toOperatorError(thrown).message }, 'the last traces can not be sent'));
  };
}

function openSpan(span: Span, failed: number): OpenSpan {
  let dropped = false;
  return {
    id: span.spanContext().spanId,
    set: (attributes: SpanAttributes) => void span.setAttributes(attributes),
    drop: () => void (dropped = true),
    end: (failure) => {
      if (failure !== undefined) span.setStatus({ code: failed, message: failure.message }).setAttribute('error.type', failure.code);
      // A span that never ends is never sent.
      else if (dropped) return;
      span.end();
    },
  };
}

/** OTLP over HTTP, with OpenTelemetry's environment variables for headers, certificates, time-outs and compression. */
async function exporterTo(endpoint: string | undefined): Promise<SpanExporter> {
  const { OTLPExporterBase } = await import('@opentelemetry/otlp-exporter-base');
  const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } = await import('@opentelemetry/otlp-exporter-base/node-http');
  const { JsonTraceSerializer, ProtobufTraceSerializer } = await import('@opentelemetry/otlp-transformer');
  const json = process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] === 'http/json';
  const headers = { 'Content-Type': json ? 'application/json' : 'application/x-protobuf' };
  const where = endpoint === undefined ? {} : { url: tracesURL(endpoint) };
  const options = convertLegacyHttpOptions(where, 'TRACES', TRACES_PATH, headers);
  const serializer = json ? JsonTraceSerializer : ProtobufTraceSerializer;
  return new OTLPExporterBase(createOtlpHttpExportDelegate(options, serializer));
}

/** @throws OperatorError Invalid */
export function tracesURL(endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new OperatorError(
      'Invalid',
      `--otlp-endpoint "${endpoint}" is no URL that begins with http:// or https://, such as http://127.0.0.1:4318`,
    );
  return `${endpoint.replace(/\/+$/, '')}/${TRACES_PATH}`;
}

function silent(): Record<'error' | 'warn' | 'info' | 'debug' | 'verbose', (message: string) => void> {
  const nothing = (): void => undefined;
  return { error: nothing, warn: nothing, info: nothing, debug: nothing, verbose: nothing };
}
