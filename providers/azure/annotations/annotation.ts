import type { Json } from '../../../operator/base/json';
import type { Parse } from '../../annotation-values';

/** What stands before the name of every annotation of this cloud but those of single ports. */
export const ANNOTATION_PREFIX = 'service.beta.kubernetes.io/azure-';
/** What stands before the number of a port in the others: `service.beta.kubernetes.io/port_443_no_lb_rule`. */
export const PORT_PREFIX = 'service.beta.kubernetes.io/port_';

/** One annotation on a Service. */
export interface Annotation {
  /** Without the prefix; of those of single ports, what comes after the number and its underscore. */
  name: string;
  /** What it sets below `CloudLoadBalancer.spec.azure`, as a path; `spec.scheme` is the one beside it. */
  field: string;
  /** What holds while nothing sets it, in words. */
  default: string;
  /** False: a change replaces the load balancer's frontend. */
  mutable: boolean;
  /** The scheme that it means something to. */
  only?: 'Public' | 'Internal';
  /** What to write, for people. */
  expects: string;
  /** Reads a text that is trimmed and not empty. @throws Error */
  parse: Parse;
}

/** A truth value as upstream reads it: whatever is not `true` is false. What is neither is warned of (`isTruth`). */
export const TRUTH = { expects: 'true or false', parse: (text: string): boolean => text.toLowerCase() === 'true' };
/** The same of an annotation that switches something off. */
export const TRUTH_OF_OPPOSITE = { expects: 'true or false', parse: (text: string): boolean => text.toLowerCase() !== 'true' };

/** False for a text that upstream takes for false though its author may have meant something else. */
export function isTruth(text: string): boolean {
  return ['true', 'false'].includes(text.toLowerCase());
}

/** True where the annotation is one of those. */
export function isOfTruth({ expects }: Annotation): boolean {
  return expects === TRUTH.expects;
}

/** Values separated by spaces, as the annotations of Private Link Services have them; one that stands there twice counts once. */
export function spaced<T extends Json>(item: Parse<T>): Parse<T[]> {
  return (text) => [...new Set(text.split(/\s+/))].map(item);
}

export const NAME = /^[A-Za-z0-9]([\w.-]{0,78}\w)?$/;
export const RESOURCE_GROUP = /^[\w().-]{0,89}[\w()-]$/;
export const PREFIX_ID = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Network\/publicIPPrefixes\/[^/]+$/i;
