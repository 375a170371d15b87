import { z } from 'zod';
import { labelSelector, type AzureProviderSettingsInput, type CloudProviderSpecInput } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import type { Json, JsonObject } from '../../../operator/base/json';
import { isEmptySelector } from '../../../operator/base/label-selector';
import { pairs } from '../../annotation-values';
import { sameID } from '../client/resource-id';
import { mergedTags, overruledKeys } from '../tags';
import type { AzureJson } from './azure-json';

type LabelSelector = z.output<typeof labelSelector>;

/** What an azure.json says, as far as it has a place in CloudProvider.spec: everything but who the operator is. */
export interface SettingsOfJson {
  spec: Pick<CloudProviderSpecInput, 'region' | 'limits'> & { azure: AzureProviderSettingsInput };
  warnings: string[];
}

/**
 * Translates an azure.json. Pure.
 * @throws OperatorError Invalid naming the field; what upstream would run with and this can't is refused, such as a Basic load balancer
 */
export function settingsOf(config: AzureJson): SettingsOfJson {
  const { subscriptionId: subscriptionID, resourceGroup } = config;
  if (subscriptionID === undefined) throw missing('subscriptionId');
  if (resourceGroup === undefined) throw missing('resourceGroup');
  const warnings: string[] = [];
  const tags = tagsOf(config);
  warnings.push(...overruledKeys(tags).map(({ message }) => `tags: ${message}`));
  const azure: AzureProviderSettingsInput = {
    subscriptionID,
    resourceGroup,
    ...given('cloud', config.cloud),
    ...given('resourceManagerEndpoint', config.resourceManagerEndpoint),
    ...given('tenantID', config.tenantId),
    ...given('networkSubscriptionID', config.networkResourceSubscriptionID),
    ...given('networkTenantID', networkTenantOf(config)),
    ...networkOf(config),
    ...loadBalancersOf(config, warnings),
    ...given('healthProbe', healthProbeOf(config)),
    ...given('tags', tags),
    ...given('routeWaitSeconds', config.routeUpdateWaitingInSeconds),
  };
  return { spec: { ...given('region', config.location), ...given('limits', rateOf(config)), azure }, warnings };
}

/** Upstream takes the machines' own tenant for none. */
function networkTenantOf({
  tenantId,
  networkResourceTenantID: tenant,
  networkResourceSubscriptionID: subscription,
}: AzureJson): string | undefined {
  if (tenant === undefined || (tenantId !== undefined && sameID(tenant, tenantId))) return undefined;
  if (subscription !== undefined) return tenant;
  const field = 'networkResourceTenantID';
  throw new OperatorError('Invalid', `${field} needs networkResourceSubscriptionID: no subscription has two tenants`, { field });
}

function networkOf(config: AzureJson): Partial<AzureProviderSettingsInput> {
  return {
    ...given('vnetName', config.vnetName),
    ...given('vnetResourceGroup', config.vnetResourceGroup),
    ...given('subnetName', config.subnetName),
    ...given('securityGroupName', config.securityGroupName),
    ...given('securityGroupResourceGroup', config.securityGroupResourceGroup),
    ...given('routeTableName', config.routeTableName),
    ...given('routeTableResourceGroup', config.routeTableResourceGroup),
    ...given('privateLinkServiceResourceGroup', config.privateLinkServiceResourceGroup),
  };
}

function loadBalancersOf(config: AzureJson, warnings: string[]): Partial<AzureProviderSettingsInput> {
  assertStandard(config, warnings);
  const rules = config.maximumLoadBalancerRuleCount;
  const several = config.multipleStandardLoadBalancerConfigurations ?? [];
  const name = several.length === 0 ? config.loadBalancerName : undefined;
  return {
    ...given('loadBalancerName', name),
    ...given('loadBalancerResourceGroup', config.loadBalancerResourceGroup),
    ...given('loadBalancers', several.length === 0 ? undefined : several.map((one) => loadBalancerOf(one, warnings))),
    ...given('preConfiguredPools', preConfiguredOf(config)),
    ...given('outboundSNAT', config.disableOutboundSNAT === undefined ? undefined : !config.disableOutboundSNAT),
    ...given('excludeControlPlane', config.excludeMasterFromStandardLB),
    ...given('limits', rules === undefined ? undefined : { rulesPerLoadBalancer: rules }),
  };
}

/** Upstream's default is Basic, which Azure has retired; so saying nothing means Standard here. */
function assertStandard({ loadBalancerSku: sku, loadBalancerBackendPoolConfigurationType: pool }: AzureJson, warnings: string[]): void {
  if (sku !== undefined && sku.toLowerCase() !== 'standard') {
    throw new OperatorError('Invalid', `loadBalancerSku: "${sku}" is not there any more; write standard`, { field: 'loadBalancerSku' });
  }
  const field = 'loadBalancerBackendPoolConfigurationType';
  if (pool?.toLowerCase() === 'podip') {
    throw new OperatorError('Invalid', `${field}: pools of Pods are not there; write nodeIP`, { field });
  }
  if (pool?.toLowerCase() === 'nodeipconfiguration') warnings.push(`${field} has no effect: pools hold the Nodes’ addresses (nodeIP)`);
}

function preConfiguredOf({ preConfiguredBackendPoolLoadBalancerTypes: types }: AzureJson): 'Internal' | 'External' | 'All' | undefined {
  if (types === undefined) return undefined;
  const known = { internal: 'Internal', external: 'External', all: 'All' } as const;
  return wordOf(known, types, 'preConfiguredBackendPoolLoadBalancerTypes');
}

function healthProbeOf(config: AzureJson): AzureProviderSettingsInput['healthProbe'] {
  const {
    clusterServiceLoadBalancerHealthProbeMode: mode,
    clusterServiceSharedLoadBalancerHealthProbePort: port,
    clusterServiceSharedLoadBalancerHealthProbePath: path,
  } = config;
  if (mode === undefined && port === undefined && path === undefined) return undefined;
  const known = { shared: 'Shared', servicenodeport: 'ServiceNodePort' } as const;
  const said = mode === undefined ? undefined : wordOf(known, mode, 'clusterServiceLoadBalancerHealthProbeMode');
  return { ...given('mode', said), ...given('port', port), ...given('path', path) };
}

/** Both, as upstream has it: tagsMap goes before tags, which can't hold every value. */
function tagsOf({ tags, tagsMap }: AzureJson): Record<string, string> | undefined {
  if (tags === undefined) return tagsMap;
  try {
    return mergedTags(tagsMap ?? {}, pairs(tags));
  } catch (cause) {
    throw new OperatorError('Invalid', `tags: ${(cause as Error).message}`, { field: 'tags', cause });
  }
}

/** Upstream's own limiter; without it what Azure says holds. */
function rateOf(config: AzureJson): CloudProviderSpecInput['limits'] | undefined {
  const { cloudProviderRateLimit: on, cloudProviderRateLimitQPS: rate, cloudProviderRateLimitBucket: burst } = config;
  if (on !== true || (rate === undefined && burst === undefined)) return undefined;
  return { ...given('callsPerSecond', rate), ...given('burst', burst) };
}

function loadBalancerOf(config: JsonObject, warnings: string[]): NonNullable<AzureProviderSettingsInput['loadBalancers']>[number] {
  const field = 'multipleStandardLoadBalancerConfigurations';
  const name = config.name;
  if (typeof name !== 'string' || name === '') throw new OperatorError('Invalid', `${field}: one has no name`, { field });
  const at = `${field} ${name}`;
  return {
    name,
    ...given('allowServicePlacement', typeof config.allowServicePlacement === 'boolean' ? config.allowServicePlacement : undefined),
    ...given('serviceSelector', selectorOf(config.serviceLabelSelector, `${at}: serviceLabelSelector`, warnings)),
    ...given('namespaceSelector', selectorOf(config.serviceNamespaceSelector, `${at}: serviceNamespaceSelector`, warnings)),
    ...given('nodeSelector', selectorOf(config.nodeSelector, `${at}: nodeSelector`, warnings)),
    ...given('primaryVMSet', typeof config.primaryVMSet === 'string' && config.primaryVMSet !== '' ? config.primaryVMSet : undefined),
  };
}

/** @throws OperatorError Invalid, naming the field in it: to leave a part out would take others than meant */
function selectorOf(selector: Json | undefined, at: string, warnings: string[]): LabelSelector | undefined {
  if (selector === undefined || selector === null) return undefined;
  const { data, error } = z.strictObject(labelSelector.shape).safeParse(selector);
  if (data === undefined) {
    const [issue] = error.issues;
    const field = [at, ...(issue?.path ?? [])].join('.');
    throw new OperatorError('Invalid', `${field}: ${issue?.message}. Write a LabelSelector, with matchLabels, matchExpressions or both.`, {
      field,
    });
  }
  if (!isEmptySelector(data)) return data;
  warnings.push(`${at} has no effect: it is empty`);
  return undefined;
}

function wordOf<T extends string>(known: Readonly<Record<string, T>>, text: string, field: string): T {
  const key = text.toLowerCase();
  const value = Object.hasOwn(known, key) ? known[key] : undefined;
  if (value !== undefined) return value;
  throw new OperatorError('Invalid', `${field}: "${text}" is not known; write one of ${Object.keys(known).join(', ')}`, { field });
}

function missing(field: string): OperatorError {
  return new OperatorError('Invalid', `${field} must be set`, { field });
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}
