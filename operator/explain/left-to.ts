import type { CloudProviderSpec } from '../../crds';
import type { Service } from '../kube/object';

/** The second is read by the AWS Load Balancer Controller alone. */
const TYPE_ANNOTATIONS = ['service.beta.kubernetes.io/aws-load-balancer-type', 'service.kubernetes.io/aws-load-balancer-type'];
/** Types that mean: not cloud-provider-aws's (contract 11). */
const LEFT_TO_OTHERS = ['external', 'nlb-ip'];

/**
 * The annotation by which a Service without a class is left to the AWS Load Balancer Controller, as `name: "value"`; undefined = it is not. The service
 * loop says nothing of such a Service, and leaves it alone. The rule is the AWS provider's, which this folder can't ask; a test compares the two. Pure.
 */
export function leftByAnnotation({ metadata, spec }: Service, provider: Pick<CloudProviderSpec, 'aws'>): string | undefined {
  if (provider.aws === undefined || spec.loadBalancerClass !== undefined) return undefined;
  const given = TYPE_ANNOTATIONS.map((name) => ({ name, type: metadata.annotations?.[name]?.trim() ?? '' }));
  const counts = given.find(({ type }) => type !== '');
  return counts === undefined || !LEFT_TO_OTHERS.includes(counts.type) ? undefined : `${counts.name}: "${counts.type}"`;
}
