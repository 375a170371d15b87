import { Resolver } from 'node:dns/promises';
import type { KubeObject } from '../../../operator/kube/object';
import { ClusterDNS } from '../../e2e/cluster-dns';

const services: Record<string, string> = { 'default/web': '10.96.1.2' };
const kube = {
  get: <T extends KubeObject>(_: unknown, key: string) =>
    Promise.resolve((services[key] === undefined ? undefined : { spec: { clusterIP: services[key] } }) as T | undefined),
};

let dns: ClusterDNS;
const resolver = new Resolver({ tries: 1 });

beforeAll(async () => {
  dns = await ClusterDNS.start(kube, '127.0.0.1', 0);
  resolver.setServers([`127.0.0.1:${dns.port}`]);
});
afterAll(() => dns.stop());

it('answers the address of a Service by its name', async () => {
  expect(await resolver.resolve4('web.default.svc.cluster.local')).toEqual(['10.96.1.2']);
});

it('says that a Service has no IPv6 address, so that clients ask for the other', async () => {
  await expect(resolver.resolve6('web.default.svc.cluster.local')).rejects.toMatchObject({ code: 'ENODATA' });
});

it.each(['none.default.svc.cluster.local', 'web.default.svc', 'example.org'])(
  'says that there is no %s, so that clients go on with their search path',
  async (name) => {
    await expect(resolver.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  },
);
