import type { OperatorError } from '../../operator/base/errors';
import { hashJson } from '../../operator/base/json';
import type { LoadBalancerInput } from '../provider';
import { renderAddresses, type RenderedAddress } from './addresses';
import { generationsOf, marksOf, type Generation } from '../generations';
import { cloudName, engineOf, modeOf, renderListener, renderSourceRanges, type RenderedListener } from './listeners';
import type { NameScope } from './load-balancers';

const NAME_LENGTH = 32;

/**
 * A load balancer that all CloudLoadBalancers of one placement, scheme and engine share. Its name and these never change, so it is never replaced
 * while it has a member: an outage of one must not be an outage of all.
 */
export interface RenderedSharedLoadBalancer {
  /** Name in the cloud and in the program. */
  name: string;
  /** The placement stands where others have the owner. */
  ownerUID: string;
  owner: string;
  scheme: 'Public' | 'Internal';
  /** As of RenderedLoadBalancer. */
  mode?: 'passthrough';
  /** One of each family for all who ask for none, and one for each that is asked for. */
  addresses: RenderedAddress[];
  members: RenderedMember[];
}

/** The part of one CloudLoadBalancer. */
export interface RenderedMember {
  uid: string;
  ownerUID: string;
  owner: string;
  /** Names of the addresses that it answers on. */
  addresses: string[];
  /** Listeners, each under the name of its pool: unique among all members. */
  listeners: RenderedListener[];
  sourceRanges: string[];
  /** As of RenderedLoadBalancer. */
  afterMembers?: true;
  retiring?: true;
}

/** Everything that names a placement, rendered. Pure. */
export function renderShared(inputs: LoadBalancerInput[], scope: NameScope): RenderedSharedLoadBalancer[] {
  const groups = new Map<string, Generation[]>();
  for (const generation of generationsOf([...inputs].sort((a, b) => (a.uid < b.uid ? -1 : 1)))) {
    if (generation.input.spec.placement === undefined) continue;
    const name = sharedName(generation.input, scope);
    groups.set(name, [...(groups.get(name) ?? []), generation]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, members]) => renderGroup(name, members));
}

/**
 * The listeners of a shared load balancer with their members, in the order in which they are sent to the cloud: that of their names, so that
 * the order of the members makes no difference. Pure.
 */
export function listenersOf({ members }: RenderedSharedLoadBalancer): { member: RenderedMember; listener: RenderedListener }[] {
  const all = members.flatMap((member) => member.listeners.map((listener) => ({ member, listener })));
  return all.sort((a, b) => (a.listener.name < b.listener.name ? -1 : 1));
}

/**
 * Members at fault for a failed update: those whose pool or address failed, else the one whose listener the cloud names in the error's field,
 * such as `listeners[2].port`. Pure.
 */
export function membersAtFault(error: OperatorError, inputs: LoadBalancerInput[], scope: NameScope): string[] {
  const failed = error.resource?.split('::').at(-1);
  if (failed === undefined) return [];
  const owner = inputs.filter(({ ownerUID }) => failed === cloudName(ownerUID) || failed.startsWith(`${cloudName(ownerUID)}-`));
  if (owner.length > 0) return owner.map(({ uid }) => uid);
  const shared = renderShared(inputs, scope).find(({ name }) => failed === name || failed.startsWith(`${name}-`));
  if (shared === undefined) return [];
  if (failed !== shared.name) return whoAskedFor(failed, shared);
  const position = /^listeners\[(\d+)\]/.exec(error.field ?? '')?.[1];
  const named = position === undefined ? undefined : listenersOf(shared)[Number(position)];
  return named === undefined ? [] : [named.member.uid];
}

/** The address that nobody asked for is nobody's fault. */
function whoAskedFor(address: string, { addresses, members }: RenderedSharedLoadBalancer): string[] {
  const asked = addresses.some(({ name, requestedIP }) => name === address && requestedIP !== undefined);
  return asked ? members.filter((member) => member.addresses.includes(address)).map(({ uid }) => uid) : [];
}

function renderGroup(name: string, generations: Generation[]): RenderedSharedLoadBalancer[] {
  const first = generations[0]?.input;
  if (first === undefined) return [];
  const addresses = generations.flatMap(({ input }) => renderAddresses(name, input.spec));
  const unique = [...new Map(addresses.map((address) => [address.name, address])).values()];
  return [
    {
      name,
      ownerUID: name,
      owner: `placement ${placementOf(first)}`,
      scheme: first.spec.scheme,
      ...modeOf(first.spec),
      addresses: unique.sort((a, b) => (a.name < b.name ? -1 : 1)),
      members: generations.map((generation) => renderMember(generation, renderAddresses(name, generation.input.spec))),
    },
  ];
}

function renderMember(of: Generation, addresses: RenderedAddress[]): RenderedMember {
  const { uid, ownerUID, namespace, name, spec, generation } = of.input;
  const listeners = spec.listeners.map((listener) => {
    const rendered = renderListener(cloudName(ownerUID, generation), listener, spec);
    return { ...rendered, name: rendered.pool.name };
  });
  return {
    uid,
    ownerUID,
    owner: `${namespace}/${name}`,
    addresses: addresses.map((address) => address.name),
    listeners: listeners.sort((a, b) => (a.name < b.name ? -1 : 1)),
    sourceRanges: renderSourceRanges(spec),
    ...marksOf(of),
  };
}

/** Apart from those of every other cluster, CloudProvider, placement, scheme and engine. */
function sharedName(input: LoadBalancerInput, { clusterID, providerName }: NameScope): string {
  const engine = engineOf(input.spec) === 'Node' ? [] : [engineOf(input.spec)];
  return `p${hashJson([clusterID, providerName, placementOf(input), input.spec.scheme, ...engine])}`.slice(0, NAME_LENGTH);
}

function placementOf({ namespace, spec: { placement } }: LoadBalancerInput): string {
  return `${placement?.namespace ?? namespace}/${placement?.name ?? ''}`;
}
