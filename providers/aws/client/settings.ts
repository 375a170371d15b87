import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';

/** For what region and service requests are signed, if not for those that they go to. */
const signing = z.object({ region: z.string().min(1).optional(), name: z.string().min(1).optional() });
export type AwsSigning = z.infer<typeof signing>;

/** How an account is reached. It is what a worker gets, so it holds credentials: never stored, never logged. */
export const awsSettings = z.object({
  region: z.string().min(1),
  /** Where the APIs are, if not where AWS has them. */
  endpoints: z
    .object({ EC2: z.string().optional(), ElasticLoadBalancing: z.string().optional(), ElasticLoadBalancingV2: z.string().optional() })
    .optional(),
  signing: z
    .object({ EC2: signing.optional(), ElasticLoadBalancing: signing.optional(), ElasticLoadBalancingV2: signing.optional() })
    .optional(),
  useFIPSEndpoints: z.boolean().optional(),
  useDualStackEndpoints: z.boolean().optional(),
  /** Security groups of the Nodes that are known by now; absent = load balancers are not let in to Nodes. */
  nodeGroups: z.array(z.string()).optional(),
  /** The account's quota of inbound rules of one security group. */
  maxRules: z.number().int().optional(),
  /** Upstream's name of the cluster, by which what other controllers have made is known. */
  clusterName: z.string().optional(),
  /** It is in the tag of old clusters. */
  legacyClusterTag: z.boolean().optional(),
  /** Absent = what the SDK's default chain finds. */
  credentials: z
    .object({ accessKeyId: z.string().min(1), secretAccessKey: z.string().min(1), sessionToken: z.string().optional() })
    .optional(),
});
export type AwsSettings = z.infer<typeof awsSettings>;
export type AwsCredentials = NonNullable<AwsSettings['credentials']>;

/** @throws OperatorError Invalid naming the setting, and never its value */
export function parseAwsSettings(settings: unknown): AwsSettings {
  const { data, error } = awsSettings.safeParse(settings);
  if (error === undefined) return data;
  const [first] = error.issues;
  throw new OperatorError('Invalid', `the settings of AWS: ${first?.path.join('.') ?? ''}: ${first?.message ?? 'invalid'}`);
}
