import { isIP } from 'node:net';
import type { AzureProviderSettings, CloudRouteSpec } from '../../../crds';
import { AZURE_LIMITS } from '../../../crds';
import type { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { Problem, RouteInput, Routes } from '../../provider';
import { resourceID } from '../client/resource-id';
import type { RoutesInputs, RoutesObserved } from '../resources/routes';
import { routeNameOf, routesAtFault } from './merge';

/** What decides the routes beside their own specs. */
export interface RouteScope {
  location: string;
  settings: Pick<
    AzureProviderSettings,
    | 'subscriptionID'
    | 'networkSubscriptionID'
    | 'resourceGroup'
    | 'routeTableName'
    | 'routeTableResourceGroup'
    | 'routeWaitSeconds'
    | 'limits'
    | 'tags'
  >;
}

/** The inputs of a program of routes. */
export interface RenderedRoutes {
  routeTable: RoutesInputs & { name: string };
}

/** Routes of one cluster, in the Nodes' one route table. */
export class AzureRoutes implements Routes {
  constructor(private readonly scope: RouteScope) {}

  /** A table is one object in Azure's API, and is written as a whole. */
  shard(): string {
    return `routes-${this.scope.settings.routeTableName ?? ''}`;
  }

  validate(spec: CloudRouteSpec): Problem[] {
    const problems: Problem[] = [];
    const { destinationCIDR } = spec;
    if (this.scope.settings.routeTableName === undefined) {
      const message = 'nothing says which route table gets the routes. Set spec.azure.routeTableName of the CloudProvider.';
      problems.push({ severity: 'Error', field: 'spec.provider', value: '', message });
    }
    if (familyOf(destinationCIDR) === 0) {
      const message = `"${destinationCIDR}" is not an IP range. Use a PodCIDR.`;
      problems.push({ severity: 'Error', field: 'spec.destinationCIDR', value: destinationCIDR, message });
    } else if (nextHopOf(spec) === undefined) {
      const family = familyOf(destinationCIDR) === 6 ? 'IPv6' : 'IPv4';
      const message = `Azure routes to addresses, and the Node has no ${family} address for ${destinationCIDR}. Write one of the Node's here.`;
      problems.push({ severity: 'Error', field: 'spec.nodeAddresses', value: (spec.nodeAddresses ?? []).join(), message });
    }
    return problems;
  }

  /** Of two CloudRoutes with one destination, the first by name is rendered: a table has one route to a destination. */
  render(_stack: string, inputs: RouteInput[]): JsonObject {
    const { location, settings } = this.scope;
    const byDestination = new Map<string, RoutesInputs['routes'][number]>();
    for (const { spec } of [...inputs].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const nextHopIpAddress = nextHopOf(spec);
      const { destinationCIDR: addressPrefix, nodeName } = spec;
      if (nextHopIpAddress === undefined || byDestination.has(addressPrefix)) continue;
      byDestination.set(addressPrefix, { name: routeNameOf(nodeName, addressPrefix), addressPrefix, nextHopIpAddress });
    }
    const { routeTableName: name = '', tags, limits = AZURE_LIMITS } = settings;
    const routes = [...byDestination.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const routeTableId = routeTableIDOf(settings) ?? '';
    const { routesPerTable } = limits;
    const routeTable = { name, routeTableId, location, ...(tags !== undefined && { tags }), routes, routesPerTable };
    return { routeTable } satisfies RenderedRoutes;
  }

  attribute(error: OperatorError, inputs: RouteInput[]): string[] {
    const names = routesAtFault(error) ?? [];
    return inputs.filter(({ spec }) => names.includes(routeNameOf(spec.nodeName, spec.destinationCIDR))).map(({ uid }) => uid);
  }

  /** Azure takes a route that was written into use within this time. */
  worksAt(outputs: JsonObject, { spec }: RouteInput): number | undefined {
    const { writtenAt = {} } = (outputs.routes ?? {}) as Partial<RoutesObserved>;
    const at = writtenAt[routeNameOf(spec.nodeName, spec.destinationCIDR)];
    return at === undefined ? undefined : at + this.scope.settings.routeWaitSeconds * 1000;
  }
}

/** Undefined where none is named. Pure. */
export function routeTableIDOf(settings: RouteScope['settings']): string | undefined {
  const { subscriptionID, networkSubscriptionID = subscriptionID, resourceGroup, routeTableResourceGroup = resourceGroup } = settings;
  const { routeTableName: name } = settings;
  if (name === undefined) return undefined;
  const path = [{ type: 'routeTables', name }];
  return resourceID({ subscription: networkSubscriptionID, resourceGroup: routeTableResourceGroup, namespace: 'Microsoft.Network', path });
}

/** The Node's first address of the destination's family. */
function nextHopOf({ destinationCIDR, nodeAddresses = [] }: CloudRouteSpec): string | undefined {
  const family = familyOf(destinationCIDR);
  return family === 0 ? undefined : nodeAddresses.find((address) => isIP(address) === family);
}

/** 0 = neither. */
function familyOf(cidr: string): number {
  return isIP(cidr.split('/')[0] ?? '');
}
