import { silentLogger } from '../../../operator/base/log';
import type { StoreChange } from '../../../operator/kube/api';
import type { KubeObject } from '../../../operator/kube/object';
import { MemoryStore } from '../../../operator/kube/store';

function object(name: string, version: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, namespace: 'demo', uid: `uid-${name}`, resourceVersion: version, creationTimestamp: '', labels },
  };
}

const byColour = { colour: (thing: KubeObject) => (thing.metadata.labels?.colour ?? '').split('-').filter((part) => part !== '') };

function setUp() {
  const store = new MemoryStore<KubeObject>(byColour, silentLogger);
  const changes: string[] = [];
  const tell = ({ key, previous, current }: StoreChange<KubeObject>) =>
    changes.push(`${key} ${previous?.metadata.resourceVersion ?? '-'}>${current?.metadata.resourceVersion ?? '-'}`);
  return { store, changes, unsubscribe: store.onChange(tell) };
}

describe('MemoryStore', () => {
  it('finds what was added, changed and deleted while nobody watched', () => {
    const { store, changes } = setUp();
    store.replace([object('a', '1'), object('b', '2')]);
    store.replace([object('b', '5'), object('c', '6')]);
    expect(changes).toEqual(['demo/a ->1', 'demo/b ->2', 'demo/b 2>5', 'demo/c ->6', 'demo/a 1>-']);
    expect(store.list().map((thing) => thing.metadata.name)).toEqual(['b', 'c']);
  });

  it('does not tell of an unchanged version, but of a new object under an old name', () => {
    const { store, changes } = setUp();
    store.set(object('a', '1'));
    store.set(object('a', '1'));
    const reborn = object('a', '1');
    reborn.metadata.uid = 'other';
    store.set(reborn);
    expect(changes).toEqual(['demo/a ->1', 'demo/a 1>1']);
    expect(store.get('demo/a')?.metadata.uid).toBe('other');
  });

  it('keeps its indexes', () => {
    const { store } = setUp();
    store.set(object('a', '1', { colour: 'red-blue' }));
    store.set(object('b', '2', { colour: 'red' }));
    const names = (value: string) => store.byIndex('colour', value).map((thing) => thing.metadata.name);
    expect([names('red'), names('blue'), names('green')]).toEqual([['a', 'b'], ['a'], []]);
    store.set(object('a', '3', { colour: 'green' }));
    expect([names('red'), names('blue'), names('green')]).toEqual([['b'], [], ['a']]);
    store.delete('demo/b');
    expect(names('red')).toEqual([]);
    expect(() => store.byIndex('size', 'big')).toThrow('no index "size"');
  });

  it('isolates listeners from each other and from itself', () => {
    const { store, changes, unsubscribe } = setUp();
    const second: string[] = [];
    store.onChange(() => {
      throw new Error('a bad listener');
    });
    store.onChange(({ key }) => second.push(key));
    store.set(object('a', '1'));
    expect(changes).toHaveLength(1);
    expect(second).toEqual(['demo/a']);
    unsubscribe();
    store.set(object('a', '2'));
    expect(changes).toHaveLength(1);
    expect(second).toHaveLength(2);
  });

  it('freezes its objects all the way down', () => {
    const { store } = setUp();
    store.set(object('a', '1', { colour: 'red' }));
    const stored = store.get('demo/a') as { metadata: { labels: Record<string, string> } };
    expect(() => (stored.metadata.labels.colour = 'blue')).toThrow(TypeError);
  });

  it('is synced after the first list, when all listeners have been told', async () => {
    const { store, changes } = setUp();
    let told = -1;
    const waiting = store.whenSynced().then(() => (told = changes.length));
    expect(store.synced).toBe(false);
    store.replace([object('a', '1')]);
    await waiting;
    expect(store.synced).toBe(true);
    expect(told).toBe(1);
    await store.whenSynced();
  });

  it('stops waiting for the sync when told to', async () => {
    const { store } = setUp();
    const stop = new AbortController();
    const waiting = store.whenSynced(stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(store.whenSynced(stop.signal)).rejects.toThrow('enough');
  });
});
