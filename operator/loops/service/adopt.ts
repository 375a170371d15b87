import { ANNOTATIONS, formerOwner, type FormerOwner } from '../../../crds';
import type { Service } from '../../kube/object';
import type { Problem } from './problem';
import { quoted } from './quoted';

/** Whose load balancer the Service takes over, by its annotation; absent = one is made for it. Pure. */
export function adoptOf(service: Service): { adopt?: FormerOwner; problems: Problem[] } {
  const text = service.metadata.annotations?.[ANNOTATIONS.adopt];
  if (text === undefined) return { problems: [] };
  const { data } = formerOwner.safeParse(text.trim());
  if (data !== undefined) return { adopt: data, problems: [] };
  const known = formerOwner.options.join(' or ');
  const message = `annotation ${ANNOTATIONS.adopt}: ${quoted(text)} is not known; write ${known} (docs/operate/adopt.md), or remove it`;
  return { problems: [{ reason: 'InvalidAdopt', message }] };
}
