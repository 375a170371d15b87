import { OperatorError } from '../base/errors';
import { splitKey, type ObjectKey, type ResourcePath } from './object';

/** Path of a collection, of one namespace where `namespace` is given: `/apis/apps/v1/namespaces/demo/deployments`. */
export function collectionPath(resource: ResourcePath, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${resource.plural}`;
}

/**
 * Path of one object, or of a subresource of it.
 * @throws OperatorError Invalid when the key doesn't fit the scope of the resource
 */
export function objectPath(resource: ResourcePath, key: ObjectKey, subresource?: string): string {
  const { namespace, name } = splitKey(key);
  if (name === '' || resource.namespaced !== (namespace !== undefined)) {
    const wanted = resource.namespaced ? 'namespace/name' : 'a name without a namespace';
    throw new OperatorError('Invalid', `"${key}" can't be the key of a ${resource.kind}: it must be ${wanted}`);
  }
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(resource: ResourcePath): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `services`, `cloudroutes.cloud-operator.dev`: as kubectl names a resource. */
export function resourceName(resource: ResourcePath): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}
