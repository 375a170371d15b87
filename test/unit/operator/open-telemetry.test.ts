import { inChange, newChangeID } from '../../../operator/base/change';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { startSpan, traced } from '../../../operator/base/tracing';
import { startTracing, tracesAreAskedFor, tracesURL } from '../../../operator/open-telemetry';
import { OtlpReceiver } from '../../harness/otlp-receiver';

test.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
])('%j asks for traces: %s', (env, expected) => expect(tracesAreAskedFor(env)).toBe(expected));

test('an endpoint is a URL, with or without a slash', () => {
  expect(tracesURL('http://127.0.0.1:4318')).toBe('http://127.0.0.1:4318/v1/traces');
  expect(tracesURL('https://collector/otlp/')).toBe('https://collector/otlp/v1/traces');
  expect(() => tracesURL('collector:4318')).toThrow(/--otlp-endpoint "collector:4318" is no URL/);
});

test('where nobody traces, nothing is made of a span', async () => {
  const span = inChange({ id: newChangeID(), object: 'x' }, () => startSpan('x'));
  expect(span.id).toBe('');
  await expect(traced('x', {}, () => Promise.resolve(1))).resolves.toBe(1);
});

test('spans reach a receiver with the trace of their change, one below the other, failures too; what was dropped does not', async () => {
  const receiver = new OtlpReceiver();
  const endpoint = await receiver.start();
  const id = newChangeID();
  process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'http/json';
  const stop = await startTracing({ endpoint, version: '1.2.3', identity: 'me' }, silentLogger);
  try {
    const failing = inChange({ id, object: 'Service shop/web' }, () =>
      traced('outer', { answer: 42 }, async () => {
        await traced('dropped', {}, (span) => Promise.resolve(span.drop()));
        await traced('inner', {}, () => Promise.reject(new OperatorError('Throttled', 'too many')));
      }),
    );
    await expect(failing).rejects.toThrow('too many');
  } finally {
    await stop();
    delete process.env['OTEL_EXPORTER_OTLP_PROTOCOL'];
    await receiver.stop();
  }
  const named = Object.fromEntries(receiver.spans.map((span) => [span.name, span]));
  expect(Object.keys(named).sort()).toEqual(['inner', 'outer']);
  expect(named['outer']).toMatchObject({ traceId: id, attributes: { 'cloud_operator.object': 'Service shop/web', answer: '42' } });
  expect(named['inner']).toMatchObject({ traceId: id, parentSpanId: named['outer']?.spanId, attributes: { 'error.type': 'Throttled' } });
  expect(receiver.resources[0]).toMatchObject({
    'service.name': 'cloud-operator',
    'service.version': '1.2.3',
    'service.instance.id': 'me',
  });
});
