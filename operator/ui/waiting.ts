import { remedyOf } from '../explain/finding';
import { keyOf, type Service } from '../kube/object';
import type { Judged } from '../explain/kinds';
import { sorted, type Caches } from './caches';
import { nodeState, serviceState, stateOf, type State } from './state';

/** An object that is not as it should be, or a plan that nobody has approved. */
export interface Waiting {
  kind: 'CloudProvider' | 'Service' | 'CloudLoadBalancer' | 'CloudRoute' | 'CloudStack' | 'Node';
  name: string;
  state: State;
  /** What a person can do; absent = nothing, it comes by itself. */
  next?: string;
}

/** What waits and why: first what needs somebody, then what comes by itself; what others wait for before these. Pure. */
export function waitingOf(caches: Caches): Waiting[] {
  const all = [
    ...ours('CloudProvider', caches.providers.list()),
    ...sorted(caches.nodes.list()).map((node) => waiting('Node', node.metadata.name, nodeState(node), nodeNext(node.metadata.name))),
    ...ours('CloudRoute', caches.routes.list()),
    ...ours('CloudLoadBalancer', caches.loadBalancers.list()),
    ...services(caches),
    ...plans(caches),
  ];
  const found = all.filter(({ state }) => state.tone === 'bad' || state.tone === 'waiting');
  return found.toSorted((a, b) => Number(b.state.tone === 'bad') - Number(a.state.tone === 'bad'));
}

function waiting(kind: Waiting['kind'], name: string, state: State, next: string | undefined): Waiting {
  return { kind, name, state, ...(next === undefined || next === 'nothing' ? {} : { next }) };
}

function ours(kind: Waiting['kind'], objects: readonly Judged[]): Waiting[] {
  return sorted(objects).map((object) => {
    const state = stateOf(object);
    return waiting(kind, keyOf(object.metadata), state, state.reason === undefined ? undefined : remedyOf(state.reason));
  });
}

/** Those whose own condition says more than a CloudLoadBalancer does. */
function services({ services: cache, loadBalancers }: Caches): Waiting[] {
  const alone = sorted(cache.list()).filter(
    ({ metadata, spec }) => spec.type === 'LoadBalancer' && loadBalancers.get(keyOf(metadata)) === undefined,
  );
  return alone.map((service) => waiting('Service', keyOf(service.metadata), serviceState(service), serviceNext(service)));
}

function serviceNext(service: Service): string | undefined {
  const { reason } = serviceState(service);
  return reason === undefined ? undefined : remedyOf(reason, 'service');
}

function nodeNext(name: string): string {
  return `kubectl cloud explain node/${name}`;
}

function plans({ stacks }: Caches): Waiting[] {
  return sorted(stacks.list()).flatMap(({ metadata, status }) =>
    (status?.plans ?? []).map(({ hash, reason, summary, member }) => {
      const state: State = {
        word: 'Planned',
        tone: 'waiting',
        reason: 'AwaitingApproval',
        message: `${member}: ${summary} (since ${reason})`,
      };
      return waiting('CloudStack', metadata.name, state, `kubectl cloud approve ${hash}`);
    }),
  );
}
