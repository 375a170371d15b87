import { isAcr, mirrorsIn } from '../../../providers/azure/registry/acr-registry';

test.each([
  ['name.azurecr.io', true],
  ['Name.azurecr.cn', true],
  ['name-a1b2c3.azurecr.us', true],
  ['name.westeurope.geo.azurecr.io', true],
  ['azurecr.io', false],
  ['.azurecr.io', false],
  ['name.azurecr.io.evil.example', false],
  ['evil.example?.azurecr.io', false],
  ['a.b.azurecr.io', false],
  ['name.azurecr.io:8443', false],
  ['name.registry.local', false],
  ['mcr.microsoft.com', false],
])('%s: %s', (host, expected) => {
  expect(isAcr(host)).toBe(expected);
});

test('a cloud of somebody’s own says its suffix', () => {
  expect(isAcr('name.registry.local', 'registry.local')).toBe(true);
  expect(isAcr('name.registry.local', '.registry.local')).toBe(true);
  expect(isAcr('nameregistry.local', 'registry.local')).toBe(false);
});

test('registry mirrors as upstream writes them', () => {
  expect([...mirrorsIn('mcr.microsoft.com:a.azurecr.io, docker.io:b.azurecr.io')]).toEqual([
    ['mcr.microsoft.com', 'a.azurecr.io'],
    ['docker.io', 'b.azurecr.io'],
  ]);
  expect(mirrorsIn('').size).toBe(0);
  expect(() => mirrorsIn('mcr.microsoft.com')).toThrow(/"mcr.microsoft.com" is no pair of registries/);
});
