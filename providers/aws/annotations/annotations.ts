import type { CloudProviderSpec } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { toOperatorError } from '../../../operator/base/errors';
import { similarTo } from '../../../operator/base/similar';
import { setAt } from '../../annotation-block';
import type { Compiled, Problem, ServiceFacts } from '../../provider';
import { groupModeOf } from '../scope';
import { type Annotation, ANNOTATION_PREFIX } from './annotation';
import { listenerAttributes } from './annotation-attributes';
import { contradictionsOf, type Reading } from './annotation-contradictions';
import { ANNOTATIONS, LISTENER_ATTRIBUTES, UNSUPPORTED, UNSUPPORTED_PREFIXES } from './annotation-table';

/** The class of Services that the AWS Load Balancer Controller takes; here only where a CloudProvider claims it. */
export const LOAD_BALANCER_CONTROLLER_CLASS = 'service.k8s.aws/nlb';
/** The AWS Load Balancer Controller also reads this one. */
const SECOND_PREFIX = 'service.kubernetes.io/aws-load-balancer-';
/** Types that mean: not mine (contract 11). */
const LEFT_TO_OTHERS = ['external', 'nlb-ip'];

/**
 * Compiles a Service's annotations into `CloudLoadBalancer.spec.aws`. Pure; never throws.
 * Classic or Network is chosen as upstream does; a Service with a class gets a Network load balancer where it does not ask for a Classic one.
 */
export function compile(
  annotations: Record<string, string>,
  service: ServiceFacts = { ports: [] },
  settings?: CloudProviderSpec,
): Compiled {
  const given = ownOf(annotations);
  const { loadBalancerClass } = service;
  const type = given.get('type')?.text ?? '';
  if (loadBalancerClass === undefined && LEFT_TO_OTHERS.includes(type)) {
    const leftTo = `the AWS Load Balancer Controller, by the annotation ${ANNOTATION_PREFIX}type: "${type}"`;
    return { block: {}, problems: [], leftTo };
  }
  const reading = begin(given, service);
  for (const annotation of ANNOTATIONS) readOne(reading, annotation);
  readListeners(reading);
  readUnknown(reading);
  contradictionsOf(reading);
  rememberNoGroup(reading, settings);
  const { block, problems, scheme } = reading;
  return { block, problems, ...(scheme === undefined ? {} : { core: { scheme } }) };
}

/**
 * An NLB that is made without a group can never get one. So that a CloudProvider which changes its mind later replaces it, in place of asking AWS
 * for what can't be, the choice is part of the spec.
 */
function rememberNoGroup({ block, network }: Reading, settings: CloudProviderSpec | undefined): void {
  const groups = block.securityGroups as JsonObject | undefined;
  const isSaid = groups?.mode !== undefined || groups?.groups !== undefined || groups?.prefixListIDs !== undefined;
  if (!network || isSaid || settings?.aws === undefined || groupModeOf(settings.aws) === 'Managed') return;
  setAt(block, 'securityGroups.mode', 'None');
}

function begin(given: Reading['given'], service: ServiceFacts): Reading {
  const { loadBalancerClass } = service;
  const type = given.get('type')?.text;
  // The class has decided already; external is what the AWS Load Balancer Controller's Services say.
  if (loadBalancerClass !== undefined && type === 'external') given.delete('type');
  const network = type === 'nlb' || (loadBalancerClass !== undefined && type !== 'classic');
  const reading: Reading = { given, block: { type: network ? 'Network' : 'Classic' }, network, service, problems: [] };
  return loadBalancerClass === LOAD_BALANCER_CONTROLLER_CLASS ? { ...reading, scheme: 'Internal' } : reading;
}

/** Ours, without the prefix and with their texts trimmed; an empty one counts as absent, as upstream has it. */
function ownOf(annotations: Record<string, string>): Reading['given'] {
  const given: Reading['given'] = new Map();
  for (const prefix of [SECOND_PREFIX, ANNOTATION_PREFIX]) {
    for (const [key, text] of Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!key.startsWith(prefix) || text.trim() === '') continue;
      given.set(key.slice(prefix.length), { key, text: text.trim() });
    }
  }
  return given;
}

function readOne(reading: Reading, annotation: Annotation): void {
  const at = reading.given.get(annotation.name);
  if (at === undefined) return;
  const kind = reading.network ? 'Network' : 'Classic';
  if (annotation.only !== undefined && annotation.only !== kind) {
    reading.problems.push(withoutEffect(at, annotation.only));
    return;
  }
  try {
    assign(reading, annotation, annotation.parse(at.text));
  } catch (thrown) {
    const message = `${toOperatorError(thrown).message}. Write ${annotation.expects}.`;
    reading.problems.push({ severity: 'Error', field: at.key, value: at.text, message });
  }
}

function assign(reading: Reading, { name, field }: Annotation, value: JsonObject[string]): void {
  const { block } = reading;
  if (field === 'spec.scheme') {
    reading.scheme = value === 'Internal' ? 'Internal' : 'Public';
  } else if (field === '') {
    for (const [key, inner] of Object.entries(value as JsonObject)) setAt(block, key, inner);
  } else if (field.startsWith('listeners[]')) {
    block.listeners = value;
  } else if (name === 'proxy-protocol' && reading.network) {
    proxyProtocolOfNetwork(reading);
  } else {
    setAt(block, field, value);
  }
}

/** Upstream's Network load balancers pass the annotation over; those of the AWS Load Balancer Controller follow it. */
function proxyProtocolOfNetwork({ block, given, service, problems }: Reading): void {
  if (service.loadBalancerClass !== undefined) return setAt(block, 'targetGroup.proxyProtocolV2', true);
  const { key = '', text = '' } = given.get('proxy-protocol') ?? {};
  const message = `without effect on a Network load balancer, as upstream has it. Write ${ANNOTATION_PREFIX}target-group-attributes: proxy_protocol_v2.enabled=true, or remove it.`;
  problems.push({ severity: 'Warning', field: key, value: text, message });
}

function readListeners(reading: Reading): void {
  for (const [name, at] of reading.given) {
    const port = /^listener-attributes\.[A-Za-z_]+-([0-9]{1,5})$/.exec(name)?.[1];
    if (port === undefined) continue;
    if (!reading.network) {
      reading.problems.push(withoutEffect(at, 'Network'));
      continue;
    }
    try {
      setListener(reading.block, Number(port), listenerAttributes(at.text));
    } catch (thrown) {
      const message = `${toOperatorError(thrown).message}. Write tcp.idle_timeout.seconds=<60 to 6000>.`;
      reading.problems.push({ severity: 'Error', field: at.key, value: at.text, message });
    }
  }
}

function setListener(block: JsonObject, port: number, settings: JsonObject): void {
  const listeners = (block.listeners ?? []) as JsonObject[];
  const there = listeners.find((listener) => listener.port === port);
  if (there === undefined) listeners.push({ port, ...settings });
  else Object.assign(there, settings);
  block.listeners = listeners;
}

function readUnknown({ given, problems }: Reading): void {
  for (const [name, { key, text }] of given) {
    if (ANNOTATIONS.some((annotation) => annotation.name === name) || name.startsWith(LISTENER_ATTRIBUTES)) continue;
    const remedy = remedyOf(name);
    // off is what it is without the annotation
    if (remedy !== undefined && ['false', 'off'].includes(text)) continue;
    problems.push(
      remedy === undefined
        ? { severity: 'Warning', field: key, value: text, message: `not known, and without effect. ${suggestion(name)}` }
        : { severity: 'Error', field: key, value: text, message: `${remedy}.` },
    );
  }
}

function remedyOf(name: string): string | undefined {
  if (Object.hasOwn(UNSUPPORTED, name)) return UNSUPPORTED[name];
  return Object.entries(UNSUPPORTED_PREFIXES).find(([prefix]) => name.startsWith(prefix))?.[1];
}

function suggestion(name: string): string {
  const meant = similarTo(
    name,
    ANNOTATIONS.map((annotation) => annotation.name),
  );
  if (meant !== undefined) return `Did you mean ${ANNOTATION_PREFIX}${meant}?`;
  const words = name.split('-');
  const like = ANNOTATIONS.map((annotation) => annotation.name).filter((known) => words.some((word) => known.split('-').includes(word)));
  const named = like.length === 0 ? 'one of docs/reference/annotations.md' : `one of ${like.join(', ')} (after ${ANNOTATION_PREFIX})`;
  return `Remove it, or use ${named}.`;
}

function withoutEffect({ key, text }: { key: string; text: string }, only: 'Network' | 'Classic'): Problem {
  const remedy = only === 'Network' ? `set ${ANNOTATION_PREFIX}type: nlb` : 'it is for Classic load balancers';
  const kind = only === 'Network' ? 'Classic' : 'Network';
  return { severity: 'Warning', field: key, value: text, message: `without effect on a ${kind} load balancer. Remove it, or ${remedy}.` };
}
