import type { AzureProviderSettings } from '../../../crds';

/** One of several load balancers of a CloudProvider. */
export type Configuration = NonNullable<AzureProviderSettings['loadBalancers']>[number];

/** What of a Service decides which load balancers take it. */
export interface Selected {
  labels: Readonly<Record<string, string>>;
  /** Its namespace. */
  namespace: string;
}

/** The label that every namespace has, with its name (kubernetes.io, "Well-Known Labels, Annotations and Taints"); others are not read. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** True for one that takes some Services only. Pure. */
export function isSelective({ serviceLabels = {}, namespaceLabels = {} }: Configuration): boolean {
  return Object.keys({ ...serviceLabels, ...namespaceLabels }).length > 0;
}

/** True for one that takes whoever names none. Pure. */
export function isOpen(configuration: Configuration): boolean {
  return configuration.allowServicePlacement && !isSelective(configuration);
}

/** Why a load balancer does not take a Service by its labels, in words; undefined = it does. Pure. */
export function refusalOf(
  { serviceLabels = {}, namespaceLabels = {} }: Configuration,
  { labels, namespace }: Selected,
): string | undefined {
  const unread = Object.keys(namespaceLabels).find((label) => label !== NAMESPACE_NAME);
  if (unread !== undefined) return `its namespaceLabels ask for ${unread}, and of namespaces only ${NAMESPACE_NAME} is read`;
  const home = namespaceLabels[NAMESPACE_NAME];
  if (home !== undefined && home !== namespace) return `it is for namespace ${home}`;
  const lacking = Object.entries(serviceLabels).find(([label, value]) => labels[label] !== value);
  return lacking === undefined ? undefined : `its serviceLabels ask for ${lacking.join('=')}`;
}
