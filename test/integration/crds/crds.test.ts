import { CloudLoadBalancerKind, CloudRouteKind, KINDS, GROUP, VERSION, validateSpec, type KindDefinition } from '../../../crds';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toCRD } from '../../../crds/crd';
import { expectGolden } from '../../golden/golden';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { docObjects, spoilt } from '../../harness/doc-objects';
import { waitFor } from '../../harness/wait-for';
import { ADDRESSES, BAD, CIDRS, FULL, SMALLEST, SMALLEST_OF_CLOUDS } from '../../unit/crds/spec-cases';
import { pathOf, RawApi, type Answer } from './raw-api';

let cluster: TestCluster;
let api: RawApi;

beforeAll(async () => {
  cluster = await startTestCluster({ controllerManager: false });
  api = new RawApi(cluster);
  for (const kind of KINDS) {
    const crd = toCRD(kind);
    expect(await api.apply(pathOf(crd), crd, 'test')).toMatchObject({ status: 201 });
  }
  for (const kind of KINDS) {
    await waitFor(async () => (await api.get(collection(kind))).status === 200, { timeoutMs: 20_000, what: `${kind.plural} to be served` });
  }
}, CLUSTER_START_MS);

afterAll(async () => {
  api?.close();
  await cluster?.stop();
});

function collection(kind: KindDefinition): string {
  const namespace = kind.scope === 'Namespaced' ? '/namespaces/default' : '';
  return `/apis/${GROUP}/${VERSION}${namespace}/${kind.plural}`;
}

function objectOf(kind: KindDefinition, name: string, spec: unknown): object {
  return { apiVersion: `${GROUP}/${VERSION}`, kind: kind.kind, metadata: { name }, spec };
}

/** Asks what the API server would do. */
function dryRun(kind: KindDefinition, spec: unknown): Promise<Answer> {
  return api.create(`${collection(kind)}?dryRun=All`, objectOf(kind, 'tried', spec));
}

interface StoredObject {
  kind: string;
  metadata: { name: string; annotations?: object };
  spec: object;
  status: object;
}

/** Objects as earlier versions wrote them: kept for ever. A change of the kinds that they would not survive needs a new API version. */
const OBJECTS = join(__dirname, '../../fixtures/objects');
const earlier = readdirSync(OBJECTS).flatMap((version) =>
  readdirSync(join(OBJECTS, version)).flatMap((file) => {
    const objects = JSON.parse(readFileSync(join(OBJECTS, version, file), 'utf8')) as StoredObject[];
    return objects.map((object) => ({ version, what: `${object.kind} ${object.metadata.name}`, object }));
  }),
);

describe('objects of earlier versions', () => {
  test('of every kind are kept', () => {
    expect([...new Set(earlier.map(({ object }) => object.kind))].sort()).toEqual(KINDS.map(({ kind }) => kind).sort());
  });

  test.each(earlier)('$what of $version is accepted and loses nothing', async ({ object }) => {
    const kind = KINDS.find((one) => one.kind === object.kind) as KindDefinition;
    const { name, annotations } = object.metadata;
    const created = await api.create(collection(kind), { ...objectOf(kind, name, object.spec), metadata: { name, annotations } });
    expect(created).toMatchObject({ status: 201 });
    // A newer version may add defaults.
    expect(created.body.spec).toMatchObject(object.spec);
    expect(validateSpec(kind, object.spec)).toEqual(validateSpec(kind, created.body.spec));
    const path = `${collection(kind)}/${name}`;
    const status = { ...objectOf(kind, name, object.spec), metadata: { name }, status: object.status };
    expect(await api.apply(`${path}/status`, status, 'test')).toMatchObject({ status: 200 });
    expect((await api.get(path)).body.status).toEqual(object.status);
    await api.remove(path);
  });
});

describe('the CRDs on a real API server', () => {
  test.each(KINDS)('$kind is established, and its schema is structural', async (kind) => {
    const { body } = await api.get(pathOf(toCRD(kind)));
    const { conditions } = body.status;
    expect(conditions.filter(({ status }) => status === 'True').map(({ type }) => type)).toEqual(['NamesAccepted', 'Established']);
    expect(conditions.find(({ type }) => type === 'NonStructuralSchema')).toBeUndefined();
  });

  test.each(KINDS)('$kind stays as it is when it is applied again', async (kind) => {
    const crd = toCRD(kind);
    const before = await api.get(pathOf(crd));
    const after = await api.apply(pathOf(crd), crd, 'test');
    expect(after.body.metadata.resourceVersion).toBe(before.body.metadata.resourceVersion);
    // nothing was filled in or dropped: what GitOps tools compare is equal
    expect(after.body.spec).toEqual(crd.spec);
  });

  test.each(BAD)('refuses $title, and names the field', async ({ kind, spec, field, message }) => {
    const { status, body } = await dryRun(kind, spec);
    expect(status).toBe(422);
    const cause = body.details.causes.find((at) => at.field === field || at.field.startsWith(field));
    expect(cause).toBeDefined();
    if (message !== undefined) expect(cause?.message).toContain(message);
  });

  /** As kubectl asks: a field that nobody knows is refused. */
  const strictly = (kind: KindDefinition, spec: unknown): Promise<Answer> =>
    api.create(`${collection(kind)}?dryRun=All&fieldValidation=Strict`, objectOf(kind, 'shown', spec));

  const examples = KINDS.flatMap((kind) => docObjects(kind.kind).map(({ page, object: { spec } }) => ({ page, kind, spec })));

  test('the docs have examples', () => expect(examples.length).toBeGreaterThan(4));

  test.each(examples)('accepts the $kind.kind of $page, and refuses each of its fields when it is spoilt', async ({ kind, spec }) => {
    expect(await strictly(kind, spec)).toMatchObject({ status: 201 });
    for (const { field, value } of spoilt(spec, 'spec')) {
      const { status, body } = await strictly(kind, value);
      expect({ field, status, message: body.message }).toEqual({
        ...{ field, status: status === 400 ? 400 : 422 },
        message: expect.stringContaining(field) as string,
      });
    }
  });

  test.each([...SMALLEST, ...SMALLEST_OF_CLOUDS])(
    'accepts the smallest $kind.kind with the defaults that validateSpec gives',
    async ({ kind, spec }) => {
      const { status, body } = await dryRun(kind, spec);
      expect(status).toBe(201);
      expect(validateSpec(kind, spec)).toEqual({ ok: true, value: body.spec });
      const queued = { type: 'Ready', status: 'Unknown', reason: 'Queued' };
      const judged = kind.columns.some(({ name }) => name === 'Ready') ? { conditions: [expect.objectContaining(queued) as object] } : {};
      expect(body.status).toEqual({ observedGeneration: -1, ...judged });
    },
  );

  test.each(FULL)('accepts a full $kind.kind as it is', async ({ kind, spec }) => {
    const { status, body } = await dryRun(kind, spec);
    expect(status).toBe(201);
    expect(body.spec).toEqual(spec);
  });

  it('agrees with validateSpec on what an address is', async () => {
    const verdicts = await Promise.all(ADDRESSES.map((address) => bothVerdicts(CloudLoadBalancerKind, { addresses: [address] })));
    expect(verdicts.map(({ server }) => server)).toEqual(verdicts.map(({ code }) => code));
    expect(verdicts.filter(({ server }) => server).length).toBeGreaterThan(5);
  });

  it('agrees with validateSpec on what a CIDR is, and which one fits a route table', async () => {
    const ranges = await Promise.all(CIDRS.map((cidr) => bothVerdicts(CloudLoadBalancerKind, { sourceRanges: [cidr] })));
    const routes = await Promise.all(CIDRS.map((cidr) => bothVerdicts(CloudRouteKind, { destinationCIDR: cidr })));
    for (const verdicts of [ranges, routes]) expect(verdicts.map(({ server }) => server)).toEqual(verdicts.map(({ code }) => code));
    expect(ranges.filter(({ server }) => server).length).toBeGreaterThan(routes.filter(({ server }) => server).length);
  });

  async function bothVerdicts(kind: KindDefinition, change: object): Promise<{ change: object; server: boolean; code: boolean }> {
    const spec = { ...SMALLEST.find((at) => at.kind === kind)?.spec, ...change };
    const { status } = await dryRun(kind, spec);
    expect([201, 422]).toContain(status);
    return { change, server: status === 201, code: validateSpec(kind, spec).ok };
  }
});

describe('an object that is there', () => {
  beforeAll(async () => {
    for (const { kind, spec } of SMALLEST) {
      expect(await api.create(collection(kind), objectOf(kind, 'one', spec))).toMatchObject({ status: 201 });
    }
  });

  test.each([
    ['cloudroutes', { provider: 'other' }, 'spec.provider', 'the provider is chosen once'],
    ['cloudroutes', { destinationCIDR: '10.244.2.0/24' }, 'spec.destinationCIDR', 'the destination cannot be changed'],
    ['cloudproviders', { local: null, custom: { kind: 'example' } }, 'spec', 'the kind of cloud cannot be changed'],
  ])('%s: %j is refused', async (plural, spec, field, message) => {
    const kind = kindOf(plural);
    const { status, body } = await api.merge(`${collection(kind)}/one`, { spec });
    expect(status).toBe(422);
    expect(body.details.causes).toContainEqual({ reason: 'FieldValueInvalid', field, message: expect.stringContaining(message) as string });
  });

  test.each([
    [
      'cloudloadbalancers',
      { provider: 'other', placement: { name: 'front' }, scheme: 'Internal', listeners: [{ name: 'other', port: 8080 }] },
    ],
    ['cloudroutes', { nodeName: 'node-2' }],
    ['cloudproviders', { freeze: true }],
  ])('%s: %j is accepted and is a new generation', async (plural, spec) => {
    const { status, body } = await api.merge(`${collection(kindOf(plural))}/one`, { spec });
    expect(status).toBe(200);
    expect(body.metadata.generation).toBe(2);
    expect(body.status.observedGeneration).toBe(-1);
  });

  test.each(KINDS)('$kind: status is written beside the spec, and only there', async (kind) => {
    const path = `${collection(kind)}/one`;
    const generation = (await api.get(path)).body.metadata.generation;
    const written = await api.merge(`${path}/status`, { status: { observedGeneration: generation, lastHandledReconcile: 'x' } });
    expect(written).toMatchObject({ status: 200, body: { metadata: { generation }, status: { lastHandledReconcile: 'x' } } });
    const ignored = await api.merge(path, { status: { lastHandledReconcile: 'y' } });
    expect(ignored.body.status).toMatchObject({ observedGeneration: generation, lastHandledReconcile: 'x' });
  });

  it('refuses a condition that kstatus could not read', async () => {
    const condition = { type: 'Ready', status: 'true', reason: 'not one word', lastTransitionTime: 'now' };
    const { status, body } = await api.merge(`${collection(CloudRouteKind)}/one/status`, { status: { conditions: [condition] } });
    expect(status).toBe(422);
    const fields = body.details.causes.map(({ field }) => field);
    // the entry without a field says that rules were not run on a value that is malformed
    expect(fields.filter((field) => field !== '<nil>').sort()).toEqual([
      'status.conditions[0].lastTransitionTime',
      'status.conditions[0].message',
      'status.conditions[0].reason',
      'status.conditions[0].status',
    ]);
  });

  function kindOf(plural: string): KindDefinition {
    const kind = KINDS.find((at) => at.plural === plural);
    if (kind === undefined) throw new Error(`no kind ${plural}`);
    return kind;
  }
});

describe('kubectl', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Serving', message: 'all is well', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const statuses: Record<string, object> = {
    CloudProvider: { kind: 'local', nodes: 3, loadBalancers: 1, conditions: [ready] },
    CloudLoadBalancer: { address: '203.0.113.10', ports: '80/TCP,443/TCP', targets: 3, stack: 'local.default.shown', conditions: [ready] },
    CloudRoute: { conditions: [ready] },
    CloudStack: { resourceCount: 4, lastAttempt: 'Update Succeeded +4 ~0 -0 in 1.2s', conditions: [ready] },
    CloudInstance: { id: 'i-1', state: 'Running', type: 'small', zone: 'a', addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
  };

  beforeAll(async () => {
    for (const { kind, spec } of SMALLEST) {
      await api.remove(`${collection(kind)}/one`);
      await api.create(collection(kind), objectOf(kind, 'shown', spec));
      expect(await api.merge(`${collection(kind)}/shown/status`, { status: statuses[kind.kind] })).toMatchObject({ status: 200 });
    }
  });

  /** The age is the one thing that differs from run to run. */
  function withoutAge(table: string): string {
    return table.replace(/ +(AGE|[0-9]+m?[0-9]*s)$/gm, '');
  }

  it('lists all kinds by their category', async () => {
    expectGolden('kubectl/get-cloud.txt', withoutAge(await cluster.kubectl(['get', 'cloud', '--all-namespaces'])));
  });

  test.each(KINDS.map((kind) => [kind.shortNames[0] ?? '', kind] as const))(
    'shows columns by the short name %s',
    async (shortName, kind) => {
      const narrow = await cluster.kubectl(['get', shortName]);
      const wide = await cluster.kubectl(['get', shortName, '-o', 'wide']);
      expectGolden(`kubectl/${kind.plural}.txt`, withoutAge(`${narrow}\n${wide}`));
    },
  );

  it('shows of an object that nobody has looked at that it is queued', async () => {
    await api.create(
      collection(CloudRouteKind),
      objectOf(CloudRouteKind, 'queued', SMALLEST.find(({ kind }) => kind === CloudRouteKind)?.spec),
    );
    expect(await cluster.kubectl(['get', 'cloudroute', 'queued', '--no-headers'])).toMatch(/ Unknown +Queued /);
  });

  it('explains fields', async () => {
    expect(await cluster.kubectl(['explain', 'clb.spec.trafficPolicy'])).toContain(
      'only Nodes with an endpoint of the Service get traffic',
    );
  });
});
