import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { GROUP, KINDS } from '../../../crds';
import { toCRD } from '../../../crds/crd';
import { PROJECT_ROOT } from '../../../operator/entry';
import { argocdFiles, CONTRIBUTION } from '../../../synth/gitops/argocd-files';
import { healthCheckExprs } from '../../../synth/gitops/flux-checks';
import { HEALTH_LUA } from '../../../synth/gitops/health-lua';
import { transitions, type SteppedObject } from '../../fixtures/status-transitions';
import { expectFile } from '../../golden/golden';
import { fluxHealth } from '../../harness/flux';
import { kstatusOf } from '../../harness/kstatus';
import { luaHealth } from '../../harness/lua';

const TABLE = transitions();

/** Argo CD asks the script only of what is not being deleted. */
function argocdOf(object: SteppedObject): string {
  return object.metadata.deletionTimestamp === undefined ? luaHealth(HEALTH_LUA, object).status : 'Progressing';
}

/** What Flux says of an object by the expressions of its kind. */
function fluxOf(object: SteppedObject): string {
  const expressions = healthCheckExprs().find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  if (expressions === undefined) throw new Error(`no expressions for ${object.kind}`);
  return fluxHealth(expressions, object);
}

describe.each(TABLE)('$name', ({ object, kstatus, argocd }) => {
  test(`Flux's expressions say ${kstatus}`, () => expect(fluxOf(object)).toBe(kstatus === 'Terminating' ? 'InProgress' : kstatus));
  test(`kstatus says ${kstatus}`, () => expect(kstatusOf(object)).toBe(kstatus));
  test(`Argo CD says ${argocd}`, () => expect(argocdOf(object)).toBe(argocd));
});

test('both say the same of every step', () => {
  const same = { Current: ['Healthy'], InProgress: ['Progressing', 'Suspended'], Failed: ['Degraded'], Terminating: ['Progressing'] };
  expect(TABLE.filter(({ object }) => !same[kstatusOf(object)].includes(argocdOf(object)))).toEqual([]);
});

test('the table has every verdict', () => {
  expect(new Set(TABLE.map(({ kstatus }) => kstatus)).size).toBe(4);
  expect(new Set(TABLE.map(({ argocd }) => argocd)).size).toBe(4);
});

test.each([
  ['has no status at all', { metadata: { generation: 1 } }, 'Progressing'],
  ['has no conditions, as a mirror', { metadata: { generation: 1 }, status: { observedGeneration: 1 } }, 'Healthy'],
  ['has an empty list of them', { metadata: { generation: 1 }, status: { observedGeneration: 1, conditions: [] } }, 'Healthy'],
])('Argo CD on an object that %s', (_, object, status) => {
  expect(luaHealth(HEALTH_LUA, object).status).toBe(status);
});

test('the message says reason and cause', () => {
  const { object } = TABLE.find(({ name }) => name.endsWith('over a quota')) ?? TABLE[0]!;
  expect(luaHealth(HEALTH_LUA, object).message).toMatch(/^QuotaExceeded: the cloud said no\./);
});

test('a new object of any kind is not taken for one that is ready: the CRDs have a default status', () => {
  const without = KINDS.filter((kind) => !JSON.stringify(toCRD(kind)).includes('"default":{"observedGeneration":-1'));
  expect(without.map(({ kind }) => kind)).toEqual([]);
});

describe('examples/argocd', () => {
  test.each([...argocdFiles()])('%s is fresh (else UPDATE_GOLDEN=1)', (path, text) => expectFile(`examples/argocd/${path}`, text));

  test('every form has the script for every kind', () => {
    const files = new Map([...argocdFiles()].map(([path, text]): [string, unknown] => [path, path.endsWith('.lua') ? text : parse(text)]));
    const expected = Object.fromEntries(KINDS.map(({ kind }) => [`resource.customizations.health.${GROUP}_${kind}`, HEALTH_LUA]));
    expect(files.get('argocd-cm.yaml')).toMatchObject({ metadata: { name: 'argocd-cm' }, data: expected });
    expect(files.get('helm-values.yaml')).toEqual({ configs: { cm: expected } });
    const checks = KINDS.map(({ kind }) => ({ group: GROUP, kind, check: HEALTH_LUA }));
    expect(files.get('argocd-operator.yaml')).toMatchObject({ kind: 'ArgoCD', spec: { resourceHealthChecks: checks } });
  });

  /** Argo CD's own test of a contribution: health_test.yaml names objects of testdata, and what is expected of them. */
  test('what is contributed to Argo CD has its tests, from the same table', () => {
    const living = TABLE.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
    const cases = living.map(({ name, object }) => ({
      file: `testdata/${name.replaceAll(/\W+/g, '-')}.yaml`,
      object,
      ...luaHealth(HEALTH_LUA, object),
    }));
    const folder = `examples/argocd/${CONTRIBUTION}`;
    for (const { file, object } of cases)
      expectFile(`${folder}/${file}`, stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }));
    const tests = cases.map(({ file, status, message }) => ({ healthStatus: { status, message }, inputPath: file }));
    expectFile(`${folder}/health_test.yaml`, stringify({ tests }, { lineWidth: 0 }));
    const left = readdirSync(join(PROJECT_ROOT, folder, 'testdata')).filter((name) => !cases.some(({ file }) => file.endsWith(`/${name}`)));
    expect(left).toEqual([]);
  });
});

describe('examples of Applications and Kustomizations', () => {
  const documents = (path: string): Record<string, unknown>[] =>
    parseAllDocuments(readFileSync(join(PROJECT_ROOT, path), 'utf8')).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS() as Record<string, unknown>;
    });

  test('Argo CD: the CRDs come first and are never pruned, and nothing is ignored', () => {
    const [crds, ...others] = documents('examples/argocd/applications.yaml');
    expect(crds).toMatchObject({
      metadata: { annotations: { 'argocd.argoproj.io/sync-wave': '-1' } },
      spec: { syncPolicy: { automated: { prune: false } } },
    });
    expect(crds).toMatchObject({
      spec: { syncPolicy: { syncOptions: expect.arrayContaining(['ServerSideApply=true', 'Prune=false']) as unknown } },
    });
    expect(others).toHaveLength(2);
    expect(JSON.stringify([crds, ...others])).not.toContain('ignoreDifferences');
  });

  test('Flux: CRDs, operator, then what uses them, with checks of the CloudLoadBalancers and the expressions of the code', () => {
    const all = documents('examples/flux/kustomizations.yaml').filter(({ kind }) => kind === 'Kustomization');
    expect(all.map((one) => (one.spec as { dependsOn?: { name: string }[] }).dependsOn?.map(({ name }) => name))).toEqual([
      undefined,
      ['cloud-operator-crds'],
      ['cloud-operator'],
    ]);
    expect(all[0]).toMatchObject({ spec: { prune: false } });
    expect(all[2]).toMatchObject({
      spec: {
        healthChecks: [{ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer' }],
        healthCheckExprs: healthCheckExprs(),
      },
    });
  });
});
