import * as read from './annotation-values';

/** What stands before the name of every annotation of this cloud: upstream's and the AWS Load Balancer Controller's. */
export const ANNOTATION_PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';

/** One annotation on a Service. */
export interface Annotation {
  /** Without the prefix. */
  name: string;
  /** What it sets below `CloudLoadBalancer.spec.aws`, as a path; `spec.scheme` is the one beside it. */
  field: string;
  /** What holds while nothing sets it, in words. */
  default: string;
  /** False: a change replaces the load balancer. TargetGroups: it is made by new ones beside the old. Classic: in place there, else as false. */
  mutable: boolean | 'TargetGroups' | 'Classic';
  /** The one kind of load balancer that it means something to. */
  only?: 'Network' | 'Classic';
  /** What to write, for people. */
  expects: string;
  /** Reads a text that is trimmed and not empty. @throws Error */
  parse: read.Parse;
}

/** A time. */
export const seconds = (least: number, most: number): Pick<Annotation, 'expects' | 'parse'> => ({
  expects: `a whole number of seconds from ${least} to ${most}`,
  parse: read.whole(least, most),
});
export const TRUE_OR_FALSE = { expects: 'true or false', parse: read.bool };
export const ON_OR_OFF = { expects: 'on or off', parse: read.onOff };
