import type { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import type { RouteInput, Routes } from '../provider';
import { instanceIDOf } from './provider-id';
import { validateRoute } from './validation';

/** The local cloud has one network with one table. */
const MAIN_TABLE = 'rtb-main';
/** A stack of this size is read and written in well under a second (design: CloudRoutes are sharded). */
const SHARD_SIZE = 100;
const CLUSTER_PREFIX_LENGTH = 8;

/** One route, as `render` gives it to the program. */
export interface RenderedRoute {
  uid: string;
  owner: string;
  /** In the cloud and in the program. */
  name: string;
  routeTableID: string;
  destinationCIDR: string;
  instanceID: string;
}

/** Routes of one cluster in the local cloud's route table. */
export class LocalRoutes implements Routes {
  constructor(private readonly clusterID: string) {}

  /** The first shard of the table with room. */
  shard(_input: RouteInput, sizeOf: (shard: string) => number): string {
    for (let number = 0; ; number++) {
      const name = `routes-${MAIN_TABLE}-${number}`;
      if (sizeOf(name) < SHARD_SIZE) return name;
    }
  }

  validate = validateRoute;

  /** Of two CloudRoutes with one destination, the first by name is rendered: a table has one route to a destination. */
  render(_stack: string, inputs: RouteInput[]): JsonObject {
    const byDestination = new Map<string, RenderedRoute>();
    for (const input of [...inputs].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const route = this.renderOne(input);
      if (route !== undefined && !byDestination.has(route.destinationCIDR)) byDestination.set(route.destinationCIDR, route);
    }
    return { routes: [...byDestination.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) as unknown as JsonObject[] };
  }

  attribute({ resource }: OperatorError, inputs: RouteInput[]): string[] {
    const failed = resource?.split('::').at(-1);
    return inputs.filter((input) => failed !== undefined && this.renderOne(input)?.name === failed).map(({ uid }) => uid);
  }

  /** Named after the destination: a PodCIDR that passes from one Node to another changes the route in place. */
  private renderOne({ name, uid, spec }: RouteInput): RenderedRoute | undefined {
    const instanceID = instanceIDOf(spec.providerID ?? '');
    if (instanceID === undefined) return undefined;
    const { destinationCIDR } = spec;
    const cluster = this.clusterID.slice(0, CLUSTER_PREFIX_LENGTH);
    return {
      uid,
      owner: name,
      // Two colons end a part of a URN.
      name: `r-${cluster}-${destinationCIDR.replaceAll(/[/:]/g, '-')}`,
      routeTableID: MAIN_TABLE,
      destinationCIDR,
      instanceID,
    };
  }
}
