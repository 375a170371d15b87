import type { CloudProviderSpec } from '../../../crds';
import { type Configuration, isUndecided, refusalOf, type Selected } from '../load-balancers/eligible';
import { ANNOTATION_PREFIX } from './annotation';
import type { Problem } from '../../provider';
import type { Reading } from './annotations';

const FIELD = `${ANNOTATION_PREFIX}load-balancer-configurations`;

/**
 * Writes which of several load balancers may carry the Service: those that it names, else all that take new ones, each only where its selectors hold
 * (cloud-provider-azure, "Multiple Standard LoadBalancers"). One that takes no new ones keeps those that might be on it. With others than before a Service moves.
 */
export function placementOf(reading: Reading, settings: CloudProviderSpec | undefined): void {
  const all = settings?.azure?.loadBalancers ?? [];
  if (all.length === 0) return;
  const named = reading.block.configurations as string[] | undefined;
  const asked = named ?? all.map(({ name }) => name);
  const selected = selectedOf(reading);
  if (all.some((one) => asked.includes(one.name) && isUndecided(one, selected))) return void reading.problems.push(undecided(reading));
  const refused = all.filter(({ name }) => asked.includes(name)).flatMap((one) => refusalsOf(one, reading, named !== undefined));
  // A name that is none is told of when the load balancer is validated.
  const names = asked.filter((name) => refused.every((one) => one.name !== name));
  if (names.length > 0) reading.block.configurations = names;
  const [isNone, isMore] = [names.length === 0, named !== undefined && refused.length > 0];
  if (isNone || isMore) reading.problems.push({ field: FIELD, value: reading.given.get(FIELD) ?? '', ...told(refused, isNone) });
}

function told(refused: readonly Refused[], isNone: boolean): Pick<Problem, 'severity' | 'message'> {
  const reasons = refused.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  if (!isNone) return { severity: 'Warning', message: `not all of them take the Service (${reasons}). Remove those.` };
  const remedy = 'Label the Service so that one takes it, or change spec.azure.loadBalancers of the CloudProvider';
  return { severity: 'Error', message: `no load balancer takes the Service (${reasons}). ${remedy}.` };
}

/** Whoever is placed before its namespace's labels are known might have to move when they are. */
function undecided({ given, service: { namespace = '' } }: Reading): Problem {
  const message = `the labels of namespace ${namespace} are not known yet, by which a load balancer takes the Service or not. It goes on by itself.`;
  return { field: FIELD, value: given.get(FIELD) ?? '', severity: 'Error', message };
}

function selectedOf({ service: { labels = {}, namespace = '', namespaceLabels } }: Reading): Selected {
  return { labels, namespace, ...(namespaceLabels !== undefined && { namespaceLabels }) };
}

interface Refused {
  name: string;
  reason: string;
}

function refusalsOf(one: Configuration, reading: Reading, isNamed: boolean): Refused[] {
  const { current } = reading.service;
  const mayHave = isNamed || one.allowServicePlacement || current?.azure?.configurations?.includes(one.name) === true;
  const reason = refusalOf(one, selectedOf(reading)) ?? (mayHave ? undefined : 'its allowServicePlacement is false');
  return reason === undefined ? [] : [{ name: one.name, reason }];
}
