import {
  CONDITION_NETWORK_UNAVAILABLE,
  hasTaint,
  LABEL_INSTANCE_TYPE,
  LABEL_REGION,
  LABEL_ZONE,
  TAINT_NETWORK_UNAVAILABLE,
  TAINT_SHUTDOWN,
  TAINT_UNINITIALIZED,
} from '../kube/node';
import type { Node } from '../kube/object';
import type { EndpointSlice, KubeEvent, StoredInstance, StoredLoadBalancer, StoredProvider, StoredRoute } from './kinds';
import { conditionFindings, finding, type Finding } from './finding';
import { targetState, whyExcluded } from './targets';

export interface NodeFacts {
  name: string;
  /** Absent = it is not registered. */
  node: Node | undefined;
  instance: StoredInstance | undefined;
  providers: StoredProvider[];
  /** `slices` of its Service: undefined = nobody has looked at them. */
  loadBalancers: { loadBalancer: StoredLoadBalancer; slices: EndpointSlice[] | undefined }[];
  routes: StoredRoute[];
  /** Of this Node, the newest last. */
  events: KubeEvent[];
}

/** Events with which the operator says why a Node keeps its taint, or is not deleted. */
export const OWN_EVENTS: readonly string[] = [
  'NodeNotInitialized',
  'InstanceNotFound',
  'InstanceUnclaimed',
  'InstanceUnmanaged',
  'InstanceAmbiguous',
  'DeletingNodeHeldBack',
  'PodCIDRNotAccepted',
  'FailedToCreateRoute',
];

/** What an operator of a cloud-controller-manager checks of a Node, in the order in which one thing needs the other. Pure. */
export function explainNode(facts: NodeFacts): Finding[] {
  const { node } = facts;
  if (node === undefined) return [unregistered(facts)];
  return [
    registered(node),
    kubelet(node),
    ...initialization(node, facts),
    ...ownership(node, facts),
    ...labels(node),
    ...addresses(node),
    ...shutdown(node, facts),
    ...network(node, facts),
    ...balancing(node, facts),
  ];
}

function unregistered({ name, instance }: NodeFacts): Finding {
  const machine = instance === undefined ? '' : `; its machine ${instance.status?.id ?? ''} is ${instance.status?.state ?? 'not known'}`;
  const next = 'look at the kubelet on the machine: its log, its certificate, and whether it reaches the API server';
  return finding('bad', `there is no Node ${name}: its kubelet has not registered it${machine}`, next);
}

function registered({ metadata }: Node): Finding {
  if (metadata.deletionTimestamp !== undefined) return finding('waiting', `it is being deleted since ${metadata.deletionTimestamp}`);
  return finding('good', `it is registered since ${metadata.creationTimestamp}`);
}

function kubelet({ status }: Node): Finding {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return finding('good', 'kubelet says that it is ready');
  const next = 'kubectl describe node; a network plugin that is not there yet is the most common reason';
  if (ready === undefined) return finding('waiting', 'kubelet has not said yet whether it is ready', next);
  const says = `Ready=${ready.status}, ${ready.reason ?? ''}: ${ready.message ?? ''}`;
  return ready.status === 'Unknown'
    ? finding('bad', `${says}`, 'kubelet does not report: does the machine run?')
    : finding('bad', says, next);
}

function initialization(node: Node, { events, instance }: NodeFacts): Finding[] {
  if (hasTaint(node, TAINT_UNINITIALIZED)) {
    const told = lastOf(events);
    const says = `it has the taint ${TAINT_UNINITIALIZED}: no operator has initialized it yet, and nothing is scheduled on it`;
    const next = 'see whether the operator runs, and whether a CloudProvider is Ready';
    return [told === undefined ? finding('bad', says, next) : finding('bad', `${says}. ${told.reason}: ${told.message}`)];
  }
  if ((node.spec.providerID ?? '') !== '') return [finding('good', `it is initialized: providerID ${node.spec.providerID}`)];
  const next = 'start the kubelet with --cloud-provider=external and let the Node register anew';
  const says = `it has no providerID and no taint ${TAINT_UNINITIALIZED}${instance === undefined ? '' : ', although its machine is known'}: its kubelet does not wait for a cloud provider`;
  return [finding('bad', says, next)];
}

function lastOf(events: readonly KubeEvent[]): KubeEvent | undefined {
  return events.findLast(({ reason }) => OWN_EVENTS.includes(reason));
}

/** Whose it is, and what that cloud says of its machine. */
function ownership(node: Node, { instance, providers }: NodeFacts): Finding[] {
  const names = providers
    .map(({ metadata }) => metadata.name)
    .sort()
    .join(', ');
  if (providers.length === 0)
    return [
      finding('bad', 'there is no CloudProvider, so that nobody can say whose it is', 'docs/install.md: tell the operator of a cloud'),
    ];
  if (instance === undefined) {
    const next = 'compare its providerID with the CloudProviders; spec.nodeSelector decides between several of one kind';
    return [finding('bad', `no CloudProvider claims it; there are ${names}`, next)];
  }
  const provider = providers.find(({ metadata }) => metadata.name === instance.spec.provider);
  const { id = node.spec.providerID, state } = instance.status ?? {};
  const machine = finding(
    state === 'Running' || state === undefined ? 'good' : 'bad',
    `CloudProvider ${instance.spec.provider} claims it: machine ${id ?? ''} is ${state ?? 'not looked at yet'}`,
  );
  return provider === undefined
    ? [machine]
    : [machine, ...conditionFindings('CloudProvider', provider.metadata.name, provider).filter(({ state: one }) => one !== 'good')];
}

function labels({ metadata }: Node): Finding[] {
  const missing = [LABEL_INSTANCE_TYPE, LABEL_REGION, LABEL_ZONE].filter((key) => metadata.labels?.[key] === undefined);
  const there = [LABEL_INSTANCE_TYPE, LABEL_REGION, LABEL_ZONE].flatMap((key) => metadata.labels?.[key] ?? []).join(', ');
  if (missing.length === 0) return [finding('good', `it has the cloud's labels: ${there}`)];
  return [finding('note', `it lacks ${missing.join(', ')}: the cloud did not say, or it is not initialized`)];
}

function addresses({ status }: Node): Finding[] {
  const internal = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  if (internal.length > 0) return [finding('good', `its addresses are ${internal.map(({ address }) => address).join(', ')}`)];
  return [
    finding(
      'bad',
      'it has no address of type InternalIP',
      'the operator writes addresses when it initializes the Node, and every 5 minutes',
    ),
  ];
}

function shutdown(node: Node, { events }: NodeFacts): Finding[] {
  const held = events.findLast(({ reason }) => reason === 'DeletingNodeHeldBack');
  const found = held === undefined ? [] : [finding('note', `${held.reason}: ${held.message}`)];
  if (!hasTaint(node, TAINT_SHUTDOWN)) return found;
  return [
    ...found,
    finding(
      'bad',
      `it has the taint ${TAINT_SHUTDOWN}: the cloud says that its machine is stopped`,
      'start the machine, or delete the Node',
    ),
  ];
}

function network(node: Node, { routes }: NodeFacts): Finding[] {
  const own = routes.filter(({ spec }) => spec.nodeName === node.metadata.name);
  const found = own.flatMap((route) => conditionFindings('CloudRoute', route.metadata.name, route));
  const condition = node.status?.conditions?.find(({ type }) => type === CONDITION_NETWORK_UNAVAILABLE);
  if (condition?.status !== 'True' && !hasTaint(node, TAINT_NETWORK_UNAVAILABLE)) return found;
  const { reason = TAINT_NETWORK_UNAVAILABLE, message = '' } = condition ?? {};
  return [withoutNetwork(node, `its network is unavailable (${reason}): ${message}`), ...found];
}

function withoutNetwork({ spec }: Node, says: string): Finding {
  if ((spec.podCIDR ?? '') === '')
    return finding(
      'bad',
      `${says}. It has no podCIDR, for which a route could be made`,
      '--allocate-node-cidrs, of one controller (docs/install.md)',
    );
  return finding('bad', `${says}. Its route is not there yet`, 'kubectl cloud explain cloudroute/NAME');
}

/** Whether load balancers send it traffic, and why not. */
function balancing(node: Node, { instance, loadBalancers }: NodeFacts): Finding[] {
  const excluded = whyExcluded(node);
  const notes =
    node.spec.unschedulable === true
      ? [finding('note', 'it is cordoned; load balancers go on sending it traffic, as upstream has it')]
      : [];
  if (excluded !== undefined)
    return [
      ...notes,
      finding('bad', `it is a target of no load balancer, since ${excluded}`, 'nothing, where that is meant; else remove it'),
    ];
  const states = loadBalancers.map(({ loadBalancer, slices }) => {
    const { namespace, name } = loadBalancer.metadata;
    return { who: `${namespace}/${name} (${loadBalancer.spec.trafficPolicy})`, ...targetState({ node, instance }, loadBalancer, slices) };
  });
  const busy = states.filter(({ target, why }) => target && why === undefined);
  const quiet = states.filter(({ why }) => why !== undefined);
  const all = busy.length === 0 ? [] : [finding('good', `it is a target of ${listed(busy.map(({ who }) => who))}`)];
  const others = quiet.map(({ who, target, why }) =>
    finding(
      'note',
      `${target ? 'it is a target of' : 'it is no target of'} ${who}${target ? ', but gets none of its traffic' : ''}: ${why}`,
    ),
  );
  const none = states.length === 0 ? [finding('note', 'there is no load balancer that it could be a target of')] : [];
  return [...notes, ...all, ...others.slice(0, 20), ...none];
}

/** The first ten of them. */
function listed(names: string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}
