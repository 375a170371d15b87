import { ANNOTATIONS } from '../../crds';
import { leverOn, type Lever } from '../cloud/levers';
import { finding, type Finding } from './finding';
import type { StoredLoadBalancer, StoredProvider, StoredRoute } from './kinds';

type Held = Pick<StoredLoadBalancer | StoredRoute, 'metadata' | 'spec'>;

/** The lever that is in force on an object. @param provider undefined = there is none, or it can't be looked at. Pure. */
export function leverInForce(object: Parameters<typeof leverOn>[0], provider: StoredProvider | undefined): Lever | undefined {
  const frozen = provider?.spec.freeze === true ? provider.metadata.name : undefined;
  const observes = (): boolean => provider?.spec.managementPolicy === 'Observe';
  const pauseOf = (): string | undefined => provider?.metadata.annotations?.[ANNOTATIONS.pause];
  return leverOn(object, { observes, pauseOf }, { leading: true, frozen });
}

/** The same of all that is a CloudProvider's. Pure. */
export function leverOfAll(provider: StoredProvider): Lever | undefined {
  // As of an object that has set nothing itself.
  return leverInForce({ metadata: { ...provider.metadata, annotations: {} }, spec: { provider: provider.metadata.name } }, provider);
}

/** What a person has set that keeps changes out of the cloud, and how it is taken back. Pure. */
export function leverFindings(object: Held, provider: StoredProvider | 'Unreadable' | undefined): Finding[] {
  const lever = leverInForce(object, provider === 'Unreadable' ? undefined : provider);
  if (lever === undefined) return [];
  return [finding('waiting', `Nothing changes: ${lever.why}`, `docs/operate/levers.md; to go on: ${wayOn(lever, object)}`)];
}

function wayOn({ kind, why }: Lever, object: Held): string {
  const isItsOwn = leverInForce(object, undefined)?.why === why;
  const { provider } = object.spec;
  if (kind === 'Released') return 'docs/operate/adopt.md';
  if (kind === 'Observe' && isItsOwn)
    return `take spec.managementPolicy off, or the annotation ${ANNOTATIONS.managementPolicy} off its Service, where that has it`;
  if (kind === 'Observe') return `take spec.managementPolicy off CloudProvider ${provider}`;
  const { namespace, name } = object.metadata;
  const itself = namespace === undefined ? `cloudroute/${name}` : `${name} -n ${namespace}`;
  return `kubectl cloud resume ${isItsOwn ? itself : `cloudprovider/${provider}`}`;
}
