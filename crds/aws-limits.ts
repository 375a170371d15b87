import { z } from 'zod';

function limit(max: number, usual: number, description: string): z.ZodDefault<z.ZodInt> {
  return z.int().min(1).max(max).default(usual).meta({ description });
}

/** Quotas of the account, with AWS's usual figures: what does not fit is refused before AWS is asked. */
export const awsLimits = z
  .object({
    rulesPerSecurityGroup: limit(1000, 60, 'Inbound rules of one security group, for IPv4 and for IPv6 each.'),
    securityGroupsPerInterface: limit(16, 5, 'Security groups on one load balancer.'),
    listenersPerLoadBalancer: limit(1000, 50, 'Listeners, and so target groups, of one Network load balancer.'),
    listenersPerClassicLoadBalancer: limit(1000, 100, 'Listeners of one Classic load balancer.'),
    targetsPerTargetGroup: limit(100_000, 1000, 'Targets of one target group.'),
    targetsPerLoadBalancer: limit(100_000, 3000, 'Targets of all target groups of one Network load balancer together.'),
    targetsPerZone: limit(
      100_000,
      500,
      'Targets of all target groups of one Network load balancer in one zone; where it sends across zones, in all of them together.',
    ),
    instancesPerClassicLoadBalancer: limit(100_000, 1000, 'Instances of one Classic load balancer.'),
  })
  .meta({ description: 'Quotas of the account that were raised; what does not fit is refused before AWS is asked.' });

export type AWSLimits = z.infer<typeof awsLimits>;

/** Where nothing is said. */
export const AWS_LIMITS: AWSLimits = awsLimits.parse({});
