import { CLEANUP_FINALIZER } from '../../../crds';
import type { DiscoveredResource } from '../../../providers/provider';
import type { CloudFindings } from '../drift/cloud-findings';
import type { Known } from './stack-facts';
import type { Member } from './stack-kind';
import type { Whereabouts } from './stack-moves';

/**
 * What the cloud has of a stack whose members were there before, and of which the state says nothing: it was lost, or the update that should have made
 * it anew did not end. A member rendered without that would be made as a first generation, beside the one that serves.
 * @param ask false = the cloud can't be asked now, or there is only one generation ever
 * @returns undefined where the state says it, or nothing was there before
 */
export async function standingIn(
  stack: string,
  members: readonly Member[],
  { cloud, state }: Known,
  { origins, findings, ask }: Pick<Whereabouts, 'origins'> & { findings: Pick<CloudFindings, 'of'>; ask: boolean },
): Promise<readonly DiscoveredResource[] | undefined> {
  const isSaid = state !== undefined && (!state.open || state.accepted !== undefined);
  if (!ask || cloud === undefined || isSaid) return undefined;
  const wasThere = ({ metadata }: Member): boolean =>
    metadata.deletionTimestamp === undefined && metadata.finalizers?.includes(CLEANUP_FINALIZER) === true && !origins.has(metadata.uid);
  return members.some(wasThere) ? findings.of(stack, cloud, false) : undefined;
}
