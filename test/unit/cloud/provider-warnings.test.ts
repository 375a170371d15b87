import { cloudProviderSpec } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import type { StoredProvider } from '../../../operator/cloud/providers/provider-reconciler';
import { ProviderWarnings } from '../../../operator/cloud/providers/provider-warnings';
import { MemoryStore } from '../../../operator/kube/store';
import { RecordingApi } from '../loops/recording-api';

const TEXT = 'the operator lacks these rights (RBAC rules): nodes (delete)';

function provider(name: string, isDefault: boolean): StoredProvider {
  const spec = cloudProviderSpec.parse({ custom: { kind: 'fake' }, default: isDefault });
  return { apiVersion: '', kind: 'CloudProvider', metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' }, spec };
}

function scene(...providers: StoredProvider[]) {
  const store = new MemoryStore<StoredProvider>({}, silentLogger);
  store.replace(providers);
  const [events, again, rivals, inVain] = [new RecordingApi(), [] as string[], [] as string[], [] as string[]];
  const registry = { rivalriesOf: () => rivals, get: () => ({ cloud: { withoutEffect: inVain } }) as never };
  const warnings = new ProviderWarnings({ store, registry, events, again: (name) => again.push(name) });
  return { store, events, again, rivals, inVain, warnings };
}

test('what the operator lacks stands on the default CloudProvider, and is an Event there once, also of one that comes later', () => {
  const { store, events, again, warnings } = scene(provider('one', true), provider('two', false));
  warnings.lacksRights(['nodes (delete)']);
  const condition = [{ type: 'Warning', reason: 'PermissionMissing', message: TEXT }];
  expect([warnings.of(provider('one', true)), warnings.of(provider('two', false)), again]).toEqual([condition, [], ['one', 'two']]);
  store.set(provider('three', true));
  expect(events.log).toEqual(Array(2).fill(`Warning PermissionMissing: ${TEXT}`));
  warnings.lacksRights([]);
  expect(warnings.of(provider('one', true))).toEqual([]);
  warnings.lacksRights(['nodes (delete)']);
  expect(events.log).toHaveLength(4);
});

test('where none is the default, each says it; beside rivals it is one condition', () => {
  const { events, rivals, warnings } = scene(provider('one', false), provider('two', false));
  warnings.lacksRights(['nodes (delete)']);
  expect(events.log).toHaveLength(2);
  rivals.push('two claim x');
  expect(warnings.of(provider('one', false))).toEqual([{ type: 'Warning', reason: 'SeveralProviders', message: `two claim x; ${TEXT}` }]);
});

test('collections whose changes don’t come in: a condition with the newest failure, and an Event only when they are others', () => {
  const { events, again, warnings } = scene(provider('one', true), provider('two', false));
  const why = (text: string) => `the operator does not see changes of services, nodes, and goes by what it saw last: ${text}`;
  warnings.missesChanges(['services', 'nodes'].map((collection) => ({ collection, why: '500 says the test' })));
  warnings.missesChanges(['services', 'nodes'].map((collection) => ({ collection, why: 'connection refused' })));
  expect(warnings.of(provider('one', true))).toEqual([{ type: 'Warning', reason: 'CacheStale', message: why('connection refused') }]);
  expect([warnings.of(provider('two', false)), again]).toEqual([[], ['one', 'two', 'one', 'two']]);
  expect(events.log).toEqual([`Warning CacheStale: ${why('500 says the test')}`]);
  warnings.lacksRights(['nodes (delete)']);
  expect(warnings.of(provider('one', true))).toMatchObject([
    { reason: 'PermissionMissing', message: `${TEXT}; ${why('connection refused')}` },
  ]);
  warnings.missesChanges([]);
  warnings.lacksRights([]);
  expect(warnings.of(provider('one', true))).toEqual([]);
  warnings.missesChanges([{ collection: 'nodes', why: 'again' }]);
  expect(events.log).toHaveLength(3);
});

test('what it asks for in vain stands on the CloudProvider itself, behind what the operator lacks', () => {
  const { inVain, warnings } = scene(provider('one', true), provider('two', false));
  inVain.push('spec.azure.tags: the key k8s-azure-service is without effect');
  expect(warnings.of(provider('two', false))).toEqual([{ type: 'Warning', reason: 'NotSupported', message: inVain[0] }]);
  warnings.lacksRights(['nodes (delete)']);
  expect(warnings.of(provider('one', true))).toEqual([{ type: 'Warning', reason: 'PermissionMissing', message: `${TEXT}; ${inVain[0]}` }]);
});
