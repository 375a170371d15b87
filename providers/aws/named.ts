import type { CloudLoadBalancerSpec, NamingList } from '../../crds';
import type { Named } from '../provider';

/** What of the account the settings of a load balancer name, whatever they are used for. Pure. */
export function named({ aws }: CloudLoadBalancerSpec): Named[] {
  const { groups, additionalGroupIDs } = aws?.securityGroups ?? {};
  const bucket = aws?.accessLogs?.bucket;
  return [
    ...each('subnets', 'subnets', aws?.subnets),
    ...each('securityGroups', 'securityGroups.groups', groups),
    ...each('securityGroups', 'securityGroups.additionalGroupIDs', additionalGroupIDs),
    ...each('certificates', 'tls.certificateARNs', aws?.tls?.certificateARNs),
    ...each('buckets', 'accessLogs.bucket', bucket === undefined ? [] : [bucket]),
    ...each('reservedTagKeys', 'tags', Object.keys(aws?.tags ?? {})),
  ];
}

function each(list: NamingList, field: string, values: readonly string[] = []): Named[] {
  return values.map((value) => ({ list, field: `spec.aws.${field}`, value }));
}
