import { ANNOTATIONS, namespaceName, objectName } from '../../../crds';
import type { Service } from '../../kube/object';
import type { Problem } from './problem';
import { quoted } from './quoted';

/**
 * The cloud load balancer that the annotation names, as `<name>` or `<namespace>/<name>`. Pure.
 * @returns no placement = the provider's default
 */
export function placementOf(service: Service): { placement?: { name: string; namespace?: string }; problems: Problem[] } {
  const text = service.metadata.annotations?.[ANNOTATIONS.placement];
  if (text === undefined) return { problems: [] };
  const [name, namespace, ...more] = text.split('/').reverse();
  const obstacle = more.length > 0 ? 'it has more than one "/"' : (obstacleOf(name, namespace) ?? '');
  if (obstacle === '') return { placement: { name: name ?? '', ...(namespace === undefined ? {} : { namespace }) }, problems: [] };
  const message = `annotation ${ANNOTATIONS.placement}: ${quoted(text)} is not a name: ${obstacle}; write <name> or <namespace>/<name> in lower case`;
  return { problems: [{ reason: 'InvalidPlacement', message }] };
}

function obstacleOf(name = '', namespace?: string): string | undefined {
  if (namespace !== undefined && !namespaceName.safeParse(namespace).success)
    return `${quoted(namespace)} can't be a Namespace's (letters, digits and "-" between them, at most 63)`;
  if (!objectName.safeParse(name).success)
    return `${quoted(name)} can't be an object's (letters, digits, "-" and "." between them, at most 253)`;
  return undefined;
}
