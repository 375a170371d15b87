import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES } from '../../../crds';
import { SERVICES } from '../../kube/object';
import type { ListFlags } from '../cluster-flags';
import { formatTable } from '../table';
import { withCluster, type Cluster } from './connect';
import { print, terminalPaint } from './output';
import { subjectOf } from './subject';
import { inNamespace, planText, waitingPlans, type FoundPlan } from './waiting-plans';

/** `plan`: the changes that wait for a person. @param what one of them, with every property; absent = a list */
export async function plan(what: string | undefined, flags: ListFlags): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const all = await waitingPlans(cluster);
    const found = what === undefined ? listed(all, cluster, flags) : named(all, what, cluster);
    print(flags.output, found, () => {
      if (found.length === 0) return 'No change waits for approval.\n';
      if (what === undefined && flags.output !== 'wide') return table(found);
      return found.map((one) => planText(one, terminalPaint())).join('\n');
    });
  });
}

function listed(all: FoundPlan[], { namespace }: Cluster, { allNamespaces }: ListFlags): FoundPlan[] {
  return all.filter((one) => allNamespaces === true || inNamespace(one, namespace));
}

function named(all: FoundPlan[], what: string, { namespace }: Cluster): FoundPlan[] {
  const { resource, key } = subjectOf(what, [CLOUD_LOAD_BALANCERS, SERVICES, CLOUD_ROUTES], namespace);
  const kind = resource.kind === CLOUD_ROUTES.kind ? CLOUD_ROUTES.kind : CLOUD_LOAD_BALANCERS.kind;
  return all.filter((one) => one.member === key && one.kind === kind);
}

function table(plans: readonly FoundPlan[]): string {
  const rows = plans.map(({ member, hash, summary, reason }) => [member, hash, summary, reason]);
  return formatTable(['OBJECT', 'HASH', 'SUMMARY', 'WHY IT WAITS'], rows);
}
