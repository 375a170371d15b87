import { ANNOTATIONS } from '../../../crds';
import { messageWithRemedy, toOperatorError, type OperatorError } from '../../base/errors';
import type { KubeObject, Service } from '../../kube/object';
import { parseAddress } from '../cidr';
import type { Clouds, Neighbor, ServiceChoice, ServiceFacts } from '../clouds';
import type { StoredCloudLoadBalancer } from '../kinds';
import { isOwnedBy } from './cloud-load-balancer';
import { compile, type WantedSpec } from './compile';
import type { Problem } from './problem';

/** Reason of what is said of a Service that another controller serves by now while the load balancer made here still stands. */
export const LEFT_TO_OTHER = 'LeftToOther';

/** What is to become of a Service of type LoadBalancer. */
export type Claim =
  /** Some other controller's class: leave it alone. */
  | { kind: 'Foreign' }
  /**
   * Ours, but it can't be served as it is. `retry`: the answer may change without an event. `passes`: by itself; nobody has to help.
   * `left`: to another controller, which may say another address.
   */
  | { kind: 'Held'; problem: Problem; retry: boolean; passes?: true; left?: true }
  | { kind: 'Wanted'; spec: WantedSpec; annotations?: Record<string, string>; warnings: Problem[] };

/** A Service, and where it is. */
export interface Placed {
  service: Service;
  /** Absent while it is not known yet. */
  namespace?: KubeObject | undefined;
  /** The other load balancers of a CloudProvider; absent = there are none. */
  neighborsIn?: (provider: string) => readonly Neighbor[];
}

/**
 * Chooses the CloudProvider and compiles. The provider is recorded once: that of an existing CloudLoadBalancer stays, whatever the default is now;
 * another one that class or annotation ask for is followed, once it can be (design: Stacks).
 */
export function claimOf(placed: Placed, existing: StoredCloudLoadBalancer | undefined, clouds: Clouds): Claim {
  const { service } = placed;
  const { loadBalancerClass } = service.spec;
  const annotations = service.metadata.annotations ?? {};
  const choice = clouds.forService({ annotations, ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) });
  const current = existing?.spec.provider;
  const named = annotations[ANNOTATIONS.provider];
  if (current !== undefined && stays(choice, current, { loadBalancerClass, named }))
    return warnedOf(choice, current, compileFor(placed, current, clouds, existing));
  if (choice.kind === 'Foreign') return leaveTo(unclaimed(loadBalancerClass), service, existing);
  if (choice.kind === 'Unavailable') return unavailable(choice);
  const why = clouds.whyNotConnected(choice.provider);
  if (why !== undefined) return notConnected(choice.provider, why);
  if (!clouds.supports(choice.provider, 'loadBalancers')) return { kind: 'Held', problem: unsupported(choice.provider), retry: true };
  return compileFor(placed, choice.provider, clouds, existing);
}

/**
 * Who has it keeps it, also while that is being deleted, unless class or annotation ask for another one. Of several that say the class is theirs, none
 * is another one.
 */
function stays(
  choice: ServiceChoice,
  current: string,
  { loadBalancerClass, named }: { loadBalancerClass: string | undefined; named: string | undefined },
): boolean {
  if (loadBalancerClass === undefined && named === undefined) return true;
  if (choice.kind === 'Chosen') return choice.provider === current;
  if (choice.leaving === current) return true;
  return choice.kind === 'Unavailable' && (named === current || (choice.several === true && named === undefined));
}

/** Several CloudProviders say that a Service like this one is theirs: a new one would wait, and this one's owner should know before it is made anew. */
function warnedOf(choice: ServiceChoice, current: string, claim: Claim): Claim {
  if (choice.kind !== 'Unavailable' || choice.several !== true || claim.kind !== 'Wanted') return claim;
  const message = `${choice.message}. This Service stays with CloudProvider "${current}", which has taken it; a new one would wait`;
  return { ...claim, warnings: [...claim.warnings, { reason: 'SeveralProviders', message }] };
}

function compileFor(placed: Placed, provider: string, clouds: Clouds, existing?: StoredCloudLoadBalancer): Claim {
  const { service } = placed;
  try {
    const block = clouds.compile(provider, service.metadata.annotations ?? {}, factsOf(placed, provider, existing));
    if (block.leftTo !== undefined) return leaveTo({ other: block.leftTo, back: 'take the annotation back' }, service, existing);
    const { spec, annotations, problems, warnings } = compile(service, provider, block, clouds.serviceLevers(provider));
    if (spec !== undefined) return { kind: 'Wanted', spec, annotations, warnings };
    const message = problems.map((problem) => problem.message).join('; ');
    return { kind: 'Held', problem: { reason: problems[0]?.reason ?? 'Invalid', message }, retry: false };
  } catch (thrown) {
    const problem = { reason: 'ProviderUnavailable', message: messageWithRemedy(toOperatorError(thrown), '. ') };
    return { kind: 'Held', problem, retry: true };
  }
}

function factsOf(
  { service, namespace: home, neighborsIn }: Placed,
  provider: string,
  existing: StoredCloudLoadBalancer | undefined,
): ServiceFacts {
  const { loadBalancerClass, ports = [] } = service.spec;
  const { labels = {}, namespace = '' } = service.metadata;
  return {
    ...{ ports, labels, namespace },
    ...(home !== undefined && { namespaceLabels: home.metadata.labels ?? {} }),
    ...addressesOf(service),
    ...(loadBalancerClass !== undefined && { loadBalancerClass }),
    ...(existing !== undefined && { current: existing.spec }),
    ...(neighborsIn !== undefined && { neighbors: () => neighborsIn(provider) }),
  };
}

function addressesOf({ spec: { ipFamilies = [], loadBalancerIP = '' } }: Service): Pick<ServiceFacts, 'ipFamilies' | 'addresses'> {
  return {
    ...(ipFamilies.length > 0 && { ipFamilies }),
    ...(parseAddress(loadBalancerIP) !== undefined && { addresses: [loadBalancerIP] }),
  };
}

/** To whom a Service is left, and what takes that back. */
interface Leaving {
  other: string;
  back: string;
}

function unclaimed(loadBalancerClass = ''): Leaving {
  const other = `the controller of the class "${loadBalancerClass}", which no CloudProvider claims any more`;
  return { other, back: 'claim the class in spec.loadBalancerClasses of its CloudProvider' };
}

/** The other controller makes a load balancer of its own: one that is here is neither changed nor deleted behind its users' back. */
function leaveTo({ other, back }: Leaving, service: Service, existing: StoredCloudLoadBalancer | undefined): Claim {
  if (existing === undefined || !isOwnedBy(existing, service.metadata.uid)) return { kind: 'Foreign' };
  const name = `${existing.metadata.namespace}/${existing.metadata.name}`;
  const message = `the Service is left to ${other}, but the load balancer that was made here still serves; delete CloudLoadBalancer ${name} when nobody uses it any more, or ${back}`;
  return { kind: 'Held', problem: { reason: LEFT_TO_OTHER, message }, retry: false, left: true };
}

function unavailable({ reason, message }: { reason: string; message: string }): Claim {
  return { kind: 'Held', problem: { reason, message }, retry: true };
}

/** A cloud that does not answer comes back; a Secret that is not there has to be made. */
function notConnected(provider: string, why: OperatorError): Claim {
  const message = `CloudProvider "${provider}" is not connected: ${messageWithRemedy(why, '. ')}`;
  return {
    kind: 'Held',
    problem: { reason: 'ProviderUnavailable', message },
    retry: true,
    ...(!why.terminal && { passes: true as const }),
  };
}

function unsupported(provider: string): Problem {
  const message = `the cloud provider does not support external load balancers (CloudProvider "${provider}"); choose another one with the annotation ${ANNOTATIONS.provider}`;
  return { reason: 'LoadBalancersUnsupported', message };
}
