import { isIP } from 'node:net';
import { maskedCIDR, type AWSProviderSettings, type CloudRouteSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { Problem, RouteInput, Routes } from '../../provider';
import { instanceIDOf, isFargate } from '../nodes/provider-id';
import { selectorsOf, type RouteTableSelector } from './route-tables';

/** A stack of this size is read and written in seconds (design: CloudRoutes are sharded). */
const SHARD_SIZE = 100;
const CLUSTER_PREFIX_LENGTH = 8;
const NO_TABLE = 'nothing says which route table gets the routes. Set spec.aws.clusterName or spec.aws.routeTableIDs of the CloudProvider.';

/** What decides the routes beside their own specs. */
export interface RouteScope extends Pick<
  AWSProviderSettings,
  'routeTableIDs' | 'clusterName' | 'legacyClusterTag' | 'vpcID' | 'routesPerTable'
> {
  clusterID: string;
}

/** One route in one table, as `render` gives it to the program. */
export interface RenderedRoute {
  uid: string;
  /** Of its resources in the program. */
  name: string;
  instanceId: string;
  destination: string;
  routeTable: RouteTableSelector;
  routesPerTable: number;
}

/** Routes of one cluster in the tables that the CloudProvider names, or in the one that is tagged for the cluster. */
export class AwsRoutes implements Routes {
  constructor(private readonly scope: RouteScope) {}

  /** The first shard with room. Which table it is may change, and is no part of a shard's name. */
  shard(_input: RouteInput, sizeOf: (shard: string) => number): string {
    for (let number = 0; ; number++) {
      const name = `routes-${number}`;
      if (sizeOf(name) < SHARD_SIZE) return name;
    }
  }

  validate({ destinationCIDR, providerID = '' }: CloudRouteSpec): Problem[] {
    const problems: Problem[] = [];
    if (isIP(destinationCIDR.split('/')[0] ?? '') === 0) {
      const message = `"${destinationCIDR}" is not an IP range. Use a PodCIDR.`;
      problems.push({ severity: 'Error', field: 'spec.destinationCIDR', value: destinationCIDR, message });
    }
    if (providerID !== '' && instanceIDOf(providerID) === undefined) {
      const why = isFargate(providerID) ? 'is a Fargate Node, which no route can lead to' : 'names no instance of EC2';
      const message = `"${providerID}" ${why}. Write aws:///<zone>/<instance id>.`;
      problems.push({ severity: 'Error', field: 'spec.providerID', value: providerID, message });
    }
    if (selectorsOf(this.scope).length === 0) {
      problems.push({ severity: 'Error', field: 'spec.provider', value: '', message: NO_TABLE });
    }
    return problems;
  }

  /**
   * Of two CloudRoutes with one destination, the first by name is rendered: a table has one route to a destination.
   * @throws OperatorError Invalid where nothing says the table: to render none of the routes would delete all that there are
   */
  render(_stack: string, inputs: RouteInput[]): JsonObject {
    if (inputs.length > 0 && selectorsOf(this.scope).length === 0) throw new OperatorError('Invalid', NO_TABLE, { field: 'spec.provider' });
    const byName = new Map<string, RenderedRoute>();
    for (const input of [...inputs].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      for (const route of this.renderOne(input)) if (!byName.has(route.name)) byName.set(route.name, route);
    }
    return { routes: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) as unknown as JsonObject[] };
  }

  attribute({ resource }: OperatorError, inputs: RouteInput[]): string[] {
    const failed = resource?.split('::').at(-1);
    return inputs.filter((input) => this.renderOne(input).some(({ name }) => name === failed)).map(({ uid }) => uid);
  }

  /** Named after the destination: a PodCIDR that passes from one Node to another changes the route in place. */
  private renderOne({ uid, spec }: RouteInput): RenderedRoute[] {
    const instanceId = instanceIDOf(spec.providerID ?? '');
    if (instanceId === undefined) return [];
    const { routesPerTable, clusterID } = this.scope;
    const destination = maskedCIDR(spec.destinationCIDR);
    return selectorsOf(this.scope).map((routeTable) => {
      const name = routeName(clusterID, destination, routeTable);
      return { uid, name, instanceId, destination, routeTable, routesPerTable };
    });
  }
}

/** Name of a route's resources in the program; where tables are named, there may be several. Pure. */
export function routeName(clusterID: string, destination: string, table: RouteTableSelector): string {
  // Two colons end a part of a URN.
  const place = destination.replaceAll(/[/:]/g, '-');
  return `r-${clusterID.slice(0, CLUSTER_PREFIX_LENGTH)}-${place}${'id' in table ? `-${table.id}` : ''}`;
}
