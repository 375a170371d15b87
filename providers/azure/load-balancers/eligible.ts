import type { AzureProviderSettings } from '../../../crds';
import { isEmptySelector, keysOf, unmetBy, type Labels } from '../../../operator/base/label-selector';

/** One of several load balancers of a CloudProvider. */
export type Configuration = NonNullable<AzureProviderSettings['loadBalancers']>[number];

/** What of a Service decides which load balancers take it. */
export interface Selected {
  labels: Labels;
  /** Its namespace. */
  namespace: string;
  /** Labels of that; absent while nobody has read them. */
  namespaceLabels?: Labels;
}

/** The label that every namespace has, with its name (kubernetes.io, "Well-Known Labels, Annotations and Taints"). */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** True for one that takes some Services only. Pure. */
export function isSelective({ serviceSelector = {}, namespaceSelector = {} }: Configuration): boolean {
  return !isEmptySelector(serviceSelector) || !isEmptySelector(namespaceSelector);
}

/** True for one that takes whoever names none. Pure. */
export function isOpen(configuration: Configuration): boolean {
  return configuration.allowServicePlacement && !isSelective(configuration);
}

/** True while it can't be said whether it takes a Service: of the namespace only the name is known. Pure. */
export function isUndecided({ namespaceSelector = {} }: Configuration, { namespaceLabels }: Selected): boolean {
  return namespaceLabels === undefined && keysOf(namespaceSelector).some((key) => key !== NAMESPACE_NAME);
}

/** Why a load balancer does not take a Service by its labels, in words; undefined = it does. Pure. */
export function refusalOf(
  { serviceSelector = {}, namespaceSelector = {} }: Configuration,
  { labels, namespace, namespaceLabels }: Selected,
): string | undefined {
  const ofNamespace = unmetBy(namespaceSelector, { [NAMESPACE_NAME]: namespace, ...namespaceLabels });
  if (ofNamespace !== undefined) return `its namespaceSelector asks for ${ofNamespace}`;
  const ofService = unmetBy(serviceSelector, labels);
  return ofService === undefined ? undefined : `its serviceSelector asks for ${ofService}`;
}
