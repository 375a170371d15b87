import type { Node } from '../../kube/object';
import {
  LABEL_INSTANCE_TYPE,
  LABEL_INSTANCE_TYPE_DEPRECATED,
  LABEL_REGION,
  LABEL_REGION_DEPRECATED,
  LABEL_ZONE,
  LABEL_ZONE_DEPRECATED,
} from '../../kube/well-known';
import type { InstanceMetadata } from '../instances';

/** The deprecated label is the source of truth for the other (contract 3.5). */
export const LABELS = {
  zone: { primary: LABEL_ZONE_DEPRECATED, secondary: LABEL_ZONE },
  region: { primary: LABEL_REGION_DEPRECATED, secondary: LABEL_REGION },
  instanceType: { primary: LABEL_INSTANCE_TYPE_DEPRECATED, secondary: LABEL_INSTANCE_TYPE },
} as const;

/** Labels of Kubernetes itself, which a provider's additional labels must not set (contract 3.2). */
const RESERVED = /(^|\.)(kubernetes|k8s)\.io\//;

/** Labels that initialization sets: topology and type overwrite, additional ones only fill gaps (contract 3.2). */
export function initialLabels(node: Node, metadata: InstanceMetadata): Record<string, string> {
  const present = node.metadata.labels ?? {};
  const additional = Object.entries(metadata.additionalLabels).filter(([key]) => !RESERVED.test(key) && present[key] === undefined);
  return {
    ...Object.fromEntries(additional),
    ...pair(LABELS.instanceType, metadata.instanceType),
    ...pair(LABELS.zone, metadata.zone),
    ...pair(LABELS.region, metadata.region),
  };
}

/** Brings the newer labels to the values of the deprecated ones; undefined when they are (contract 3.5). */
export function labelPatch(node: Node): object | undefined {
  const present = node.metadata.labels ?? {};
  const wanted = Object.values(LABELS).flatMap(({ primary, secondary }) => {
    const value = present[primary];
    return value === undefined || present[secondary] === value ? [] : [[secondary, value] as const];
  });
  return wanted.length === 0 ? undefined : { metadata: { labels: Object.fromEntries(wanted) } };
}

function pair({ primary, secondary }: { primary: string; secondary: string }, value: string): Record<string, string> {
  return value === '' ? {} : { [primary]: value, [secondary]: value };
}
