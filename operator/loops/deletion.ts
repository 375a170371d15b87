import { CLEANUP_FINALIZER } from '../../crds';
import { OperatorError, toOperatorError } from '../base/errors';
import type { KubeApi } from '../kube/api';
import type { KubeObject, ObjectKey, ResourcePath } from '../kube/object';

const TRIES = 5;

/**
 * Deletes an object of ours that has this UID; one that is gone already needs none.
 * The API server looks for finalizers first and deletes afterwards: one that comes in between is lost with the object, and with it what the cloud
 * controllers make in the cloud meanwhile. So an object without our finalizer is deleted only as the version that was read.
 * @throws OperatorError Conflict when it changes all the time
 */
export async function deleteObject(api: KubeApi, resource: ResourcePath, key: ObjectKey, uid: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const live = await api.get<KubeObject>(resource, key);
    if (live === undefined || live.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return;
    const isKept = live.metadata.finalizers?.includes(CLEANUP_FINALIZER) === true;
    const { resourceVersion } = live.metadata;
    try {
      return await api.remove(resource, key, isKept ? { uid } : { uid, resourceVersion });
    } catch (thrown) {
      if (toOperatorError(thrown).code !== 'Conflict') throw thrown;
    }
  }
  throw new OperatorError('Conflict', `${resource.kind} ${key} is changed faster than it can be deleted`);
}
