import type { Annotation } from './annotation';
import { OF_FRONTEND, OF_PRIVATE_LINK } from './annotations-frontend';
import { OF_ACCESS, OF_TRAFFIC } from './annotations-traffic';

export { OF_PORTS } from './annotations-traffic';

/** Every annotation that has an effect, but those of single ports. */
export const ANNOTATIONS: readonly Annotation[] = [...OF_FRONTEND, ...OF_ACCESS, ...OF_TRAFFIC, ...OF_PRIVATE_LINK];

/** Annotations of upstream's without an effect here, and why. */
export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'load-balancer-mode': 'it chose among Basic load balancers, which Azure has retired. Name one by load-balancer-configurations',
  'shared-securityrule': 'Services always share rules of the security group',
};
