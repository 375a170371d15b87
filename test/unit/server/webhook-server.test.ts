import { request } from 'node:https';
import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import type { AdmissionAnswer } from '../../../operator/server/admission-review';
import { Metrics } from '../../../operator/server/metrics';
import { WebhookServer } from '../../../operator/server/webhook-server';

const REQUEST = { uid: '42', operation: 'CREATE', resource: { group: '', version: 'v1', resource: 'persistentvolumes' }, object: {} };
const REVIEW = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: REQUEST };
const JSON_TYPE = 'application/json';

const metrics = new Metrics();
const stopped = new AbortController();
let handler: () => Promise<AdmissionAnswer>;
let server: WebhookServer;
let port: number;

beforeAll(async () => {
  const serving = { bindAddress: '127.0.0.1', port: 0, tls: { named: [] } };
  const handlers = new Map([['webhook-a', () => handler()]]);
  server = new WebhookServer({ serving, handlers, metrics: metrics.webhooks, clock: systemClock, logger: silentLogger });
  ({ port } = await server.start(stopped.signal));
});
beforeEach(() => (handler = () => Promise.resolve({ allowed: true })));
afterAll(async () => {
  stopped.abort();
  await server.stop();
});

function ask(body: string, { type = JSON_TYPE, path = '/webhook-a', method = 'POST' } = {}): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const options = {
      ...{ host: '127.0.0.1', port, path, method, agent: false, rejectUnauthorized: false },
      headers: { 'content-type': type },
    };
    const sent = request(options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('an answer has the request’s UID, and its patch as the API server wants it', async () => {
  const patch = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }];
  handler = () => Promise.resolve({ allowed: true, patch, warnings: ['careful'] });
  const [status, body] = await ask(JSON.stringify(REVIEW), { type: 'application/json; charset=utf-8' });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      ...{ uid: '42', allowed: true, warnings: ['careful'], patchType: 'JSONPatch' },
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    },
  });
});

test('without changes there is no patch', async () => {
  handler = () => Promise.resolve({ allowed: false, status: { code: 403, message: 'no' }, patch: [] });
  const [, body] = await ask(JSON.stringify(REVIEW));
  expect((JSON.parse(body) as { response: unknown }).response).toEqual({ uid: '42', allowed: false, status: { code: 403, message: 'no' } });
});

test.each<[string, string, Parameters<typeof ask>[1], number]>([
  ['another content type', JSON.stringify(REVIEW), { type: 'text/plain' }, 400],
  ['no body', '', {}, 400],
  ['no JSON', '{"apiVersion":', {}, 400],
  ['a list', '[]', {}, 400],
  ['another version', JSON.stringify({ ...REVIEW, apiVersion: 'admission.k8s.io/v1beta1' }), {}, 400],
  ['no request', JSON.stringify({ ...REVIEW, request: undefined }), {}, 400],
  ['a request without a UID', JSON.stringify({ ...REVIEW, request: { ...REQUEST, uid: undefined } }), {}, 400],
  ['more than an object can be', ' '.repeat(8 * 1024 * 1024 + 1), {}, 400],
  ['another path', JSON.stringify(REVIEW), { path: '/webhook-b' }, 404],
  ['another method', '', { method: 'GET' }, 405],
])('%s', async (_what, body, how, expected) => {
  handler = () => Promise.reject(new Error('not called'));
  expect((await ask(body, how))[0]).toBe(expected);
});

test('what a handler throws is a failure of the call, by the webhook configuration’s policy', async () => {
  handler = () => Promise.reject(new OperatorError('Transient', 'the cloud is away'));
  expect(await ask(JSON.stringify(REVIEW))).toEqual([500, 'the cloud is away\n']);
});

test('requests are counted by webhook and code', async () => {
  await ask(JSON.stringify(REVIEW));
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/^cloud_provider_webhook_request_total\{code="200",webhook="webhook-a"\} [1-9]/m);
  expect(text).toMatch(/^cloud_provider_webhook_request_total\{code="400",webhook="webhook-a"\} [1-9]/m);
  expect(text).toMatch(/^cloud_provider_webhook_request_duration_seconds_count\{code="200",webhook="webhook-a"\} [1-9]/m);
});

test('a port that is taken', async () => {
  const serving = { bindAddress: '127.0.0.1', port, tls: { named: [] } };
  const second = new WebhookServer({ serving, handlers: new Map(), metrics: metrics.webhooks, clock: systemClock, logger: silentLogger });
  await expect(second.start(stopped.signal)).rejects.toMatchObject({
    code: 'Invalid',
    message: expect.stringContaining('the port is in use; choose another') as string,
  });
  await second.stop();
});
