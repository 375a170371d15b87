import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControllerName } from '../../../operator/flags/controllers';
import { DEFAULT_MIGRATION, leaderMigrationOf, lockOf, type MigrationLock } from '../../../operator/flags/leader-migration';

const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-migration-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HEAD = 'kind: LeaderMigrationConfiguration\napiVersion: controllermanager.config.k8s.io/v1\n';

function read(text: string) {
  const path = join(directory, 'migration.yaml');
  writeFileSync(path, text);
  return leaderMigrationOf(path);
}

test('without a file it is upstream’s list', () => {
  expect(leaderMigrationOf('')).toEqual({
    leaderName: 'cloud-provider-extraction-migration',
    resourceLock: 'leases',
    controllerLeaders: [
      { name: 'route-controller', component: '*' },
      { name: 'service-controller', component: '*' },
      { name: 'cloud-node-lifecycle-controller', component: '*' },
    ],
  });
});

test.each<[string, ControllerName, MigrationLock]>([
  ['C-APP-10', 'cloud-node-lifecycle-controller', 'Migration'],
  ['upstream’s older name', 'service-lb-controller', 'Migration'],
  ['upstream’s older name', 'node-route-controller', 'Migration'],
  ['not in the list', 'cloud-node-controller', 'Main'],
  ['not in the list', 'node-ipam-controller', 'Main'],
])('the default list, %s: %s → %s', (_what, controller, lock) => {
  expect(lockOf(controller, DEFAULT_MIGRATION)).toBe(lock);
});

test.each<[string, string, ControllerName, MigrationLock]>([
  ['node-route-controller', 'cloud-controller-manager', 'node-route-controller', 'Migration'],
  ['node-route-controller', 'kube-controller-manager', 'node-route-controller', 'Elsewhere'],
  ['node-route-controller', 'kube-controller-manager', 'service-lb-controller', 'Main'],
  ['cloud-node', 'kube-controller-manager', 'cloud-node-controller', 'Elsewhere'],
  // one name is the beginning of the other
  ['cloud-node', 'kube-controller-manager', 'cloud-node-lifecycle-controller', 'Main'],
  ['nodeipam', '*', 'node-ipam-controller', 'Migration'],
])('%s by %s: %s → %s', (name, component, controller, lock) => {
  expect(lockOf(controller, { ...DEFAULT_MIGRATION, controllerLeaders: [{ name, component }] })).toBe(lock);
});

test.each(['v1', 'v1beta1', 'v1alpha1'])('a file of version %s', (version) => {
  const text = `
kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/${version}
leaderName: moving
resourceLock: leases
controllerLeaders:
  - {name: service, component: cloud-controller-manager}
`;
  expect(read(text)).toEqual({
    leaderName: 'moving',
    resourceLock: 'leases',
    controllerLeaders: [{ name: 'service', component: 'cloud-controller-manager' }],
  });
});

test.each<[string, string]>([
  ['kind: LeaderMigrationConfiguration', 'Object \'apiVersion\' is missing in \'{"kind":"LeaderMigrationConfiguration"}\''],
  ['apiVersion: v1', 'Object \'Kind\' is missing in \'{"apiVersion":"v1"}\''],
  ['{kind: Pod, apiVersion: v1}', 'no kind "Pod" is registered for version "v1"'],
  [HEAD.replace('/v1', '/v2'), 'no kind "LeaderMigrationConfiguration" is registered for version "controllermanager.config.k8s.io/v2"'],
  [`${HEAD}leader: x`, 'strict decoding error: unknown field "leader"'],
  [`${HEAD}controllerLeaders: [{name: a, component: b, lock: c}]`, 'strict decoding error: unknown field "controllerLeaders[0].lock"'],
  [`${HEAD}leaderName: 3`, 'strict decoding error: leaderName must be a text, not 3'],
  [`${HEAD}controllerLeaders: {}`, 'strict decoding error: controllerLeaders must be a list'],
  ['- a', 'strict decoding error: LeaderMigrationConfiguration must be a map, not ["a"]'],
  ['{', 'is not YAML or JSON'],
  [
    `${HEAD}resourceLock: leases`,
    'failed to parse leader migration configuration: [leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration]',
  ],
  [
    `${HEAD}controllerLeaders: [{name: a}, {component: b}]`,
    'failed to parse leader migration configuration: [leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration ' +
      "resourceLock: Invalid value: \"\": resource Lock must be one of 'leases' or 'endpoints' " +
      'controllerLeaders[0].component: Required value: component must be set controllerLeaders[1].name: Required value: name must be set]',
  ],
])('%j: %s', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('a file that is not there', () => {
  expect(() => leaderMigrationOf('/nowhere/at/all')).toThrow(
    'unable to read leader migration configuration from "/nowhere/at/all": /nowhere/at/all does not exist',
  );
});
