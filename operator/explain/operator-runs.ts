import type { Lease } from '../kube/lease';
import { finding, type Finding } from './finding';

/** A Lease that was not renewed for longer is nobody's; generous, since clocks differ. In milliseconds. */
const STALE_MS = 60_000;

/** The Lease of `cloud-operator run` and of upstream's managers. */
export const LEASE = 'kube-system/cloud-controller-manager';

/** Whether anybody leads. Pure. @param now wall clock, milliseconds */
export function operatorRuns(lease: Lease | undefined, now: number, name = LEASE): Finding {
  const next = 'kubectl get pods -A -l app.kubernetes.io/name=cloud-operator, and its log';
  const { holderIdentity = '', renewTime } = lease?.spec ?? {};
  if (lease === undefined)
    return finding('note', `there is no Lease ${name}: no operator has ever led here, unless with --leader-elect=false`, next);
  if (holderIdentity === '') return finding('bad', `no operator leads: Lease ${name} was given back`, next);
  const age = now - Date.parse(renewTime ?? '');
  if (!(age < STALE_MS))
    return finding('bad', `no operator leads: ${holderIdentity} has not renewed Lease ${name} since ${renewTime}`, next);
  return finding('good', `${holderIdentity} leads (Lease ${name})`);
}

/** Who holds the Lease now, if anybody does. Pure. */
export function leaderOf(lease: Lease | undefined, now: number): string | undefined {
  return operatorRuns(lease, now).state === 'good' ? lease?.spec?.holderIdentity : undefined;
}
