import { z } from 'zod';
import type { AzureProviderSettings } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { nameInID, parseResourceID, resourceID } from '../client/resource-id';
import {
  mergedParts,
  namesIn,
  othersParts,
  type PartList,
  type PartNames,
  partsIn,
  PART_LISTS,
  remainingParts,
} from '../load-balancers/merge';
import { isPreConfigured } from '../load-balancers/nodes-behind';
import { SHARED_PROBE } from '../load-balancers/probes';
import { ownTags } from '../tags';
import { armBody } from './arm-body';
import type { OwnedDescription } from './owned-resource';

const reference = z.strictObject({ id: z.string().min(1) });

const frontend = z.strictObject({
  name: z.string().min(1),
  publicIPAddress: reference.optional(),
  subnet: reference.optional(),
  privateIPAddress: z.string().optional(),
  privateIPAllocationMethod: z.enum(['Static', 'Dynamic']).optional(),
  privateIPAddressVersion: z.enum(['IPv4', 'IPv6']).optional(),
});

type FrontendInputs = z.infer<typeof frontend>;

const pool = z.strictObject({
  name: z.string().min(1),
  loadBalancerBackendAddresses: z.array(
    z.strictObject({ name: z.string().min(1), ipAddress: z.string().min(1), virtualNetwork: reference }),
  ),
});

const rule = z.strictObject({
  name: z.string().min(1),
  protocol: z.enum(['Tcp', 'Udp', 'All']),
  frontendPort: z.int(),
  backendPort: z.int(),
  frontendIPConfiguration: reference,
  backendAddressPools: z.array(reference),
  probe: reference.optional(),
  enableFloatingIP: z.boolean(),
  enableTcpReset: z.boolean().optional(),
  idleTimeoutInMinutes: z.int().optional(),
  loadDistribution: z.enum(['Default', 'SourceIP']),
  disableOutboundSnat: z.boolean(),
});

const probe = z.strictObject({
  name: z.string().min(1),
  protocol: z.enum(['Tcp', 'Http', 'Https']),
  port: z.int(),
  intervalInSeconds: z.int(),
  probeThreshold: z.int(),
  requestPath: z.string().optional(),
});

const schema = z.strictObject({
  resourceGroupName: z.string().min(1),
  loadBalancerName: z.string().min(1),
  location: z.string().min(1),
  sku: z.strictObject({ name: z.literal('Standard') }),
  frontendIPConfigurations: z.array(frontend),
  backendAddressPools: z.array(pool),
  loadBalancingRules: z.array(rule),
  probes: z.array(probe),
  tags: z.record(z.string(), z.string()),
});
export type LoadBalancerInputs = z.infer<typeof schema>;

/** Azure writes the pool of a rule twice. */
const SET = {
  frontendIPConfigurations: frontend.keyof().options,
  backendAddressPools: pool.keyof().options,
  loadBalancingRules: [...rule.keyof().options, 'backendAddressPool'],
  probes: [...probe.keyof().options, 'numberOfProbes'],
};

/** Names that upstream and we give to parts: of Services, of the pools of a cluster, and of the shared probe. */
const OF_SERVICES = /^a[0-9a-f]{31}(-|$)/;

/**
 * The official type, of a load balancer that carries many and may have parts of others: they stay, whatever becomes of ours. What is ours the state
 * says; while it says nothing, the names do.
 */
export function loadBalancer(
  subscription: string,
  { clusterName, preConfiguredPools }: Pick<AzureProviderSettings, 'clusterName' | 'preConfiguredPools'>,
): OwnedDescription<LoadBalancerInputs> {
  const pools = [clusterName, `${clusterName}-IPv6`];
  const isOurs = (balancer: string, name: string): boolean => {
    if (pools.includes(name)) return !isPreConfigured(balancer, { preConfiguredPools });
    return OF_SERVICES.test(name) || name === SHARED_PROBE;
  };
  // A pool that somebody's rule has kept is ours again when that rule is gone, though no state has it any more.
  const owned = (balancer: string, olds: JsonObject): PartNames[] => [
    namesIn(olds),
    ...(isPreConfigured(balancer, { preConfiguredPools }) ? [] : [{ backendAddressPools: pools }]),
  ];
  return {
    token: 'azure-native:network:LoadBalancer',
    replaceOn: ['resourceGroupName', 'loadBalancerName', 'location', 'sku'],
    computed: ['frontendIPConfigurations'],
    foreseen: ({ frontendIPConfigurations }, olds) => {
      const foreseen = frontendsForeseen(frontendIPConfigurations, (olds?.frontendIPConfigurations ?? []) as FrontendInputs[]);
      return foreseen === undefined ? {} : { frontendIPConfigurations: foreseen };
    },
    schema,
    idProperties: ['resourceGroupName', 'loadBalancerName'],
    idOf: ({ resourceGroupName: resourceGroup, loadBalancerName: name }) =>
      resourceID({ subscription, resourceGroup, namespace: 'Microsoft.Network', path: [{ type: 'loadBalancers', name }] }),
    body: (inputs) => armBody(inputs as unknown as JsonObject),
    merged: (found, inputs, olds) => {
      const body = armBody(inputs as unknown as JsonObject);
      return { ...body, properties: mergedParts(found.properties, body.properties as JsonObject, owned(nameInID(found.id), olds), SET) };
    },
    joins: true,
    remains: (found, olds, joined) => {
      const others = othersParts(found.properties, owned(nameInID(found.id), olds));
      if (!joined && PART_LISTS.every((list) => others[list].length === 0)) return undefined;
      const { location = '', sku = { name: 'Standard' } } = found;
      return { location, sku, properties: remainingParts(found.properties, others) };
    },
    isRid: (found, olds) => {
      const others = othersParts(found.properties, [namesIn(olds)]);
      return PART_LISTS.every((list) => partsIn(found.properties, list).length === others[list].length);
    },
    sharedLists: { frontendIPConfigurations: 'name', backendAddressPools: 'name', loadBalancingRules: 'name', probes: 'name' },
    describe: ({ id, location = '', tags, properties }, of) => {
      const named = of?.map(namesIn);
      const ours = (list: PartList): JsonObject[] => {
        const all = partsIn(properties, list);
        const names = [...new Set(named?.flatMap((one) => one[list] ?? []))];
        const own =
          named === undefined
            ? all.filter(({ name }) => isOurs(nameInID(id), name))
            : names.flatMap((name) => all.find((part) => part.name === name) ?? []);
        return own.map((part) => ({ ...part.properties, name: part.name }));
      };
      const frontends = ours('frontendIPConfigurations');
      const inputs = {
        resourceGroupName: parseResourceID(id).resourceGroup,
        loadBalancerName: nameInID(id),
        location,
        sku: { name: 'Standard' as const },
        frontendIPConfigurations: frontends.map(asFrontend),
        backendAddressPools: ours('backendAddressPools').map(asPool),
        loadBalancingRules: ours('loadBalancingRules').map(asRule),
        probes: ours('probes').map((one) => picked(one, probe.keyof().options)),
        tags: ownTags(tags),
      };
      const observed = { frontendIPConfigurations: frontends.map((one) => picked(one, frontend.keyof().options)) };
      return { inputs: inputs as unknown as LoadBalancerInputs, observed };
    },
  };
}

/** With what they will answer at: Azure keeps the address that it has chosen for a frontend that stays where it is. Undefined = the write alone can tell. */
function frontendsForeseen(wanted: readonly FrontendInputs[], olds: readonly FrontendInputs[]): JsonObject[] | undefined {
  const foreseen = wanted.map((one) => {
    if (one.publicIPAddress !== undefined || one.privateIPAllocationMethod === 'Static') return one;
    const { privateIPAddress } = olds.find((old) => isSamePlace(old, one)) ?? {};
    return privateIPAddress === undefined ? undefined : { ...one, privateIPAddress };
  });
  return foreseen.includes(undefined) ? undefined : (foreseen as unknown as JsonObject[]);
}

function isSamePlace(one: FrontendInputs, other: FrontendInputs): boolean {
  const placeOf = ({ name, subnet, privateIPAllocationMethod, privateIPAddressVersion }: FrontendInputs): string =>
    [name, subnet?.id.toLowerCase(), privateIPAllocationMethod, privateIPAddressVersion ?? 'IPv4'].join();
  return placeOf(one) === placeOf(other);
}

/** An address that Azure has chosen was not asked for. */
function asFrontend(found: JsonObject): JsonObject {
  const all = picked(found, frontend.keyof().options);
  if (all.publicIPAddress !== undefined) return picked(all, ['name', 'publicIPAddress']);
  if (all.privateIPAllocationMethod !== 'Static') delete all.privateIPAddress;
  return all;
}

/** Upstream says once for all of a pool in which network it is, and has no order. */
function asPool({ name = '', virtualNetwork, loadBalancerBackendAddresses = [] }: JsonObject): JsonObject {
  const addresses = loadBalancerBackendAddresses as { name: string; properties: JsonObject }[];
  const network = virtualNetwork === undefined ? {} : { virtualNetwork };
  const inside = [...addresses]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((one) => picked({ ...network, ...one.properties, name: one.name }, ['name', 'ipAddress', 'virtualNetwork']));
  return { name, loadBalancerBackendAddresses: inside };
}

/** Azure writes the times of connections into rules for UDP too. */
function asRule(found: JsonObject): JsonObject {
  const all = picked(found, rule.keyof().options);
  if (all.protocol === 'Udp') {
    delete all.enableTcpReset;
    delete all.idleTimeoutInMinutes;
  }
  return all;
}

/** What programs set of it; of what it refers to its id. */
function picked(from: JsonObject, keys: readonly string[]): JsonObject {
  const entries = keys.flatMap((key): [string, JsonObject[string]][] => {
    const value = from[key];
    return value === undefined || value === null ? [] : [[key, referenceOf(value)]];
  });
  return Object.fromEntries(entries);
}

function referenceOf(value: JsonObject[string]): JsonObject[string] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value.id === undefined) return value;
  return { id: value.id };
}
