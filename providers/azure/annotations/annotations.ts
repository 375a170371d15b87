import type { CloudProviderSpec } from '../../../crds';
import { toOperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { similarTo } from '../../../operator/base/similar';
import { setAt } from '../../annotation-block';
import type { Compiled, Problem, ServiceFacts } from '../../provider';
import { type Annotation, ANNOTATION_PREFIX, isOfTruth, isTruth, PORT_PREFIX } from './annotation';
import { contradictionsOf } from './annotation-contradictions';
import { ANNOTATIONS, OF_PORTS, WITHOUT_EFFECT } from './annotation-table';
import { placementOf } from './placement';

/** A Service's annotations while they are read. */
export interface Reading {
  /** Whole keys → texts, trimmed; an empty one counts as absent. */
  given: ReadonlyMap<string, string>;
  /** `spec.azure` as far as it is known. */
  block: JsonObject;
  scheme: 'Public' | 'Internal';
  service: ServiceFacts;
  problems: Problem[];
}

/** Compiles a Service's annotations into `CloudLoadBalancer.spec.azure`. Pure; never throws. */
export function compile(
  annotations: Record<string, string>,
  service: ServiceFacts = { ports: [] },
  settings?: CloudProviderSpec,
): Compiled {
  const reading: Reading = { given: ownOf(annotations), block: {}, scheme: 'Public', service, problems: [] };
  for (const annotation of ANNOTATIONS) readOne(reading, annotation);
  readPorts(reading);
  readUnknown(reading);
  readOnlyIPv6(reading);
  contradictionsOf(reading);
  placementOf(reading, settings);
  const { block, problems, scheme } = reading;
  const isSaid = reading.given.has(`${ANNOTATION_PREFIX}load-balancer-internal`);
  return { block, problems, ...(isSaid && { core: { scheme } }) };
}

function ownOf(annotations: Record<string, string>): Reading['given'] {
  const own = Object.entries(annotations).filter(([key]) => key.startsWith(ANNOTATION_PREFIX) || key.startsWith(PORT_PREFIX));
  const trimmed = own.map(([key, text]): [string, string] => [key, text.trim()]).filter(([, text]) => text !== '');
  return new Map(trimmed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readOne(reading: Reading, annotation: Annotation): void {
  const key = ANNOTATION_PREFIX + annotation.name;
  const text = reading.given.get(key);
  if (text === undefined) return;
  const value = valueOf(reading, annotation, key);
  if (value === undefined) return;
  if (annotation.field === 'spec.scheme') reading.scheme = value === 'Internal' ? 'Internal' : 'Public';
  else if (annotation.only !== undefined && annotation.only !== reading.scheme) reading.problems.push(foreign(annotation, key, text));
  else if (annotation.name !== 'pls-create') setAt(reading.block, annotation.field, value);
  else if (value === true) reading.block.privateLink = {};
}

/** Undefined where it can't be read: that is said. */
function valueOf({ given, problems }: Reading, annotation: Annotation, key: string): JsonObject[string] | undefined {
  const value = given.get(key) ?? '';
  if (isOfTruth(annotation) && !isTruth(value)) {
    const message = 'neither true nor false, and counts as false, as upstream has it. Write true or false.';
    problems.push({ severity: 'Warning', field: key, value, message });
  }
  try {
    return annotation.parse(value);
  } catch (thrown) {
    const message = `${toOperatorError(thrown).message}. Write ${annotation.expects}.`;
    problems.push({ severity: 'Error', field: key, value, message });
    return undefined;
  }
}

/** `port_<number>_<name>`, in the order of the numbers. */
function readPorts(reading: Reading): void {
  const ports = new Map<number, JsonObject>();
  for (const key of reading.given.keys()) {
    const [, number = '', name = ''] = /^([0-9]{1,5})_(.+)$/.exec(key.startsWith(PORT_PREFIX) ? key.slice(PORT_PREFIX.length) : '') ?? [];
    const annotation = OF_PORTS.find((one) => one.name === name);
    if (annotation === undefined) continue;
    const port = Number(number);
    const { service, problems } = reading;
    if (service.ports.length > 0 && !service.ports.some((one) => one.port === port)) {
      const message = `without effect: the Service has no port ${port}. Remove it, or write the number of one that it has.`;
      problems.push({ severity: 'Warning', field: key, value: reading.given.get(key) ?? '', message });
      continue;
    }
    const value = valueOf(reading, annotation, key);
    if (value !== undefined) ports.set(port, { ...ports.get(port), [annotation.field.replace('ports[].', '')]: value });
  }
  const settings = [...ports].sort(([a], [b]) => a - b).map(([port, values]) => ({ port, ...values }));
  if (settings.length > 0) reading.block.ports = settings;
}

/** As upstream: what names no family is for IPv6 where that is the only one, and nothing else is said of it. */
function readOnlyIPv6({ service: { ipFamilies }, block }: Reading): void {
  if (block.publicIP === undefined || ipFamilies?.join() !== 'IPv6') return;
  const said = block.publicIP as { [field: string]: string };
  for (const [field, ofIPv6] of [
    ['ipv4Name', 'ipv6Name'],
    ['ipv4PrefixID', 'ipv6PrefixID'],
  ] as const) {
    if (said[field] === undefined || said[ofIPv6] !== undefined) continue;
    said[ofIPv6] = said[field];
    delete said[field];
  }
}

function readUnknown({ given, problems }: Reading): void {
  for (const [key, value] of given) {
    const message = remarkOn(key);
    if (message !== undefined) problems.push({ severity: 'Warning', field: key, value, message });
  }
}

/** What is said of an annotation that sets nothing; undefined where it does. */
function remarkOn(key: string): string | undefined {
  if (key.startsWith(PORT_PREFIX)) {
    const name = /^[0-9]{1,5}_(.+)$/.exec(key.slice(PORT_PREFIX.length))?.[1];
    if (name !== undefined && OF_PORTS.some((one) => one.name === name)) return undefined;
    return `not known, and without effect. Write ${PORT_PREFIX}<port>_ with one of ${OF_PORTS.map((one) => one.name).join(', ')}.`;
  }
  const name = key.slice(ANNOTATION_PREFIX.length);
  if (ANNOTATIONS.some((one) => one.name === name)) return undefined;
  if (Object.hasOwn(WITHOUT_EFFECT, name)) return `without effect: ${WITHOUT_EFFECT[name]}.`;
  return `not known, and without effect. ${suggestion(name)}`;
}

function suggestion(name: string): string {
  const names = ANNOTATIONS.map((annotation) => annotation.name);
  const meant = similarTo(name, names);
  if (meant !== undefined) return `Did you mean ${ANNOTATION_PREFIX}${meant}?`;
  const words = name.split('-');
  const like = names.filter((known) => known.split('-').some((word) => words.includes(word)));
  const named = like.length === 0 ? 'one of docs/clouds/azure.md' : `one of ${like.join(', ')} (after ${ANNOTATION_PREFIX})`;
  return `Remove it, or use ${named}.`;
}

function foreign({ only }: Annotation, field: string, value: string): Problem {
  const what = only === 'Internal' ? 'a public' : 'an internal';
  const remedy = only === 'Internal' ? `set ${ANNOTATION_PREFIX}load-balancer-internal: "true"` : 'it is for public ones';
  return { severity: 'Warning', field, value, message: `without effect on ${what} load balancer. Remove it, or ${remedy}.` };
}
