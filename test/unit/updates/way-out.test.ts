import { wayOut } from '../../../operator/updates/way-out';

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['nothing', { HOME: '/root', AWS_SECRET_ACCESS_KEY: 'x' }, {}],
  [
    'proxies, and that the engine needs none',
    { HTTPS_PROXY: 'http://proxy:3128', no_proxy: '.internal', PATH: '/bin' },
    { HTTPS_PROXY: 'http://proxy:3128', no_proxy: '.internal', no_grpc_proxy: 'localhost,127.0.0.1,[::1]' },
  ],
  [
    'authorities',
    { NODE_EXTRA_CA_CERTS: '/etc/ca.pem' },
    { NODE_EXTRA_CA_CERTS: '/etc/ca.pem', no_grpc_proxy: 'localhost,127.0.0.1,[::1]' },
  ],
])('a worker gets of the environment %s', (_what, environment, expected) => {
  expect(wayOut(environment)).toEqual(expected);
});
