import { ANNOTATIONS, formerOwner, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { Service } from '../../kube/object';
import type { Problem } from './problem';
import { quoted } from './quoted';

/** What the Service takes over, by its annotations; no field = one is made for it. Pure. */
export function adoptOf(service: Service): { fields: Pick<CloudLoadBalancerSpecInput, 'adopt' | 'adoptID'>; problems: Problem[] } {
  const { [ANNOTATIONS.adopt]: text, [ANNOTATIONS.adoptID]: id } = service.metadata.annotations ?? {};
  const known = formerOwner.options.join(', ');
  if (text === undefined) {
    return id === undefined
      ? { fields: {}, problems: [] }
      : invalid(`${ANNOTATIONS.adoptID} needs ${ANNOTATIONS.adopt}: whose it is, ${known}`);
  }
  const { data: adopt } = formerOwner.safeParse(text.trim());
  if (adopt === undefined) {
    return invalid(`${ANNOTATIONS.adopt}: ${quoted(text)} is not known; write one of ${known} (docs/operate/adopt.md), or remove it`);
  }
  const adoptID = id?.trim();
  if (adoptID === undefined) {
    return adopt === 'Unowned'
      ? invalid(`${ANNOTATIONS.adopt}: Unowned needs ${ANNOTATIONS.adoptID}, its id in the cloud`)
      : { fields: { adopt }, problems: [] };
  }
  if (adoptID === '' || adoptID.length > 512 || /\s/.test(adoptID)) {
    return invalid(
      `${ANNOTATIONS.adoptID}: ${quoted(adoptID)} is no id of anything in a cloud; write it as the cloud lists it, or remove it`,
    );
  }
  return { fields: { adopt, adoptID }, problems: [] };
}

function invalid(what: string): ReturnType<typeof adoptOf> {
  return { fields: {}, problems: [{ reason: 'InvalidAdopt', message: `annotation ${what}` }] };
}
