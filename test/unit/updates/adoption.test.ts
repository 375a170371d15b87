import type { JsonObject } from '../../../operator/base/json';
import { adoptFindings, dropPending } from '../../../operator/updates/adoption';
import {
  type CheckpointResource,
  type Deployment,
  isEmpty,
  isSameCheckpoint,
  outputsOf,
  toServed,
  toStored,
} from '../../../operator/updates/checkpoint';
import { driftOf, match } from '../../../operator/updates/drift';
import type { DiscoveredResource } from '../../../providers/provider';
import { propertyChanges } from '../../../providers/resource-provider/diff';

const stack = { project: 'p', name: 's' };
const ROOT = 'urn:pulumi:s::p::pulumi:pulumi:Stack::p-s';
const PROVIDER = 'urn:pulumi:s::p::pulumi:providers:x::default_1_0_0';

function urn(name: string): string {
  return `urn:pulumi:s::p::x:index:Thing::${name}`;
}

function stored(name: string, inputs: JsonObject, more: Partial<CheckpointResource> = {}): CheckpointResource {
  return {
    urn: urn(name),
    type: 'x:index:Thing',
    custom: true,
    id: `id-${name}`,
    inputs,
    outputs: inputs,
    parent: ROOT,
    provider: `${PROVIDER}::uuid`,
    ...more,
  };
}

function found(name: string, inputs: JsonObject, id = `id-${name}`): DiscoveredResource {
  return { type: 'x:index:Thing', name, id, inputs, outputs: { ...inputs, address: '10.0.0.1' } };
}

function deployment(resources: CheckpointResource[], pending: CheckpointResource[] = []): Deployment {
  const root = { urn: ROOT, type: 'pulumi:pulumi:Stack', custom: false, outputs: {} };
  const provider = { urn: PROVIDER, type: 'pulumi:providers:x', custom: true, id: 'uuid' };
  return {
    version: 3,
    deployment: {
      manifest: { time: '2026-01-01T00:00:00Z', magic: 'm', version: 'v' },
      resources: [root, provider, ...resources],
      ...(pending.length === 0 ? {} : { pending_operations: pending.map((resource) => ({ type: 'creating', resource })) }),
    },
  };
}

function resources(adopted: Deployment): CheckpointResource[] {
  return adopted.deployment?.resources ?? [];
}

function drift(known: CheckpointResource[], seen: DiscoveredResource[]) {
  return driftOf(match(resources(deployment(known)), seen, stack));
}

describe('driftOf', () => {
  test('nothing differs: no drift, whatever the cloud adds', () => {
    const wanted = { port: 80, check: { path: '/' }, list: [{ a: 1 }] };
    expect(
      drift([stored('a', wanted)], [found('a', { ...wanted, check: { path: '/', interval: 5 }, list: [{ a: 1, b: 2 }], extra: true })]),
    ).toEqual([]);
  });

  test('names each property by its path, with both values', () => {
    const seen = found('a', { listeners: [{ port: 80 }, { port: 444 }], name: 'n' });
    expect(drift([stored('a', { listeners: [{ port: 80 }, { port: 443 }], name: 'n' })], [seen])).toEqual([
      { urn: urn('a'), kind: 'Changed', property: 'listeners[1].port', old: '443', new: '444', detail: 'wanted 443, found 444' },
    ]);
  });

  test('a property that the cloud lost, and items that somebody added', () => {
    const seen = found('a', { ranges: ['10.0.0.0/8', '0.0.0.0/0'] });
    expect(drift([stored('a', { ranges: ['10.0.0.0/8'], note: 'x' })], [seen]).map(({ property }) => property)).toEqual([
      'note',
      'ranges[1]',
    ]);
  });

  test('what an official plugin has filled in, at any depth, is not compared', () => {
    const inputs = { name: 'a', wait: 0, check: { port: 80, path: '/', __defaults: ['path'] }, __defaults: ['wait'] };
    expect(drift([stored('a', inputs)], [found('a', { name: 'a', check: { port: 80 } })])).toEqual([]);
    const [changed] = drift([stored('a', inputs)], [found('a', { name: 'a', check: { port: 81, path: '/x' } })]);
    expect(changed).toMatchObject({ property: 'check.port', old: '80', new: '81' });
    const versioned = { ...found('a', { name: 'a' }), filledIn: ['apiVersion'] };
    expect(drift([stored('a', { name: 'a', apiVersion: '2024-05-01' })], [versioned])).toEqual([]);
  });

  test('a secret is not compared', () => {
    const secret = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270', ciphertext: 'AAAA' };
    expect(drift([stored('a', { password: secret })], [found('a', { password: 'other' })])).toEqual([]);
  });

  test('what the cloud itself calls broken, until it does not any more', () => {
    const broken = { ...found('a', { size: 1 }), failure: 'no way' };
    expect(drift([stored('a', { size: 1 })], [broken])).toEqual([{ urn: urn('a'), kind: 'Changed', detail: 'it does not work: no way' }]);
    const adopted = resources(adoptFindings(deployment([stored('a', { size: 1 })]), [broken], stack));
    expect(drift(adopted, [found('a', { size: 1 })])).toEqual([]);
  });

  test('what bears no mark counts for what the state has, as that has it, and is no find otherwise', () => {
    const unmarked = (name: string): DiscoveredResource => ({ ...found(name, {}), unmarked: true });
    expect(drift([stored('a', { size: 1 })], [unmarked('a'), unmarked('b')])).toEqual([]);
    const adopted = adoptFindings(deployment([stored('a', { size: 1 })]), [unmarked('a'), unmarked('b')], stack);
    expect(resources(adopted).map(({ urn: at, inputs }) => [at, inputs])).toContainEqual([urn('a'), { size: 1 }]);
    expect(resources(adopted).map(({ urn: at }) => at)).not.toContain(urn('b'));
    const broken = { ...unmarked('a'), failure: 'no way' };
    expect(drift([stored('a', { size: 1 })], [broken])).toEqual([{ urn: urn('a'), kind: 'Changed', detail: 'it does not work: no way' }]);
  });

  test('of lists in which others have items too, those that the state has are compared', () => {
    const mine = {
      routes: [
        { name: 'a', to: '1' },
        { name: 'b', to: '2' },
      ],
    };
    const table = (routes: JsonObject[]): DiscoveredResource => ({
      ...found('t', { routes }),
      unmarked: true,
      sharedLists: { routes: 'name' },
    });
    const theirs = { name: 'theirs', to: '9' };
    const is = (...routes: JsonObject[]): ReturnType<typeof drift> => drift([stored('t', mine)], [table(routes)]);
    expect(is({ name: 'b', to: '2', more: 1 }, theirs, { name: 'a', to: '1' })).toEqual([]);
    expect(is(theirs, { name: 'a', to: '1' })).toMatchObject([{ kind: 'Changed' }]);
    expect(is({ name: 'a', to: '1' }, { name: 'b', to: '3' })).toMatchObject([{ kind: 'Changed', new: '"3"' }]);
    const adopted = adoptFindings(deployment([stored('t', mine)]), [table([theirs, { name: 'a', to: '1' }])], stack);
    expect(resources(adopted).find(({ urn: one }) => one === urn('t'))?.inputs).toEqual({ routes: [{ name: 'a', to: '1' }] });
  });

  test('of a list whose items have lists that others share as well, what the state has in each is compared', () => {
    const mine = { rules: [{ name: 'a', port: 80, to: ['1', '2'] }] };
    const group = (rules: JsonObject[]): DiscoveredResource => ({
      ...found('g', { rules }),
      unmarked: true,
      sharedLists: { rules: { key: 'name', lists: ['to'] } },
    });
    const is = (...rules: JsonObject[]): ReturnType<typeof drift> => drift([stored('g', mine)], [group(rules)]);
    expect(is({ name: 'theirs', to: ['1'] }, { name: 'a', port: 80, to: ['9', '2', '1'] })).toEqual([]);
    expect(is({ name: 'a', port: 80, to: ['1', '9'] })).toMatchObject([{ kind: 'Changed' }]);
    expect(is({ name: 'a', port: 81, to: ['1', '2'] })).toMatchObject([{ kind: 'Changed', new: '81' }]);
    expect(is({ name: 'a', port: 80, to: ['9'] })).toMatchObject([{ kind: 'Changed' }]);
    const adopted = adoptFindings(deployment([stored('g', mine)]), [group([{ name: 'a', port: 80, to: ['9'] }])], stack);
    expect(resources(adopted).find(({ urn: one }) => one === urn('g'))?.inputs).toEqual({ rules: [] });
  });

  test('the same of one with marks; what an operation in flight was to make of it is the stack’s too', () => {
    const [a, b, theirs] = [{ name: 'a' }, { name: 'b' }, { name: 'theirs' }];
    const seen: DiscoveredResource = { ...found('t', { rules: [theirs, b, a] }), sharedLists: { rules: 'name' } };
    expect(drift([stored('t', { rules: [a] })], [seen])).toEqual([]);
    const begun = deployment([stored('t', { rules: [a] })], [stored('t', { rules: [a, b] })]);
    const adopted = resources(adoptFindings(begun, [seen], stack)).find(({ urn: one }) => one === urn('t'));
    expect(adopted?.inputs).toEqual({ rules: [a, b] });
  });

  test('ids in another letter case are the same where the cloud says so, and stay as the state has them', () => {
    const caselessIDs = { prefix: '/groups/', properties: ['group'] };
    const id = '/groups/g/nets/n';
    const mine = { group: 'g', label: 'a', rules: [{ name: 'a', net: { id } }] };
    const other = { group: 'G', label: 'a', rules: [{ name: 'theirs' }, { name: 'a', net: { id: '/Groups/G/nets/n' } }] };
    const net = stored('n', mine, { id });
    const seen = (inputs: JsonObject): DiscoveredResource => ({
      ...found('n', inputs, id.toUpperCase()),
      sharedLists: { rules: 'name' },
      caselessIDs,
    });
    expect(drift([net], [seen(other)])).toEqual([]);
    expect(drift([net], [seen({ ...other, label: 'A' })])).toMatchObject([{ kind: 'Changed', property: 'label' }]);
    const adopted = resources(adoptFindings(deployment([net]), [seen(other)], stack)).find(({ urn: one }) => one === net.urn);
    expect(adopted).toMatchObject({ id, inputs: mine });
  });

  test('missing and unknown ones', () => {
    expect(drift([stored('a', {})], [found('b', {})]).map(({ kind, urn: at }) => [kind, at])).toEqual([
      ['Missing', urn('a')],
      ['Unknown', urn('b')],
    ]);
  });

  test('the old one of a replacement that is still to be deleted is no drift', () => {
    expect(
      drift(
        [stored('a', { v: 1 }), stored('a', { v: 0 }, { id: 'old', delete: true })],
        [found('a', { v: 1 }), found('a', { v: 7 }, 'old')],
      ),
    ).toEqual([]);
  });
});

describe('adoptFindings', () => {
  test('changed: actual inputs and outputs, the rest stays', () => {
    const adopted = adoptFindings(deployment([stored('a', { port: 80, name: 'n' })]), [found('a', { port: 81, name: 'n' })], stack);
    const [, , a] = resources(adopted);
    expect(a?.inputs).toEqual({ port: 81, name: 'n' });
    expect(a?.outputs).toEqual({ port: 81, name: 'n' });
  });

  test('broken, known or not: the engine sees a difference from what the program sets', () => {
    const seen = ['a', 'b'].map((name) => ({ ...found(name, { size: 1 }), failure: 'no way' }));
    const adopted = resources(adoptFindings(deployment([stored('a', { size: 1 })]), seen, stack)).filter(
      ({ type }) => type === 'x:index:Thing',
    );
    expect(adopted.map(({ inputs }) => propertyChanges(inputs ?? {}, { size: 1 }).map(({ kind }) => kind))).toEqual([
      ['Delete'],
      ['Delete'],
    ]);
  });

  test('gone: dropped; a dependent that exists stays without the edge, one that is gone too is dropped', () => {
    const known = [
      stored('a', {}),
      stored('b', { on: 'id-a' }, { dependencies: [urn('a')], propertyDependencies: { on: [urn('a')] } }),
      stored('c', {}, { dependencies: [urn('a')] }),
    ];
    const adopted = resources(adoptFindings(deployment(known), [found('b', { on: 'id-a' })], stack));
    expect(adopted.map((resource) => resource.urn)).toEqual([ROOT, PROVIDER, urn('b')]);
    expect(adopted[2]).toMatchObject({ dependencies: [], propertyDependencies: { on: [] } });
  });

  test('unknown: inserted under the stack with the provider of its kind, after what it refers to', () => {
    const pending = [stored('b', { on: 'id-a' }), stored('a', {})];
    const adopted = adoptFindings(deployment([], pending), [found('b', { on: 'id-a' }), found('a', {})], stack);
    expect(adopted.deployment?.pending_operations).toBeUndefined();
    expect(resources(adopted).map((resource) => resource.urn)).toEqual([ROOT, PROVIDER, urn('a'), urn('b')]);
    expect(resources(adopted)[3]).toMatchObject({
      parent: ROOT,
      provider: `${PROVIDER}::uuid`,
      dependencies: [urn('a')],
      id: 'id-b',
      custom: true,
    });
  });

  test('what goes with another one is inserted so, but for a twin’s', () => {
    const part = { ...found('part', { of: 'id-whole' }), deletedWith: 'id-whole' };
    const after = resources(adoptFindings(deployment([stored('whole', {})]), [found('whole', {}), part], stack));
    expect(after.find(({ id }) => id === 'id-part')).toMatchObject({ deletedWith: urn('whole'), dependencies: [urn('whole')] });
    const twin = resources(adoptFindings(deployment([stored('whole', {})]), [found('whole', {}), found('whole', {}, 'twin'), part], stack));
    expect(twin.find(({ id }) => id === 'id-part')?.deletedWith).toBeUndefined();
  });

  test('a twin of a known one is inserted as to be deleted', () => {
    const adopted = resources(adoptFindings(deployment([stored('a', {})]), [found('a', {}), found('a', {}, 'twin')], stack));
    expect(adopted.slice(2).map((resource) => [resource.id, resource.delete])).toEqual([
      ['id-a', undefined],
      ['twin', true],
    ]);
  });

  test('made anew under the same name: the new one takes the place of the old', () => {
    const adopted = resources(adoptFindings(deployment([stored('a', {})]), [found('a', {}, 'new')], stack));
    expect(adopted.slice(2).map((resource) => [resource.urn, resource.id, resource.delete])).toEqual([[urn('a'), 'new', undefined]]);
  });

  test('without any checkpoint: root and provider are made up', () => {
    const adopted = resources(adoptFindings(null, [found('a', {})], stack));
    expect(adopted.map((resource) => resource.type)).toEqual(['pulumi:pulumi:Stack', 'pulumi:providers:x', 'x:index:Thing']);
    expect(adopted[2]?.provider).toBe(`urn:pulumi:s::p::pulumi:providers:x::default::${adopted[1]?.id}`);
  });

  test('does not change what it is given', () => {
    const before = deployment([stored('a', { port: 80 }, { dependencies: [] })], [stored('b', {})]);
    const copy = JSON.stringify(before);
    adoptFindings(before, [found('a', { port: 81 }), found('c', {})], stack);
    expect(JSON.stringify(before)).toBe(copy);
  });
});

describe('checkpoints', () => {
  test('pending operations are dropped, and only they', () => {
    expect(dropPending(deployment([stored('a', {})], [stored('b', {})]))).toEqual(deployment([stored('a', {})]));
    expect(dropPending(null)).toBeNull();
  });

  test('equal but for the time', () => {
    const a = deployment([stored('a', {})]);
    const b = {
      ...a,
      deployment: a.deployment === null ? null : { ...a.deployment, manifest: { ...a.deployment.manifest, time: 'later' } },
    };
    expect(isSameCheckpoint(a, b)).toBe(true);
    expect(isSameCheckpoint(a, deployment([stored('a', { x: 1 })]))).toBe(false);
    expect(isSameCheckpoint(a, deployment([stored('a', {})], [stored('b', {})]))).toBe(false);
    expect(isSameCheckpoint(null, a)).toBe(false);
  });

  test('stored without places in sources and addresses, served with this address', () => {
    const raw = deployment([stored('a', {}, { sourcePosition: 'project:///x.ts#1', stackTrace: [{}] })]);
    if (raw.deployment !== null) raw.deployment.secrets_providers = { type: 'service', state: { url: 'http://127.0.0.1:1', project: 'p' } };
    const kept = toStored(raw);
    expect(JSON.stringify(kept)).not.toMatch(/sourcePosition|stackTrace|127\.0\.0\.1/);
    expect(toServed(kept, 'http://127.0.0.1:2').deployment?.secrets_providers?.state).toEqual({ url: 'http://127.0.0.1:2', project: 'p' });
  });

  test('empty is what has no cloud resource and nothing in flight', () => {
    expect(isEmpty(null)).toBe(true);
    expect(isEmpty(deployment([]))).toBe(true);
    expect(isEmpty(deployment([stored('a', {})]))).toBe(false);
    expect(isEmpty(deployment([], [stored('a', {})]))).toBe(false);
  });

  test('secret outputs are masked', () => {
    const made = deployment([]);
    const root = made.deployment?.resources?.[0];
    if (root !== undefined)
      root.outputs = { a: 1, b: { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270', ciphertext: 'x' } };
    expect(outputsOf(made)).toEqual({ a: 1, b: '[secret]' });
  });
});
