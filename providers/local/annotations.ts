import type { CloudProviderSpec, LocalLoadBalancer } from '../../crds';
import { parseDuration } from '../../operator/base/duration';
import { toOperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import { similarTo } from '../../operator/base/similar';
import type { Compiled, Problem, ServiceFacts } from '../provider';

/** What stands before the name of every annotation of this cloud. */
export const ANNOTATION_PREFIX = 'local.cloud-operator.dev/';

/** One annotation on a Service. */
export interface Annotation {
  /** Without the prefix. */
  name: string;
  /** Field of `CloudLoadBalancer.spec.local` that it sets. */
  field: keyof LocalLoadBalancer;
  /** The field's value while nothing sets it. */
  default: string | number;
  /** False: a change replaces the load balancer. */
  mutable: boolean;
  /** What to write, for people. */
  expects: string;
  /** @throws OperatorError or Error when the text can't be read */
  parse(text: string): string | number;
}

/** Every annotation of this cloud. */
export const ANNOTATIONS: readonly Annotation[] = [
  {
    name: 'engine',
    field: 'engine',
    default: 'Node',
    mutable: false,
    expects: 'Node or Passthrough',
    parse: oneOf(['Node', 'Passthrough']),
  },
  {
    name: 'health-check-interval',
    field: 'healthCheckIntervalMs',
    default: 500,
    mutable: true,
    expects: 'a duration from 50ms to 10m',
    parse: durationIn(1, 50, 600_000),
  },
  {
    name: 'drain-seconds',
    field: 'drainSeconds',
    default: 5,
    mutable: true,
    expects: 'a whole number of seconds from 0 to 3600',
    parse: wholeNumber(0, 3600),
  },
  {
    name: 'name',
    field: 'name',
    default: 'made of the UID',
    mutable: false,
    expects: 'lower-case letters, digits and "-" between them, at most 63',
    parse: cloudObjectName,
  },
  {
    name: 'idle-timeout',
    field: 'idleTimeoutSeconds',
    default: 350,
    mutable: true,
    expects: 'a duration from 1s to 4000s, in whole seconds',
    parse: durationIn(1000, 1, 4000),
  },
  {
    name: 'proxy-protocol',
    field: 'proxyProtocol',
    default: 'None',
    mutable: true,
    expects: 'true or v2, v1, or false',
    parse: proxyProtocol,
  },
];

/** The value that a field of `spec.local` has while nothing sets it. */
export function defaultOf(field: keyof LocalLoadBalancer): number {
  return Number(ANNOTATIONS.find((annotation) => annotation.field === field)?.default);
}

/**
 * Compiles a Service's annotations into `CloudLoadBalancer.spec.local`; what they leave open is as the CloudProvider's settings say. Pure; never throws.
 */
export function compile(
  annotations: Record<string, string>,
  _service?: ServiceFacts,
  settings?: Pick<CloudProviderSpec, 'local'>,
): Compiled {
  const ours = Object.entries(annotations).filter(([key]) => key.startsWith(ANNOTATION_PREFIX));
  const { engine } = settings?.local ?? {};
  const block: JsonObject = engine === undefined ? {} : { engine };
  const problems: Problem[] = [];
  for (const [key, value] of ours.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const annotation = ANNOTATIONS.find(({ name }) => key === ANNOTATION_PREFIX + name);
    if (annotation === undefined) {
      problems.push(unknown(key, value));
      continue;
    }
    try {
      block[annotation.field] = annotation.parse(value.trim());
    } catch (thrown) {
      problems.push({ severity: 'Error', field: key, value, message: `${toOperatorError(thrown).message}. Write ${annotation.expects}.` });
    }
  }
  return { block, problems };
}

function unknown(key: string, value: string): Problem {
  const known = ANNOTATIONS.map(({ name }) => ANNOTATION_PREFIX + name);
  const meant = similarTo(key, known);
  return {
    severity: 'Warning',
    field: key,
    value,
    message: `not known, and without effect. ${meant === undefined ? '' : `Did you mean ${meant}? `}Remove it, or use one of ${known.join(', ')}.`,
  };
}

/** Reads a duration as a whole number of `unitMs` between `least` and `most`. */
function durationIn(unitMs: number, least: number, most: number): (text: string) => number {
  return (text) => within(parseDuration(text) / unitMs, text, [least, most]);
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => within(/^[0-9]+$/.test(text) ? Number(text) : NaN, text, [least, most]);
}

function within(amount: number, text: string, [least, most]: [number, number]): number {
  if (!Number.isInteger(amount)) throw new Error(`"${text}" does not give a whole number`);
  if (amount < least || amount > most) throw new Error(`"${text}" is out of range`);
  return amount;
}

function proxyProtocol(text: string): string {
  const versions: Record<string, string> = { true: 'V2', v2: 'V2', v1: 'V1', false: 'None' };
  const key = text.toLowerCase();
  const version = Object.hasOwn(versions, key) ? versions[key] : undefined;
  if (version === undefined) throw new Error(`"${text}" is not known`);
  return version;
}

function cloudObjectName(text: string): string {
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text) || text.length > 63) throw new Error(`"${text}" can't be a name`);
  return text;
}

function oneOf(values: readonly string[]): (text: string) => string {
  return (text) => {
    if (!values.includes(text)) throw new Error(`"${text}" is not known`);
    return text;
  };
}
