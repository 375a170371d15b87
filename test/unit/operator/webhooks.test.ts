import { request } from 'node:https';
import { cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger, type Logger } from '../../../operator/base/log';
import type { ClusterID } from '../../../operator/cluster-id';
import { Metrics } from '../../../operator/server/metrics';
import { Webhooks, type WebhooksParts } from '../../../operator/webhooks';
import type { VolumePlace } from '../../../providers/provider';
import { freePort } from '../../../dev/cluster/free-port';

/** Of a replica that does not lead: nothing here is made by a leader. */

const PLACE: VolumePlace = { zones: ['zone-a'], region: 'r' };
const spec = cloudProviderSpec.parse({ custom: { kind: 'x' } });

let stop: () => Promise<void>;
let port: number;
let connectedTo: string[];

afterEach(() => stop());

async function start(
  place: () => Promise<VolumePlace | undefined>,
  { enabled = true, inCluster = ['home'], logger = silentLogger }: { enabled?: boolean; inCluster?: string[]; logger?: Logger } = {},
): Promise<void> {
  connectedTo = [];
  port = await freePort();
  const cloud = { volumes: { place }, workerSettings: () => ({}), close: () => Promise.resolve() };
  const loadModule: WebhooksParts['clouds']['loadModule'] = (kind) =>
    Promise.resolve({
      ...{ kind, providerIDScheme: kind, programVersion: '1', compile: () => ({ block: {}, problems: [] }) },
      connect: (_spec, { providerName, clusterID }) => {
        connectedTo.push(`${providerName} as ${clusterID}`);
        return Promise.resolve(cloud);
      },
    });
  const webhooks = new Webhooks(
    {
      webhooks: { names: ['persistent-volume-label'], enabled, serving: { bindAddress: '127.0.0.1', port, tls: { named: [] } } },
      defaultProvider: { name: 'flags', spec },
    },
    {
      clouds: { loadModule, readSecret: () => Promise.resolve(['']) },
      clusterID: { known: Promise.resolve('the-cluster') } as unknown as ClusterID,
      providers: { list: () => inCluster.map((name) => ({ metadata: { name }, spec })) as ReturnType<WebhooksParts['providers']['list']> },
      metrics: new Metrics(),
      logger,
    },
  );
  const stopped = new AbortController();
  stop = async () => {
    stopped.abort();
    await webhooks.stop();
  };
  await webhooks.start(stopped.signal);
}

function review(metadata: object = { name: 'data' }): Promise<[number, { allowed?: boolean; status?: unknown; patch?: string }]> {
  const resource = { group: '', version: 'v1', resource: 'persistentvolumes' };
  const object = { metadata, spec: {} };
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: '1', operation: 'CREATE', resource, object } };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/persistent-volume-label', method: 'POST', agent: false, rejectUnauthorized: false };
    const sent = request({ ...options, headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const answer = text.startsWith('{') ? (JSON.parse(text) as { response: object }).response : {};
        resolve([response.statusCode ?? 0, answer]);
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

test('a volume is labelled, by the cluster’s CloudProviders and the one of the flags', async () => {
  let asked = 0;
  await start(() => Promise.resolve(asked++ === 0 ? PLACE : undefined));
  const [status, { allowed, patch = '' }] = await review();
  expect([status, allowed]).toEqual([200, true]);
  expect(Buffer.from(patch, 'base64').toString()).toContain('"topology.kubernetes.io/zone":"zone-a"');
  expect(connectedTo).toEqual(['flags as the-cluster', 'home as the-cluster']);
});

test('the cluster’s CloudProvider of the name replaces that of the flags', async () => {
  await start(() => Promise.resolve(undefined), { inCluster: ['flags'] });
  expect(await review()).toEqual([200, expect.objectContaining({ allowed: true })]);
  expect(connectedTo).toEqual(['flags as the-cluster']);
});

test('what the cloud should have and hasn’t is refused; a cloud that can’t be asked fails the call', async () => {
  await start(() => Promise.reject(new OperatorError('NotFound', 'there is no disk vol-1')), { inCluster: [] });
  expect(await review()).toEqual([200, { uid: '1', allowed: false, status: { code: 403, message: 'there is no disk vol-1' } }]);
  await stop();
  await start(() => Promise.reject(new OperatorError('Transient', 'the cloud is away')), { inCluster: [] });
  expect((await review())[0]).toBe(500);
});

test('a zone label of a provisioner that names no zone is refused', async () => {
  await start(() => Promise.resolve(PLACE), { inCluster: [] });
  const labels = { 'topology.kubernetes.io/zone': 'a__', 'topology.kubernetes.io/region': 'r' };
  const [status, answer] = await review({ name: 'data', labels, annotations: { 'pv.kubernetes.io/provisioned-by': 'x' } });
  const message = 'failed to convert label string for Zone: a__ to a Set';
  expect([status, answer]).toEqual([200, { uid: '1', allowed: false, status: { code: 403, message } }]);
});

test('without the gate nothing is served, and the log says so', async () => {
  const said: string[] = [];
  const logger = { warn: (_fields: object, text: string) => said.push(text) } as unknown as Logger;
  await start(() => Promise.resolve(PLACE), { enabled: false, logger });
  await expect(review()).rejects.toThrow('ECONNREFUSED');
  expect(said).toEqual([expect.stringContaining('--feature-gates=CloudControllerManagerWebhook=true is missing')]);
});
