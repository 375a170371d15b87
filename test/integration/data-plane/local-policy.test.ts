import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { Engine } from '../../../providers/local/cloud/data-plane/engine/engine';
import { Backend } from './backend';
import { Load, request, until, type Endpoint } from './client';
import { loadBalancerPlan } from './plans';

/** As for a Service with externalTrafficPolicy Local: the check decides alone. */
const LOCAL = {
  failOpen: false,
  healthCheck: { protocol: 'HTTP' as const, path: '/healthz', intervalMs: 50, timeoutMs: 1000, healthyThreshold: 1, unhealthyThreshold: 2 },
};

let engine: Engine;
let backends: Backend[];
let load: Load | undefined;

beforeEach(async () => {
  engine = new Engine({ clock: systemClock, logger: silentLogger, offsetPorts: true });
  const first = await Backend.start('n1', '127.99.4.1');
  backends = [first, await Backend.start('n2', '127.99.4.2', first.port), await Backend.start('n3', '127.99.4.3', first.port)];
});

afterEach(async () => {
  await load?.stop();
  load = undefined;
  await engine.close();
  await Promise.all(backends.map((backend) => backend.stop()));
});

async function apply(): Promise<Endpoint> {
  const [http] = await engine.applyLoadBalancer(loadBalancerPlan(backends, { ips: ['127.99.4.9'] }, LOCAL));
  return http!;
}

const stateOf = (id: string) =>
  engine
    .health()
    .get('pool-1')
    ?.find(({ instanceID }) => instanceID === id)?.state;

test('nobody is sent to a node whose check was never answered, not even the first client', async () => {
  backends[0]!.healthy = backends[1]!.healthy = false;
  const http = await apply();
  const answers = await Promise.all(Array.from({ length: 12 }, () => request(http)));
  expect(new Set(answers.map(({ node }) => node))).toEqual(new Set(['n3']));
});

test('under load the node whose check fails leaves and comes back without a failed request', async () => {
  const http = await apply();
  await until(() => backends.every(({ name }) => stateOf(name) === 'healthy'));
  load = new Load(http, 4);
  await load.more(10, 'n1');
  backends[0]!.healthy = false;
  await until(() => stateOf('n1') === 'unhealthy');
  // Four may be on their way to it.
  await load.more(8);
  const before = load.byNode.get('n1');
  await load.more(60);
  expect(load.byNode.get('n1')).toBe(before);
  backends[0]!.healthy = true;
  await load.more(10, 'n1');
  await load.stop();
  expect(load.failures).toEqual([]);
});

test('when no check is answered nobody gets traffic', async () => {
  for (const backend of backends) backend.healthy = false;
  const http = await apply();
  await until(() => backends.every(({ name }) => stateOf(name) === 'unhealthy'));
  await expect(request(http)).rejects.toThrow('ECONNRESET');
  backends[1]!.healthy = true;
  await until(() => stateOf('n2') === 'healthy');
  expect((await request(http)).node).toBe('n2');
});
