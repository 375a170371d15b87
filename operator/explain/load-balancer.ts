import type { Attempt, WaitingPlan } from '../../crds';
import type { EndpointSlice, StoredLoadBalancer, StoredProvider, StoredStack } from './kinds';
import { conditionFindings, finding, type Finding } from './finding';
import { leverFindings } from './levers';
import { targetState, type TargetFacts } from './targets';

/** What is read about an object that Pulumi makes. */
export interface MadeFacts {
  /** `Unreadable`: the one who asks may not look at it. */
  provider: StoredProvider | 'Unreadable' | undefined;
  /** undefined = there is none, or it can't be looked at. */
  stack: StoredStack | undefined;
}

export interface LoadBalancerFacts extends MadeFacts {
  loadBalancer: StoredLoadBalancer;
  /** undefined = nobody has looked at them. */
  nodes: TargetFacts[] | undefined;
  /** Of its Service; empty where there is none, undefined = nobody has looked at them. */
  slices: EndpointSlice[] | undefined;
}

/** Why a CloudLoadBalancer is as it is: its CloudProvider, what holds it, what its conditions say, its plan, its targets. Pure. */
export function explainLoadBalancer(facts: LoadBalancerFacts): Finding[] {
  const { loadBalancer } = facts;
  const name = `${loadBalancer.metadata.namespace}/${loadBalancer.metadata.name}`;
  return [
    ...providerFindings(loadBalancer.spec.provider, facts.provider),
    ...leverFindings(loadBalancer, facts.provider),
    ...conditionFindings('CloudLoadBalancer', name, loadBalancer),
    ...stackFindings(name, facts.stack),
    ...targetFindings(facts),
    ...addressFindings(loadBalancer),
  ];
}

/** Whether the object's cloud is there. Pure. */
export function providerFindings(name: string, provider: MadeFacts['provider']): Finding[] {
  if (provider === 'Unreadable') return [];
  if (provider === undefined)
    return [finding('bad', `there is no CloudProvider ${name}`, `create it: kubectl get cloudproviders shows those that are there`)];
  return conditionFindings('CloudProvider', name, provider);
}

/** The plan that waits, what differs in the cloud, and how the last update ended. Pure. */
export function stackFindings(member: string, stack: StoredStack | undefined): Finding[] {
  if (stack === undefined) return [];
  const { plans = [], drift = [], attempts = [] } = stack.status ?? {};
  const differs = finding(
    'note',
    `${drift.length} differences between the cloud and what is wanted`,
    `kubectl cloud tree, or status.drift of CloudStack ${stack.metadata.name}`,
  );
  return [
    ...plans.filter((one) => one.member === member).map(planFinding),
    ...(drift.length > 0 ? [differs] : []),
    ...attempts.slice(0, 1).flatMap(failure),
  ];
}

function planFinding({ hash, reason, summary }: WaitingPlan): Finding {
  const next = `kubectl cloud plan shows it; kubectl cloud approve ${hash} lets it go on`;
  return finding('waiting', `plan ${hash} waits, since ${reason}: ${summary}`, next);
}

function failure({ result, code = 'Unknown', startedAt, message = '' }: Attempt): Finding[] {
  if (result !== 'Failed') return [];
  return [finding('bad', `the last update failed (${code}) at ${startedAt}: ${message}`, 'kubectl cloud history has the attempts before')];
}

function targetFindings({ loadBalancer, nodes, slices }: LoadBalancerFacts): Finding[] {
  if (nodes === undefined) return [];
  const states = nodes.map((node) => targetState(node, loadBalancer, slices));
  const targets = states.filter(({ target }) => target);
  const busy = targets.filter(({ why }) => why === undefined);
  const policy = loadBalancer.spec.trafficPolicy;
  const where = policy === 'Local' && slices === undefined ? ', where an endpoint is on them' : '';
  const summary = `${targets.length} of ${nodes.length} Nodes are targets, and ${busy.length} of them can take its traffic${where} (traffic policy ${policy})`;
  if (busy.length > 0) return [finding('good', summary)];
  const reasons = [...new Set(states.flatMap(({ why }) => why ?? []))].slice(0, 3).join('; ');
  const next = 'kubectl cloud explain node/NAME, for one that should be';
  return [finding('bad', reasons === '' ? `${summary}: there is no Node` : `${summary}: ${reasons}`, next)];
}

function addressFindings({ status }: StoredLoadBalancer): Finding[] {
  const [first] = status?.ingress ?? [];
  if (first === undefined) return [finding('waiting', 'it has no address yet')];
  return [finding('good', `it answers at ${first.hostname ?? first.ip}, ports ${status?.ports ?? ''}`)];
}
