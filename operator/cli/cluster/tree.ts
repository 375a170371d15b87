import { CLOUD_LOAD_BALANCERS } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { keyOf, SERVICES, splitKey, type Service } from '../../kube/object';
import type { ListFlags } from '../cluster-flags';
import { formatTable } from '../table';
import { getOne, getOurs, listOurs, withCluster, type Cluster } from './connect';
import { slicesOf, stackOf, targetFacts, unreadFindings } from './facts';
import type { StoredLoadBalancer } from '../../explain/kinds';
import { print, terminalPaint, type Paint } from './output';
import { subjectOf } from './subject';
import { rowsOf, treeOf, type TreeNode } from '../../explain/tree-view';

/** Longest detail that is shown without `-o wide`, in characters. */
const DETAIL_LENGTH = 80;

/**
 * `tree`: what becomes of a Service, down to the cloud.
 * @param what absent: everything in the namespace, or with `-A` in all of them
 * @throws OperatorError NotFound
 */
export async function tree(what: string | undefined, flags: ListFlags): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const keys = what === undefined ? await allKeys(cluster, flags.allNamespaces === true) : [await keyNamed(cluster, what)];
    const nodes = await targetFacts(cluster);
    const trees = (await Promise.all(keys.map((key) => treeNamed(cluster, key, nodes)))).flat();
    print(flags.output, what === undefined ? trees : trees[0], () => {
      const unread = unreadFindings(cluster).map(({ says, next = '' }) => `\n${says}; ${next}\n`);
      return [textOf(trees, flags.output === 'wide', terminalPaint()), ...unread].join('');
    });
  });
}

async function keyNamed(cluster: Cluster, what: string): Promise<string> {
  const { resource, key } = subjectOf(what, [SERVICES, CLOUD_LOAD_BALANCERS], cluster.namespace);
  await getOne(cluster, resource, key);
  return key;
}

/** Every Service of type LoadBalancer, and every CloudLoadBalancer that has none. */
async function allKeys(cluster: Cluster, everywhere: boolean): Promise<string[]> {
  const where = everywhere ? {} : { namespace: cluster.namespace };
  const [services, made] = await Promise.all([
    cluster.api.list<Service>(SERVICES, where),
    listOurs<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS, where),
  ]);
  const wanting = services.filter(({ spec }) => spec.type === 'LoadBalancer');
  const keys = [...new Set([...wanting, ...made].map(({ metadata }) => keyOf(metadata)))].sort();
  if (keys.length > 0) return keys;
  const place = everywhere ? 'the cluster' : `namespace ${cluster.namespace}`;
  throw new OperatorError('NotFound', `there is no Service of type LoadBalancer in ${place}`, {
    remedy: 'name another one with -n, or all with -A',
  });
}

async function treeNamed(cluster: Cluster, key: string, nodes: Awaited<ReturnType<typeof targetFacts>>): Promise<TreeNode[]> {
  const { namespace = '', name } = splitKey(key);
  const [service, loadBalancer, slices] = await Promise.all([
    cluster.api.get<Service>(SERVICES, key),
    getOurs<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS, key),
    slicesOf(cluster, namespace, name),
  ]);
  const made = loadBalancer?.status?.stack;
  const [stack, extra] = await Promise.all([stackOf(cluster, made), stackOf(cluster, made === undefined ? undefined : `${made}-extra`)]);
  return treeOf({ service, loadBalancer, stack, extra, nodes, slices });
}

function textOf(trees: TreeNode[], wide: boolean, paint: Paint): string {
  const rows = rowsOf(trees);
  const short = (text: string): string => (wide || text.length <= DETAIL_LENGTH ? text : `${text.slice(0, DETAIL_LENGTH - 1)}…`);
  const cells = rows.map(({ row: [what, state, detail] }) => [what, state, short(detail)]);
  return formatTable(['OBJECT', 'STATE', 'DETAIL'], cells, (cell, column, row) =>
    column === 1 ? paint(cell, rows[row]?.tone ?? 'plain') : cell,
  );
}
