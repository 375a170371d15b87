import { cloudPlace, type CloudPlace } from '../../../operator/cli/cloud-place';
import { hostAddresses, hostAddressOf } from '../../../operator/cli/host-addresses';
import { invocation } from '../../../operator/cli/invocation';
import type { LoadBalancer } from '../../../providers/local/api';

const place = (name: string): CloudPlace => ({ endpoint: `http://${name}`, tokenFile: `/${name}/token` });
const up = (...names: string[]) => new Map(names.map((name) => [name, place(name)]));

describe('cloudPlace', () => {
  it.each([
    ['the only development cluster that is up', {}, up('b'), place('b')],
    ['the default one of several', {}, up('a', 'default'), place('default')],
    ['the named one', { name: 'a' }, up('a', 'default'), place('a')],
    ['an endpoint, whatever is up', { endpoint: 'unix:/x', tokenFile: '/t' }, up('default'), { endpoint: 'unix:/x', tokenFile: '/t' }],
  ])('takes %s', (_title, flags, clouds, expected) => {
    expect(cloudPlace(flags, clouds)).toEqual(expected);
  });

  it('takes the one of `local-cloud serve` when no development cluster is up', () => {
    expect(cloudPlace({}, up())).toEqual({
      endpoint: 'http://127.0.0.1:10260',
      tokenFile: expect.stringMatching(/cloud-operator\/local-cloud\/token$/) as string,
    });
  });

  it('refuses to guess among several, and names that are not up', () => {
    expect(() => cloudPlace({}, up('a', 'b'))).toThrow('the development clusters a, b are up');
    expect(() => cloudPlace({ name: 'c' }, up('a'))).toThrow('the development cluster "c" is not up');
  });
});

describe('addresses on this machine', () => {
  const listener = (name: string, protocol: 'TCP' | 'UDP', port: number, owner?: string) => ({
    ...{ name, protocol, port, poolID: 'p' },
    ...(owner === undefined ? {} : { owner }),
  });
  const hostPort = (of: string, port: number, protocol: 'TCP' | 'UDP') => ({ listener: of, ip: '127.0.0.9', port, protocol });
  const all = hostAddresses([
    {
      tags: { owner: 'default/web' },
      listeners: [listener('echo', 'UDP', 53), listener('http', 'TCP', 80), listener('https', 'TCP', 443)],
      hostPorts: [hostPort('echo', 8053, 'UDP'), hostPort('http', 8080, 'TCP')],
    },
    { tags: {}, listeners: [listener('a', 'TCP', 81, 'team/shop')], hostPorts: [hostPort('a', 8081, 'TCP')] },
  ] as LoadBalancer[]);

  it('are those of listeners that answer, with the owner of each', () => {
    expect(all.map(({ owner, port, address }) => `${owner} ${port} ${address}`)).toEqual([
      'default/web 53 127.0.0.9:8053',
      'default/web 80 127.0.0.9:8080',
      'team/shop 81 127.0.0.9:8081',
    ]);
  });

  it.each([
    ['web', undefined, '127.0.0.9:8080'],
    ['default/web', '53', '127.0.0.9:8053'],
    ['web', 'http', '127.0.0.9:8080'],
    ['team/shop', undefined, '127.0.0.9:8081'],
  ])('%s %s → %s', (service, port, address) => {
    expect(hostAddressOf(all, service, port).address).toBe(address);
  });

  it('says what there is instead', () => {
    expect(() => hostAddressOf(all, 'shop')).toThrow('no load balancer of the Service default/shop');
    expect(() => hostAddressOf(all, 'web', 'https')).toThrow('default/web has no port "https" in the cloud');
  });
});

describe('invocation', () => {
  it.each([
    ['/src/project', '/src/project', '/src/project/bin/cloud-operator.js', 'npx cloud-operator'],
    ['/src/project/docs', '/src/project', '/src/project/node_modules/.bin/cloud-operator', 'npx cloud-operator'],
    ['/tmp', '/src/project', '/src/project/bin/cloud-operator.js', 'node /src/project/bin/cloud-operator.js'],
    ['/tmp', '/src/project', '/src/project/lib/operator/cli/main.js', 'node /src/project/bin/cloud-operator.js'],
    ['/tmp', '/usr/lib/node_modules/cloud-operator', '/usr/bin/cloud-operator', 'cloud-operator'],
    // A symbolic link to the checkout: on PATH, and elsewhere.
    ['/src/project', '/src/project', '/usr/local/bin/cloud-operator', 'cloud-operator'],
    ['/tmp', '/src/project', '/home/me/tools/cloud-operator', '/home/me/tools/cloud-operator'],
  ])('in %s, with the program in %s, run as %s: %s', (cwd, root, script, expected) => {
    expect(invocation({ cwd, root, script, path: '/src/project/node_modules/.bin:/usr/bin:/usr/local/bin' })).toBe(expected);
  });
});
