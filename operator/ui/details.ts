import type { Attempt, Drift, WaitingPlan } from '../../crds';
import { conditionFindings, type Finding } from '../explain/finding';
import { explainLoadBalancer } from '../explain/load-balancer';
import { explainNode } from '../explain/node';
import { explainRoute } from '../explain/route';
import { explainService } from '../explain/service';
import type { TargetFacts } from '../explain/targets';
import { treeOf, type TreeNode } from '../explain/tree-view';
import type { StoredLoadBalancer, StoredStack } from '../explain/kinds';
import { sorted, type Caches } from './caches';

/** One object, with what is to be said of it: what `/ui/object.json` answers (docs/operate/page.md). */
export interface Details {
  kind: string;
  name: string;
  /** What `kubectl cloud explain` says, but for what needs Events and EndpointSlices, which are in no cache. */
  findings: Finding[];
  /** What `kubectl cloud tree` shows of a Service or CloudLoadBalancer. */
  tree: TreeNode[];
  stack?: { name: string; attempts: Attempt[]; plans: WaitingPlan[]; drift: Drift[] };
}

type Said = Pick<Details, 'findings'> & Partial<Pick<Details, 'tree'>> & { carriedBy?: StoredStack | undefined };

/** @returns undefined = there is no such object. Pure. */
export function detailsOf(kind: string, name: string, caches: Caches): Details | undefined {
  const said = sayer(kind)?.(name, caches);
  if (said === undefined) return undefined;
  const { findings, tree = [], carriedBy } = said;
  return { kind, name, findings, tree, ...(carriedBy === undefined ? {} : { stack: stackOf(carriedBy) }) };
}

function sayer(kind: string): ((name: string, caches: Caches) => Said | undefined) | undefined {
  switch (kind) {
    case 'Service':
      return service;
    case 'CloudLoadBalancer':
      return loadBalancer;
    case 'CloudRoute':
      return route;
    case 'Node':
      return node;
    case 'CloudStack':
      return stack;
    case 'CloudProvider':
      return provider;
    default:
      return undefined;
  }
}

function service(name: string, caches: Caches): Said | undefined {
  const found = caches.services.get(name);
  if (found === undefined) return undefined;
  const made = caches.loadBalancers.get(name);
  const about = explainService({ service: found, loadBalancer: made, providers: caches.providers.list(), slices: undefined });
  const below = made === undefined ? undefined : ofLoadBalancer(made, caches);
  return { ...below, findings: [...about, ...(below?.findings ?? [])], tree: treeNamed(name, caches) };
}

function loadBalancer(name: string, caches: Caches): Said | undefined {
  const found = caches.loadBalancers.get(name);
  return found === undefined ? undefined : { ...ofLoadBalancer(found, caches), tree: treeNamed(name, caches) };
}

function ofLoadBalancer(found: StoredLoadBalancer, caches: Caches): Said {
  const carriedBy = caches.stacks.get(found.status?.stack ?? '');
  const facts = { loadBalancer: found, provider: caches.providers.get(found.spec.provider), stack: carriedBy };
  return { findings: explainLoadBalancer({ ...facts, nodes: targetFacts(caches), slices: undefined }), carriedBy };
}

function treeNamed(name: string, caches: Caches): TreeNode[] {
  const made = caches.loadBalancers.get(name);
  const carrier = made?.status?.stack ?? '';
  return treeOf({
    service: caches.services.get(name),
    loadBalancer: made,
    stack: caches.stacks.get(carrier),
    extra: caches.stacks.get(`${carrier}-extra`),
    nodes: targetFacts(caches),
    slices: undefined,
  });
}

function targetFacts({ nodes, instances }: Caches): TargetFacts[] {
  return sorted(nodes.list()).map((one) => ({ node: one, instance: instances.get(one.metadata.name) }));
}

function route(name: string, caches: Caches): Said | undefined {
  const found = caches.routes.get(name);
  if (found === undefined) return undefined;
  const carriedBy = caches.stacks.get(found.status?.stack ?? '');
  const facts = { provider: caches.providers.get(found.spec.provider), node: caches.nodes.get(found.spec.nodeName) };
  return { findings: explainRoute({ route: found, stack: carriedBy, ...facts }), carriedBy };
}

function node(name: string, caches: Caches): Said | undefined {
  const found = caches.nodes.get(name);
  if (found === undefined) return undefined;
  const findings = explainNode({
    name,
    node: found,
    instance: caches.instances.get(name),
    providers: caches.providers.list(),
    loadBalancers: sorted(caches.loadBalancers.list()).map((one) => ({ loadBalancer: one, slices: undefined })),
    routes: caches.routes.list(),
    events: [],
  });
  return { findings };
}

function stack(name: string, caches: Caches): Said | undefined {
  const found = caches.stacks.get(name);
  return found === undefined ? undefined : { findings: conditionFindings('CloudStack', name, found), carriedBy: found };
}

function provider(name: string, caches: Caches): Said | undefined {
  const found = caches.providers.get(name);
  return found === undefined ? undefined : { findings: conditionFindings('CloudProvider', name, found) };
}

function stackOf({ metadata, status }: StoredStack): NonNullable<Details['stack']> {
  const { attempts = [], plans = [], drift = [] } = status ?? {};
  return { name: metadata.name, attempts, plans, drift };
}
