import { ANNOTATIONS, GROUP } from '../../../crds';
import { similarTo } from '../../base/similar';
import type { Service } from '../../kube/object';
import { LEVER_ANNOTATIONS } from './levers';
import type { Problem } from './problem';

const ON_SERVICES: readonly string[] = [
  ANNOTATIONS.provider,
  ANNOTATIONS.placement,
  ANNOTATIONS.adopt,
  ANNOTATIONS.adoptID,
  ...LEVER_ANNOTATIONS,
];
const ELSEWHERE: readonly string[] = [ANNOTATIONS.approve];
const ALL = [...ON_SERVICES, ...ELSEWHERE];

/** Annotations of our own prefix, or nearly so, that have no effect on a Service, such as a misspelt one. Pure. */
export function annotationWarnings({ metadata }: Service): Problem[] {
  return Object.keys(metadata.annotations ?? {})
    .filter((key) => !ON_SERVICES.includes(key) && (key.startsWith(`${GROUP}/`) || similarTo(key, ALL) !== undefined))
    .map((key) => ({ reason: 'UnknownAnnotation', message: `annotation ${key} has no effect on a Service: ${remedyOf(key, metadata)}` }));
}

function remedyOf(key: string, { namespace, name }: Service['metadata']): string {
  const meant = similarTo(key, ALL);
  const elsewhere = `on CloudLoadBalancer ${namespace}/${name}`;
  if (meant === key) return `set it ${elsewhere}`;
  if (meant !== undefined) return `did you mean ${meant}${ELSEWHERE.includes(meant) ? `, ${elsewhere}` : ''}?`;
  return `remove it, or use one of ${ON_SERVICES.join(', ')}`;
}
