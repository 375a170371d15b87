import type { AWSProviderSettings, CloudProviderSpec } from '../../../crds';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { InstanceMetadata } from '../nodes/metadata';
import { clustersIn, type Tags } from '../tags';

/** Where a cluster is. */
export interface Place {
  region: string;
  /** Unknown where nothing says it, and the operator runs on no instance. */
  vpcID?: string;
}

/**
 * Where the settings, else the environment, else the operator's own instance say that the cluster is.
 * @throws OperatorError naming the field that would have said it: where nothing says a region, or the instance does not answer (Transient)
 */
export async function placeOf(
  { region, aws }: CloudProviderSpec,
  environment: Readonly<Record<string, string | undefined>>,
  metadata: Pick<InstanceMetadata, 'region' | 'vpcID'>,
): Promise<Place> {
  const [found, vpcID] = await Promise.all([
    region ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? metadata.region().catch(noRegion),
    aws?.vpcID ?? metadata.vpcID().catch(unlessSilent('spec.aws.vpcID')),
  ]);
  return { region: found, ...(vpcID !== undefined && { vpcID }) };
}

/** The cluster's name in tags. */
export type ClusterTag = Pick<AWSProviderSettings, 'clusterName' | 'legacyClusterTag'>;

/**
 * The cluster's name where the settings say none: that on the operator's own instance; none where that can't be told.
 * @param tagsOf the tags of an instance of EC2
 * @throws OperatorError of `tagsOf`; Transient where the instance does not answer
 */
export async function clusterTagOf(
  { clusterName, legacyClusterTag }: ClusterTag,
  metadata: Pick<InstanceMetadata, 'instanceID'>,
  tagsOf: (instanceID: string) => Promise<Tags>,
): Promise<ClusterTag> {
  if (clusterName !== undefined) return { clusterName, legacyClusterTag };
  const instanceID = await metadata.instanceID().catch(unlessSilent('spec.aws.clusterName'));
  return instanceID === undefined ? { legacyClusterTag } : clusterTagIn(await tagsOf(instanceID));
}

/** Upstream's reading: the new tag before the old one. An instance of several clusters says nothing. Pure. */
export function clusterTagIn(tags: Tags): ClusterTag {
  const [name, ...others] = clustersIn(tags);
  if (name !== undefined) return { legacyClusterTag: false, ...(others.length === 0 && { clusterName: name }) };
  const { KubernetesCluster: old } = tags;
  return old === undefined ? { legacyClusterTag: false } : { clusterName: old, legacyClusterTag: true };
}

/** Where there is no instance, nothing is said. One that does not answer now must be asked again: nobody asks once there is a connection. */
function unlessSilent(field: string): (thrown: unknown) => undefined {
  return (thrown) => {
    const cause = toOperatorError(thrown);
    if (cause.code === 'NotFound') return undefined;
    const remedy = `Set ${field}, or AWS_EC2_METADATA_DISABLED=true where the operator runs on no instance.`;
    throw new OperatorError(cause.code, `the CloudProvider has no ${field}, and ${cause.message}. ${remedy}`, { field, remedy, cause });
  };
}

function noRegion(thrown: unknown): never {
  const cause = toOperatorError(thrown);
  const field = 'spec.region';
  const remedy = 'Set spec.region, for example eu-central-1.';
  const code = cause.code === 'NotFound' ? 'Invalid' : cause.code;
  throw new OperatorError(code, `the CloudProvider names no region, and ${cause.message}. ${remedy}`, { field, remedy, cause });
}
