import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudRouteKind, KINDS } from '../../../crds';
import { toCRD } from '../../../crds/crd';
import { generatedFiles } from '../../../crds/generated-files';
import { objectSchema, toOpenAPI, type OpenAPISchema } from '../../../crds/openapi';
import { z } from 'zod';

const PROJECT_ROOT = join(__dirname, '..', '..', '..');

/** Every schema below one, with its path. */
function walk(schema: OpenAPISchema, path = ''): { path: string; schema: OpenAPISchema }[] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, at]) => walk(at, `${path}.${name}`));
  const items = schema.items === undefined ? [] : walk(schema.items, `${path}[]`);
  const values = schema.additionalProperties === undefined ? [] : walk(schema.additionalProperties, `${path}{}`);
  return [{ path, schema }, ...below, ...items, ...values];
}

const everySchema = KINDS.flatMap((kind) => walk(objectSchema(kind), kind.kind)).filter(
  ({ path }) => !/^\w+\.(apiVersion|kind|metadata)$/.test(path),
);

describe('generated files', () => {
  test.each([...generatedFiles()])('%s is fresh (else run `npm run generate`)', (path, text) => {
    const absolute = join(PROJECT_ROOT, path);
    expect(existsSync(absolute) ? readFileSync(absolute, 'utf8') : 'missing').toBe(text);
  });

  it('holds nothing else', () => {
    const known = [...generatedFiles().keys()].map((path) => path.split('/').at(-1));
    expect(readdirSync(join(PROJECT_ROOT, 'crds', 'generated')).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('is the same text every time', () => {
    expect([...generatedFiles()]).toEqual([...generatedFiles()]);
  });
});

describe('the schemas', () => {
  it('say only what a structural schema can say', () => {
    const known = new Set([
      'type', 'format', 'description', 'default', 'enum', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties',
      'required', 'properties', 'additionalProperties', 'items', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations',
    ]); // prettier-ignore
    const unknown = everySchema.flatMap(({ path, schema }) =>
      Object.keys(schema)
        .filter((key) => !known.has(key))
        .map((key) => `${path}: ${key}`),
    );
    expect(unknown).toEqual([]);
    expect(everySchema.filter(({ schema }) => schema.type === undefined).map(({ path }) => path)).toEqual([]);
  });

  it('limit every list and every text, so that rules have a known cost', () => {
    const lists = everySchema.filter(({ schema }) => schema.type === 'array' && schema.maxItems === undefined);
    const texts = everySchema.filter(
      ({ schema }) => schema.type === 'string' && schema.enum === undefined && schema.maxLength === undefined,
    );
    expect([...lists, ...texts].map(({ path }) => path)).toEqual([]);
  });

  it('describe every field of every spec, but for those whose name says it all', () => {
    const silent = everySchema.filter(
      ({ path, schema }) => /\.spec\./.test(path) && schema.description === undefined && !/[\]}]$/.test(path),
    );
    expect(silent.map(({ path }) => path)).toEqual([
      'CloudProvider.spec.local.tokenSecretRef.name',
      'CloudProvider.spec.local.tokenSecretRef.key',
      'CloudLoadBalancer.spec.placement.name',
      'CloudLoadBalancer.spec.placement.namespace',
      'CloudLoadBalancer.spec.healthCheck.protocol',
      'CloudLoadBalancer.spec.sessionAffinity.type',
    ]);
  });

  it('keep the rules of a type when a field adds its own', () => {
    const spec = objectSchema(CloudRouteKind).properties?.spec?.properties?.destinationCIDR;
    expect(spec?.['x-kubernetes-validations']?.map(({ rule }) => rule)).toEqual([
      'isCIDR(self)',
      '!isCIDR(self) || cidr(self) == cidr(self).masked()',
      'self == oldSelf',
    ]);
  });

  it('turn integer-or-string into the extension, and refuse other unions', () => {
    expect(toOpenAPI(z.union([z.int(), z.string()]))).toEqual({ 'x-kubernetes-int-or-string': true });
    expect(() => toOpenAPI(z.union([z.string(), z.boolean()]))).toThrow('a CRD cannot express this union');
  });
});

describe('the CRDs', () => {
  const crds = KINDS.map(toCRD);

  it('are listed by `kubectl get cloud`, and no short name is taken twice', () => {
    expect(crds.every(({ spec }) => spec.names.categories.includes('cloud'))).toBe(true);
    const shortNames = crds.flatMap(({ spec }) => spec.names.shortNames);
    expect(new Set(shortNames).size).toBe(shortNames.length);
  });

  it('count as in progress until somebody has looked at the object', () => {
    const statuses = crds.map(({ spec }) => spec.versions[0]?.schema.openAPIV3Schema.properties?.status?.default);
    const queued = expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'Queued' }) as object;
    const judged = KINDS.map(({ kind }) => kind !== 'CloudInstance');
    expect(statuses).toEqual(judged.map((is) => ({ observedGeneration: -1, ...(is && { conditions: [queued] }) })));
  });

  it('carry the revision that protects them from an older operator', () => {
    expect(crds.map(({ metadata }) => metadata.annotations['cloud-operator.dev/version'])).toEqual(KINDS.map(() => '3'));
  });
});
