import type { AzureLoadBalancer, AzureProviderSettings, CloudProviderSpec } from '../../../crds';
import { sameID } from '../client/resource-id';
import { type Asking, type Holder, holderOf } from '../load-balancers/address-holder';
import { type Configuration, isUndecided, refusalOf, type Selected } from '../load-balancers/eligible';
import { placesOf } from '../load-balancers/entries';
import { configurationOf } from '../load-balancers/placement';
import { ANNOTATION_PREFIX } from './annotation';
import type { Problem } from '../../provider';
import type { Reading } from './annotations';

const FIELD = `${ANNOTATION_PREFIX}load-balancer-configurations`;

/**
 * Writes which of several load balancers may carry the Service: those that it names, else all that take new ones, each only where its selectors hold
 * (cloud-provider-azure, "Multiple Standard LoadBalancers"). One that takes no new ones keeps those that might be on it. With others than before a Service moves.
 * Who asks for an address that is on one of them goes there, or nowhere.
 */
export function placementOf(reading: Reading, settings: CloudProviderSpec | undefined): void {
  const { azure } = settings ?? {};
  const all = azure?.loadBalancers ?? [];
  if (azure === undefined || all.length === 0) return;
  const named = reading.block.configurations as string[] | undefined;
  const asked = named ?? all.map(({ name }) => name);
  const selected = selectedOf(reading);
  if (all.some((one) => isAmong(asked, one.name) && isUndecided(one, selected))) return tell(reading, undecided(selected));
  const refused = all.flatMap((one) => refusalsOf(one, reading, named));
  const of = refused.filter(({ name }) => isAmong(asked, name));
  // A name that is none is told of when the load balancer is validated.
  const names = asked.filter((name) => !of.some((one) => sameID(one.name, name)));
  const isMore = named !== undefined && of.length > 0;
  if (names.length === 0) return tell(reading, told(of, true));
  if (isMore) tell(reading, told(of, false));
  reading.block.configurations = names;
  joinHolder(reading, { names, refused, settings: azure });
}

function tell({ given, problems }: Reading, problem: Pick<Problem, 'severity' | 'message'>): void {
  problems.push({ field: FIELD, value: given.get(FIELD) ?? '', ...problem });
}

/** Azure has one frontend for an address: on another load balancer than that of its holder it is refused, or taken from that one. */
function joinHolder(
  reading: Reading,
  { names, refused, settings }: { names: readonly string[]; refused: readonly Refused[]; settings: AzureProviderSettings },
): void {
  const { ipFamilies = ['IPv4'], addresses, neighbors, current } = reading.service;
  const azure = reading.block as AzureLoadBalancer;
  const asking: Asking = { scheme: reading.scheme, ipFamilies, addresses, azure };
  if (neighbors === undefined || placesOf(asking).length === 0) return;
  const holder = holderOf(asking, { neighbors: neighbors(), current }, settings);
  if (holder === undefined || sameID(holder.configuration, configurationOf({ uid: '', spec: asking }, settings))) return;
  const there = names.find((name) => sameID(name, holder.configuration));
  if (there !== undefined) reading.block.configurations = [there];
  else if (holder.key !== undefined) tell(reading, { severity: 'Error', message: heldElsewhere(holder, refused) });
}

function heldElsewhere({ place, key, configuration }: Holder, refused: readonly Refused[]): string {
  const { reason, isNamed } = refused.find(({ name }) => sameID(name, configuration)) ?? { reason: 'it is none of the CloudProvider' };
  const where = `load balancer ${configuration}, which does not take the Service (${reason})`;
  const [why, remedy] = isNamed
    ? [": the two can't be combined, since an address is on one load balancer", `Name ${configuration}`]
    : [', and an address is on one load balancer', 'Let that one take the Service'];
  return `${place} belongs to ${key}, on ${where}${why}. ${remedy}, or ask for another address.`;
}

function told(refused: readonly Refused[], isNone: boolean): Pick<Problem, 'severity' | 'message'> {
  const reasons = refused.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  if (!isNone) return { severity: 'Warning', message: `not all of them take the Service (${reasons}). Remove those.` };
  const remedy = 'Label the Service so that one takes it, or change spec.azure.loadBalancers of the CloudProvider';
  return { severity: 'Error', message: `no load balancer takes the Service (${reasons}). ${remedy}.` };
}

/** Whoever is placed before its namespace's labels are known might have to move when they are. */
function undecided({ namespace }: Selected): Pick<Problem, 'severity' | 'message'> {
  const message = `the labels of namespace ${namespace} are not known yet, by which a load balancer takes the Service or not. It goes on by itself.`;
  return { severity: 'Error', message };
}

function selectedOf({ service: { labels = {}, namespace = '', namespaceLabels } }: Reading): Selected {
  return { labels, namespace, ...(namespaceLabels !== undefined && { namespaceLabels }) };
}

interface Refused {
  name: string;
  reason: string;
  /** The annotation names others. */
  isNamed?: boolean;
}

function refusalsOf(one: Configuration, reading: Reading, named: readonly string[] | undefined): Refused[] {
  const had = reading.service.current?.azure?.configurations ?? [];
  const bySelectors = refusalOf(one, selectedOf(reading));
  const reason = bySelectors ?? closedBy(one, { named, had });
  return reason === undefined ? [] : [{ name: one.name, reason, isNamed: bySelectors === undefined && named !== undefined }];
}

/** Why a load balancer that takes a Service by its labels does not take it all the same. @param had those that it may have been on */
function closedBy(
  { name, allowServicePlacement }: Configuration,
  { named, had }: { named: readonly string[] | undefined; had: readonly string[] },
): string | undefined {
  if (named !== undefined) return isAmong(named, name) ? undefined : `the annotation names ${named.join(', ')}`;
  return allowServicePlacement || isAmong(had, name) ? undefined : 'its allowServicePlacement is false';
}

function isAmong(names: readonly string[], name: string): boolean {
  return names.some((one) => sameID(one, name));
}
