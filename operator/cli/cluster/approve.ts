import { ANNOTATIONS } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { statusOf } from '../../kube/status';
import type { ConnectionFlags, OutputFormat } from '../cluster-flags';
import { withCluster, type Cluster } from './connect';
import { Deeds } from './done';
import { resourceOf, waitingPlans, type FoundPlan } from './waiting-plans';

export interface ApproveFlags extends ConnectionFlags {
  output: OutputFormat;
}

/**
 * `approve`: lets the plan with this hash go on, and no other.
 * @throws OperatorError NotFound when no plan that waits has this hash, Credentials when the user may not approve it
 */
export async function approve(hash: string, flags: ApproveFlags): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const chosen = chosenPlans(await waitingPlans(cluster), hash);
    const deeds = new Deeds(flags.output);
    for (const one of chosen) {
      await annotate(cluster, one);
      const { kind, member, summary } = one;
      deeds.did({ kind, name: member, approved: hash, summary }, `approved: ${kind} ${member}, plan ${hash}: ${summary}`);
    }
    deeds.end();
  });
}

/** More than one where several load balancers have to consent to what an extension adds. Pure. @throws OperatorError */
export function chosenPlans(plans: readonly FoundPlan[], hash: string): FoundPlan[] {
  const chosen = plans.filter((plan) => plan.hash === hash);
  if (chosen.length > 0) return chosen;
  const known = plans.map(({ member, hash: other }) => `${other} (${member})`).join(', ');
  const remedy = known === '' ? 'no change waits for approval' : `those that wait are ${known}; look at them with: kubectl cloud plan`;
  throw new OperatorError('NotFound', `no plan that waits has the hash ${hash}`, { remedy });
}

async function annotate({ api }: Cluster, found: FoundPlan): Promise<void> {
  try {
    await api.patch(resourceOf(found), found.member, 'merge', { metadata: { annotations: { [ANNOTATIONS.approve]: found.hash } } });
  } catch (thrown) {
    if (thrown instanceof OperatorError && [403, 422].includes(statusOf(thrown)?.code ?? 0)) throw forbidden(found, thrown);
    throw thrown;
  }
}

function forbidden({ kind, member }: FoundPlan, cause: OperatorError): OperatorError {
  const remedy =
    'it needs the verb approve: ask for a binding to the ClusterRole cloud-operator-approve (docs/operate/plan-and-approve.md)';
  return new OperatorError(
    cause.code === 'Invalid' ? 'Credentials' : cause.code,
    `you may not approve the plan of ${kind} ${member}: ${cause.message}`,
    { remedy, cause },
  );
}
