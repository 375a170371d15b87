import { CLOUD_INSTANCES, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../../crds';
import { systemClock } from '../../base/clock';
import { NODES, SERVICES, splitKey, type Node } from '../../kube/object';
import type { OutputFormat } from '../cluster-flags';
import { getOne, getOurs, listOurs, withCluster, type Cluster } from './connect';
import { conditionFindings, finding, type Finding } from '../../explain/finding';
import { explainLoadBalancer } from '../../explain/load-balancer';
import { explainNode } from '../../explain/node';
import { LEASE, operatorRuns } from '../../explain/operator-runs';
import { explainRoute } from '../../explain/route';
import { explainService, type ServiceFacts } from '../../explain/service';
import { allProviders, eventsOf, leaseOf, providerNamed, slicesOf, stackOf, targetFacts, unreadFindings } from './facts';
import type { StoredInstance, StoredLoadBalancer, StoredProvider, StoredRoute } from '../../explain/kinds';
import { print, terminalPaint, type Paint } from './output';
import type { Tone } from '../../explain/object-state';
import { subjectOf, type Subject } from './subject';

export interface ExplainFlags {
  namespace?: string;
  output: OutputFormat;
  lease: string;
  kubeconfig?: string;
  context?: string;
}

const KINDS = [SERVICES, CLOUD_LOAD_BALANCERS, CLOUD_ROUTES, NODES, CLOUD_PROVIDERS];

/** `explain`: why an object is not ready, in words. @throws OperatorError when there is no such object */
export async function explain(what: string, flags: ExplainFlags): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const subject = subjectOf(what, KINDS, cluster.namespace);
    const [about, lease] = await Promise.all([findingsOf(cluster, subject), leaseOf(cluster, flags.lease)]);
    const leads = lease === 'Unreadable' ? [] : [operatorRuns(lease, systemClock.now(), flags.lease)];
    const findings = [...leads, ...about, ...unreadFindings(cluster)];
    print(flags.output, { kind: subject.resource.kind, name: subject.key, findings }, () => textOf(findings, terminalPaint()));
  });
}

export { LEASE };

async function findingsOf(cluster: Cluster, { resource, key }: Subject): Promise<Finding[]> {
  switch (resource.kind) {
    case 'Service':
      return service(cluster, key);
    case 'CloudLoadBalancer':
      return loadBalancer(cluster, await getOne<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS, key));
    case 'CloudRoute':
      return route(cluster, key);
    case 'Node':
      return node(cluster, key);
    default: {
      const provider = await getOne<StoredProvider>(cluster, CLOUD_PROVIDERS, key);
      const frozen = provider.spec.freeze
        ? [finding('waiting', 'it is frozen: nothing is written to its cloud', `kubectl cloud resume cloudprovider/${key}`)]
        : [];
      return [...frozen, ...conditionFindings('CloudProvider', key, provider)];
    }
  }
}

async function service(cluster: Cluster, key: string): Promise<Finding[]> {
  const found = await getOne<ServiceFacts['service']>(cluster, SERVICES, key);
  const { namespace = '', name } = splitKey(key);
  const [made, providers, slices] = await Promise.all([
    getOurs<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS, key),
    allProviders(cluster),
    slicesOf(cluster, namespace, name),
  ]);
  const about = explainService({ service: found, loadBalancer: made, providers, slices });
  return made === undefined ? about : [...about, ...(await loadBalancer(cluster, made))];
}

async function loadBalancer(cluster: Cluster, found: StoredLoadBalancer): Promise<Finding[]> {
  const { namespace = '', name } = found.metadata;
  const [provider, stack, nodes, slices] = await Promise.all([
    providerNamed(cluster, found.spec.provider),
    stackOf(cluster, found.status?.stack),
    targetFacts(cluster),
    slicesOf(cluster, namespace, name),
  ]);
  return explainLoadBalancer({ loadBalancer: found, provider, stack, nodes, slices });
}

async function route(cluster: Cluster, key: string): Promise<Finding[]> {
  const found = await getOne<StoredRoute>(cluster, CLOUD_ROUTES, key);
  const [provider, stack, hop] = await Promise.all([
    providerNamed(cluster, found.spec.provider),
    stackOf(cluster, found.status?.stack),
    cluster.api.get<Node>(NODES, found.spec.nodeName),
  ]);
  return explainRoute({ route: found, provider, stack, node: hop });
}

async function node(cluster: Cluster, name: string): Promise<Finding[]> {
  const [found, instance, providers, balancers, routes] = await Promise.all([
    cluster.api.get<Node>(NODES, name),
    getOurs<StoredInstance>(cluster, CLOUD_INSTANCES, name),
    listOurs<StoredProvider>(cluster, CLOUD_PROVIDERS),
    listOurs<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS),
    listOurs<StoredRoute>(cluster, CLOUD_ROUTES),
  ]);
  const local = [
    ...new Set(balancers.filter(({ spec }) => spec.trafficPolicy === 'Local').flatMap(({ metadata }) => metadata.namespace ?? [])),
  ];
  const slices = (await Promise.all(local.map((namespace) => slicesOf(cluster, namespace)))).flat();
  const loadBalancers = balancers.map((balancer) => ({
    loadBalancer: balancer,
    slices: slices.filter(
      ({ metadata }) =>
        metadata.namespace === balancer.metadata.namespace && metadata.labels?.['kubernetes.io/service-name'] === balancer.metadata.name,
    ),
  }));
  const events = found === undefined ? [] : await eventsOf(cluster, NODES, { ...found.metadata, namespace: 'default' });
  return explainNode({ name, node: found, instance, providers, loadBalancers, routes, events });
}

const MARKS: Record<Finding['state'], { mark: string; tone: Tone }> = {
  good: { mark: 'ok  ', tone: 'good' },
  waiting: { mark: 'wait', tone: 'waiting' },
  bad: { mark: 'BAD ', tone: 'bad' },
  note: { mark: 'note', tone: 'plain' },
};

/** One line for each, with what to do below; last what is to be done first. Pure. */
export function textOf(findings: readonly Finding[], paint: Paint): string {
  const lines = findings.map(({ state, says, next }) => {
    const { mark, tone } = MARKS[state];
    return `${paint(mark, tone)}  ${says}\n${next === undefined ? '' : `      -> ${next}\n`}`;
  });
  return `${lines.join('')}${paint(verdictOf(findings), toneOf(findings))}\n`;
}

function verdictOf(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  if (count('bad') > 0) return `${count('bad')} of ${findings.length} things looked at need somebody; begin with the first.`;
  return count('waiting') > 0 ? 'Nothing is wrong; it waits.' : 'All is well.';
}

function toneOf(findings: readonly Finding[]): Tone {
  if (findings.some(({ state }) => state === 'bad')) return 'bad';
  return findings.some(({ state }) => state === 'waiting') ? 'waiting' : 'good';
}
