import { ANNOTATIONS, GROUP } from '../../../crds';
import type { Service } from '../../kube/object';
import type { Problem } from './problem';

const ON_SERVICES: readonly string[] = [ANNOTATIONS.provider, ANNOTATIONS.placement, ANNOTATIONS.adopt];
const ELSEWHERE: readonly string[] = [ANNOTATIONS.pause, ANNOTATIONS.reconcile, ANNOTATIONS.approve];

/** Annotations of our own prefix that have no effect on a Service, such as a misspelt one. Pure. */
export function annotationWarnings({ metadata }: Service): Problem[] {
  return Object.keys(metadata.annotations ?? {})
    .filter((key) => key.startsWith(`${GROUP}/`) && !ON_SERVICES.includes(key))
    .map((key) => ({ reason: 'UnknownAnnotation', message: `annotation ${key} has no effect on a Service: ${remedyOf(key, metadata)}` }));
}

function remedyOf(key: string, { namespace, name }: Service['metadata']): string {
  if (ELSEWHERE.includes(key)) return `set it on CloudLoadBalancer ${namespace}/${name}`;
  return `remove it, or use one of ${ON_SERVICES.join(', ')}`;
}
