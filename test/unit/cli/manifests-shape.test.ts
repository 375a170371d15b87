import { shapeOf } from '../../../operator/cli/manifests-shape';

describe('the options of an installation’s shape', () => {
  it.each([
    ['192.0.2.1:6443', { host: '192.0.2.1', port: 6443 }],
    ['api.example.com:443', { host: 'api.example.com', port: 443 }],
    ['[2001:db8::1]:6443', { host: '2001:db8::1', port: 6443 }],
  ])('read %s', (apiServer, endpoint) => {
    expect(shapeOf({ apiServer })).toEqual({ apiServer: endpoint });
  });

  it.each(['', '192.0.2.1', ':6443', 'a:0', 'a:65536', '2001:db8::1:6443', '[192.0.2.1]:1', 'https://a:6443', 'a b:1'])(
    'refuse "%s" as an API server',
    (apiServer) => {
      expect(() => shapeOf({ apiServer })).toThrow(`--api-server "${apiServer}" is no <host>:<port>`);
    },
  );

  it.each([
    [{ workload: 'DaemonSet', replicas: '2' }, '--replicas is for a Deployment, not for a DaemonSet'],
    [{ controllerManager: 'StaticPod', replicas: '2' }, '--replicas is for a Deployment, not for a StaticPod'],
    [{ network: 'Pod', workload: 'StaticPod' }, '--network Pod is for a Deployment without --controller-manager'],
    [{ network: 'Pod', controllerManager: 'Deployment' }, '--network Pod is for a Deployment without --controller-manager'],
    [{ workload: 'StaticPod', out: 'x', cloudConfig: 'c' }, '--cloud-config needs a ConfigMap or Secret'],
    [{ workload: 'StaticPod', out: 'x', extension: 'e' }, '--extension needs a ConfigMap or Secret'],
    [{ controllerManager: 'StaticPod', out: 'x', leaderMigrationConfig: 'm' }, '--leader-migration-config needs a ConfigMap or Secret'],
    [{ workload: 'StaticPod', out: 'x', webhooks: '*' }, '--webhooks needs a ConfigMap or Secret'],
    [{ workload: 'StaticPod', out: 'x', apiServer: 'a:1' }, '--api-server is what the kubeconfig of a static Pod says'],
    [{ workload: 'StaticPod' }, 'a static Pod is a file of its own: say with --out'],
  ] as const)('refuse %j', (flags, message) => {
    expect(() => shapeOf(flags)).toThrow(message);
  });
});
