import Operator from '@dot-i/k8s-operator';
import * as clientNode from '@kubernetes/client-node';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { silentLogger } from '../../../operator/base/log';
import { KindController } from '../../../operator/kube/controller';
import { KubeClient } from '../../../operator/kube/client';
import { KubeConfig } from '../../../operator/kube/kube-config';
import { NODES, type KubeObject } from '../../../operator/kube/object';
import { KeyedQueue } from '../../../operator/kube/queue';
import { MemoryStore } from '../../../operator/kube/store';
import { waitFor } from '../../harness/wait-for';

function object(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name, resourceVersion, creationTimestamp: '' } };
}

class Recorder extends KindController<KubeObject> {
  readonly keys: string[] = [];
  readonly seenEvents: string[] = [];

  protected override reconcile(key: string): Promise<void> {
    this.keys.push(key);
    return Promise.resolve();
  }

  watch() {
    return this.watchResource('', 'v1', 'nodes', ({ type, meta, object: copy }) => {
      this.seenEvents.push(`${type} ${meta.name} ${meta.resourceVersion} ${Object.isFrozen(copy)}`);
      return Promise.resolve();
    });
  }
}

function create() {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'c', server: 'http://127.0.0.1:1', skipTLSVerify: true }, { name: 'u' });
  const store = new MemoryStore<KubeObject>({}, silentLogger);
  const queue = new KeyedQueue({ name: 'nodes', logger: silentLogger });
  const api = new KubeClient(kubeConfig);
  const controller = new Recorder({
    kubeConfig,
    api,
    logger: silentLogger,
    resource: NODES,
    store,
    queue,
    workers: 1,
    fieldManager: 'test',
  });
  return { controller, store, queue };
}

const until = (condition: () => boolean) => waitFor(condition, { what: 'the events', timeoutMs: 5000, pollMs: 5 });

describe('KindController', () => {
  it('shares one copy of the Kubernetes client with its base class', () => {
    const base = dirname(require.resolve('@dot-i/k8s-operator/package.json'));
    expect(existsSync(join(base, 'node_modules', '@kubernetes', 'client-node'))).toBe(false);
    expect(require.resolve('@kubernetes/client-node', { paths: [base] })).toBe(require.resolve('@kubernetes/client-node'));
    expect(KubeConfig).toBe(clientNode.KubeConfig);
  });

  it('is an Operator, made without the machine’s own kubeconfig', () => {
    const before = process.env.KUBECONFIG;
    process.env.KUBECONFIG = '/no/such/file';
    try {
      expect(create().controller).toBeInstanceOf(Operator);
    } finally {
      if (before === undefined) delete process.env.KUBECONFIG;
      else process.env.KUBECONFIG = before;
    }
  });

  it('gives Added, Modified and Deleted with copies that may be changed', async () => {
    const { controller, store, queue } = create();
    store.replace([object('a', '1')]);
    await controller.watch();
    await until(() => controller.seenEvents.length === 1);
    store.set(object('a', '2'));
    await until(() => controller.seenEvents.length === 2);
    store.delete('a');
    await until(() => controller.seenEvents.length === 3);
    queue.add('never-seen');
    await until(() => controller.seenEvents.length === 4);
    expect(controller.seenEvents).toEqual(['ADDED a 1 false', 'MODIFIED a 2 false', 'DELETED a 2 false', 'DELETED never-seen 0 false']);
    controller.stop();
    await controller.ended();
    store.set(object('b', '3'));
    expect(queue.depth).toBe(0);
  });

  it('starts when the store has synced, and stops before that without a failure', async () => {
    const { controller, store, queue } = create();
    const starting = controller.start();
    queue.add('early');
    store.replace([object('a', '1')]);
    await starting;
    await until(() => controller.keys.length === 2);
    expect(controller.keys).toEqual(['early', 'a']);
    controller.stop();
    await controller.ended();
    const other = create().controller;
    const never = other.start();
    other.stop();
    await never;
    await other.ended();
  });
});
