import { CLEANUP_FINALIZER, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { ObjectWriter } from '../../../operator/cloud/object-writer';
import type { KubeApi } from '../../../operator/kube/api';
import type { KubeObject } from '../../../operator/kube/object';

const METADATA = { name: 'web', namespace: 'demo', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const OBJECT: KubeObject = { apiVersion: 'v1', kind: 'CloudLoadBalancer', metadata: METADATA };

function writer(now: KubeObject | undefined): ObjectWriter {
  const api = { patch: () => Promise.resolve({}), get: () => Promise.resolve(now) } as unknown as KubeApi;
  return new ObjectWriter(api, CLOUD_LOAD_BALANCERS, Date.now);
}

const withMetadata = (more: Partial<KubeObject['metadata']>): KubeObject => ({
  ...OBJECT,
  metadata: { ...OBJECT.metadata, finalizers: [CLEANUP_FINALIZER], ...more },
});

test.each<[string, KubeObject | undefined]>([
  ['gone: its deletion had begun before our finalizer was on', undefined],
  ['another one of that name', withMetadata({ uid: 'other' })],
  ['being deleted', withMetadata({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
])('nothing is to be made for an object that is %s', async (_what, now) => {
  await expect(writer(now).addFinalizer(OBJECT)).rejects.toMatchObject({
    code: 'Conflict',
    message: 'CloudLoadBalancer demo/web was deleted meanwhile',
  });
});

test('one that stays has our finalizer', async () => {
  await expect(writer(withMetadata({})).addFinalizer(OBJECT)).resolves.toBeUndefined();
});
