import type { Route as AwsRoute, RouteTable } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { OperatorError, toOperatorError, type ErrorCode } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import { retry } from '../../retry';
import type { UpdateContext } from '../../worker-module';
import type { CallOptions } from '../../client-options';
import { AwsError } from '../client/aws-error';
import type { Ec2 } from '../client/ec2';
import { tagOfMark, type RoutePlace } from '../routes/route-marks';
import { destinationOf, nextHopOf, routeID, routeTo, tablesOf, type RouteTables } from '../routes/route-tables';

const schema = z
  .strictObject({
    routeTableId: z.string().min(1),
    destinationCidrBlock: z.string().min(1).optional(),
    destinationIpv6CidrBlock: z.string().min(1).optional(),
    networkInterfaceId: z.string().min(1),
  })
  .refine(({ destinationCidrBlock: a, destinationIpv6CidrBlock: b }) => (a === undefined) !== (b === undefined), {
    message: 'exactly one of destinationCidrBlock, destinationIpv6CidrBlock',
  });
export type AwsRouteInputs = z.infer<typeof schema>;

/** The official type. */
export const route = {
  token: 'aws:ec2/route:Route',
  replaceOn: ['routeTableId', 'destinationCidrBlock', 'destinationIpv6CidrBlock'],
  schema,
} as const;

/**
 * Our entry in a route table that is not ours. Whose an entry is, the mark on the instance says (next-hop.ts); every other entry is left alone,
 * but one that leads nowhere.
 */
export class RouteResource implements ResourceType {
  readonly token = route.token;
  readonly replaceOn = route.replaceOn;
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly ec2: Ec2,
    private readonly tables: RouteTables,
    private readonly updateContext: UpdateContext,
  ) {}

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(schema, inputs);
  }

  /** Creates, or takes the entry that is there where that is ours, leads to the same instance, or leads nowhere. */
  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = schema.parse(inputs);
    const attempt = (): Promise<void> => this.put(wanted, context);
    await retry(this.ec2.retryPolicy, attempt, (error) => error.code === 'Transient' || alreadyExists(error), context.signal);
    return { id: routeID(wanted.routeTableId, placeOf(wanted).destination), outputs: inputs };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const found = await this.byID(id, context);
    if (found === undefined) return undefined;
    const inputs = inputsOf(found.table.RouteTableId ?? '', found.route);
    return { inputs, outputs: { ...inputs } };
  }

  /**
   * Leads it to where it should, whoever has changed it: the state says that it is ours.
   * @throws OperatorError NotFound when nothing is there any more, Conflict when it leads nowhere, and no update of it alone can help
   */
  async update(id: string, _olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    const wanted = schema.parse(news);
    const found = await this.byID(id, context);
    if (found === undefined) throw this.fail('NotFound', context, `${id} is not in AWS any more; the drift pass makes it again`);
    const leadsThere = found.route.NetworkInterfaceId === wanted.networkInterfaceId;
    if (leadsThere && found.route.State === 'blackhole') {
      throw this.fail('Conflict', context, `the route leads to ${nextHopOf(found.route)}, which is gone; it goes with its Node`);
    }
    if (!leadsThere) await this.ec2.replaceRoute(requestOf(wanted), this.options(context));
    this.tables.forget();
    return { outputs: news };
  }

  /** @throws OperatorError Conflict naming where it leads, when that is not ours any more */
  async delete(id: string, context: ResourceContext): Promise<void> {
    const found = await this.byID(id, context);
    if (found === undefined) return;
    const place = { routeTableID: found.table.RouteTableId ?? '', destination: destinationOf(found.route) };
    const inputs = inputsOf(place.routeTableID, found.route) as unknown as AwsRouteInputs;
    if (found.route.State !== 'blackhole' && !(await this.isOurs(found.route, place, context)))
      throw this.notOurs(found.route, place, context);
    await this.ec2.deleteRoute(placeRequest(inputs), this.options(context)).catch((thrown: unknown) => {
      if (toOperatorError(thrown).code !== 'NotFound') throw thrown;
    });
    this.tables.forget();
  }

  private async put(wanted: AwsRouteInputs, context: ResourceContext): Promise<void> {
    const { routeTableId, networkInterfaceId } = wanted;
    const place = placeOf(wanted);
    const options = this.options(context);
    const found = routeTo(await this.tables.select({ id: routeTableId }, options), place.destination);
    try {
      if (found === undefined) await this.ec2.createRoute(requestOf(wanted), options);
      else if (found.NetworkInterfaceId !== networkInterfaceId) {
        if (found.State !== 'blackhole' && !(await this.isOurs(found, place, context))) throw this.notOurs(found, place, context);
        await this.ec2.replaceRoute(requestOf(wanted), options);
      }
    } catch (thrown) {
      // Whether it is there now, the table says.
      this.tables.forget();
      throw thrown;
    }
  }

  /** It leads to an instance that bears our mark of this place. */
  private async isOurs({ NetworkInterfaceId, InstanceId }: AwsRoute, place: RoutePlace, context: ResourceContext): Promise<boolean> {
    const { clusterID, stack } = this.updateContext;
    const { Key, Value } = tagOfMark({ ...place, clusterID, stack, resource: context.name });
    const marked = await this.ec2.instances([{ Name: `tag:${Key}`, Values: [Value] }], this.options(context));
    return marked.some(
      (instance) =>
        (InstanceId !== undefined && instance.InstanceId === InstanceId) ||
        (NetworkInterfaceId !== undefined && instance.NetworkInterfaces?.some((one) => one.NetworkInterfaceId === NetworkInterfaceId)),
    );
  }

  private async byID(id: string, context: ResourceContext): Promise<{ table: RouteTable; route: AwsRoute } | undefined> {
    const tables = await this.ec2.routeTables([{ Name: 'route-table-id', Values: tablesOf(id) }], this.options(context));
    for (const table of tables) {
      const found = table.Routes?.find((one) => routeID(table.RouteTableId ?? '', destinationOf(one)) === id);
      if (found !== undefined) return { table, route: found };
    }
    return undefined;
  }

  private notOurs(found: AwsRoute, { routeTableID, destination }: RoutePlace, context: ResourceContext): OperatorError {
    const what = `the route to ${destination} in ${routeTableID} leads to ${nextHopOf(found)} and is not ours`;
    return this.fail('Conflict', context, `${what}. Delete it by hand if nobody needs it`);
  }

  private options({ signal }: ResourceContext): CallOptions {
    return { signal, assertValid: () => this.updateContext.assertValid() };
  }

  private fail(code: ErrorCode, context: ResourceContext, what: string): OperatorError {
    return new OperatorError(code, `${this.token} ${context.name}: ${what}`, { resource: context.urn });
  }
}

/** The properties that a program sets, as they are in the cloud. Pure. */
export function inputsOf(routeTableId: string, found: AwsRoute): JsonObject {
  const destination = destinationOf(found);
  return {
    routeTableId,
    ...(destination.includes(':') ? { destinationIpv6CidrBlock: destination } : { destinationCidrBlock: destination }),
    networkInterfaceId: found.NetworkInterfaceId ?? nextHopOf(found),
  };
}

function placeOf({ routeTableId, destinationCidrBlock, destinationIpv6CidrBlock }: AwsRouteInputs): RoutePlace {
  return { routeTableID: routeTableId, destination: destinationCidrBlock ?? destinationIpv6CidrBlock ?? '' };
}

interface PlaceRequest {
  RouteTableId: string;
  DestinationCidrBlock?: string;
  DestinationIpv6CidrBlock?: string;
}

function placeRequest({ routeTableId, destinationCidrBlock, destinationIpv6CidrBlock }: AwsRouteInputs): PlaceRequest {
  return {
    RouteTableId: routeTableId,
    ...(destinationCidrBlock !== undefined && { DestinationCidrBlock: destinationCidrBlock }),
    ...(destinationIpv6CidrBlock !== undefined && { DestinationIpv6CidrBlock: destinationIpv6CidrBlock }),
  };
}

function requestOf(inputs: AwsRouteInputs): PlaceRequest & { NetworkInterfaceId: string } {
  return { ...placeRequest(inputs), NetworkInterfaceId: inputs.networkInterfaceId };
}

function alreadyExists(error: OperatorError): boolean {
  return error instanceof AwsError && error.awsCode === 'RouteAlreadyExists';
}
