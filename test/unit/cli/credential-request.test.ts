import { readRequest, responseOf } from '../../../operator/cli/credential-request';

const request = { kind: 'CredentialProviderRequest', apiVersion: 'credentialprovider.kubelet.k8s.io/v1', image: 'name.azurecr.io/web:1' };

test('a request of the kubelet', () => {
  expect(readRequest(JSON.stringify(request))).toEqual({ image: 'name.azurecr.io/web:1', serviceAccountAnnotations: {} });
  const more = { ...request, serviceAccountToken: 'jwt', serviceAccountAnnotations: { a: 'b' }, later: 1 };
  expect(readRequest(JSON.stringify(more))).toMatchObject({ serviceAccountToken: 'jwt', serviceAccountAnnotations: { a: 'b' } });
  const none = { ...request, serviceAccountToken: '', serviceAccountAnnotations: null };
  expect(readRequest(JSON.stringify(none))).toEqual({ image: 'name.azurecr.io/web:1', serviceAccountAnnotations: {} });
});

test.each([
  ['', /no CredentialProviderRequest/],
  ['null', /no CredentialProviderRequest/],
  ['{"kind":"Pod"}', /no CredentialProviderRequest/],
  [
    JSON.stringify({ ...request, apiVersion: 'credentialprovider.kubelet.k8s.io/v1alpha1' }),
    /"credentialprovider.kubelet.k8s.io\/v1alpha1"\. Set apiVersion/,
  ],
  [JSON.stringify({ ...request, image: '' }), /image can't be read/],
])('%s is refused', (text, message) => {
  expect(() => readRequest(text)).toThrow(message);
});

test('an answer, with Go’s durations', () => {
  const credentials = { registries: ['a.azurecr.io', 'mcr.microsoft.com'], username: 'me', password: 'pw', cacheMs: 21_599_000 };
  expect(JSON.parse(responseOf(credentials))).toEqual({
    kind: 'CredentialProviderResponse',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    cacheKeyType: 'Registry',
    cacheDuration: '5h59m59s',
    auth: { 'a.azurecr.io': { username: 'me', password: 'pw' }, 'mcr.microsoft.com': { username: 'me', password: 'pw' } },
  });
});

test('an image of another registry: no credentials, for as long as the kubelet’s configuration says', () => {
  expect(JSON.parse(responseOf(undefined))).toEqual({
    kind: 'CredentialProviderResponse',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    cacheKeyType: 'Registry',
    auth: {},
  });
});
