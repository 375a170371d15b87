import type { Instance } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import { OWN_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';
import { InstanceReads } from '../routes/instance-reads';
import { tagOfMark, type RouteMark, type RoutePlace } from '../routes/route-marks';
import { nextHopOf, routeTo, type RouteTables, type RouteTableSelector } from '../routes/route-tables';

export const NEXT_HOP = `${OWN_PACKAGE}:index:NextHop`;

const selector = z.union([
  z.strictObject({ id: z.string().min(1) }),
  z.strictObject({ tagKey: z.string().min(1), tagValue: z.string().optional(), vpcID: z.string().optional() }),
]);
const schema = z.object({
  instanceId: z.string().min(1),
  destination: z.string().min(1),
  routeTable: selector,
  routesPerTable: z.number().int().min(1),
  /** Whether the instance drops what is not addressed to itself, as AWS has it by default: then no route to it works. */
  sourceDestCheck: z.literal(false),
});
export type NextHopInputs = z.infer<typeof schema>;

/** Made ready for a route, and what the route itself is made of. */
export type NextHopOutputs = NextHopInputs & { networkInterfaceId: string; routeTableId: string };

/**
 * The instance that a route leads to, made ready for it: found with its primary network interface, let pass what is not its own, and marked as
 * the next hop. It also finds the table, and looks whether there is room, before anything is written.
 */
export class NextHop implements ResourceType {
  readonly token = NEXT_HOP;
  readonly replaceOn = ['destination', 'routeTable'];
  readonly computed = ['networkInterfaceId'];
  readonly deleteBeforeReplace = true;
  private readonly instances: InstanceReads;

  constructor(
    private readonly ec2: Ec2,
    private readonly tables: RouteTables,
    private readonly updateContext: UpdateContext,
  ) {
    this.instances = new InstanceReads(ec2);
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(schema, inputs);
  }

  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const outputs = await this.prepare(schema.parse(inputs), context);
    const id = nextHopID({ routeTableID: outputs.routeTableId, destination: outputs.destination });
    return { id, outputs: outputs as unknown as JsonObject };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const [instance] = await this.marked(placeOf(id), context);
    if (instance === undefined) return undefined;
    return { inputs: { instanceId: instance.InstanceId ?? '' }, outputs: outputsOf(instance, placeOf(id).routeTableID) };
  }

  /** Another instance, or the same one put right. The mark of the one before goes last: until then the route may lead there. */
  async update(id: string, _olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    const outputs = await this.prepare(schema.parse(news), context);
    const others = (await this.marked(placeOf(id), context)).filter(({ InstanceId }) => InstanceId !== outputs.instanceId);
    await this.unmark(others, placeOf(id), context);
    return { outputs: outputs as unknown as JsonObject };
  }

  /** The check stays off: other routes may need that, and upstream leaves it too. */
  async delete(id: string, context: ResourceContext): Promise<void> {
    await this.unmark(await this.marked(placeOf(id), context), placeOf(id), context);
  }

  private async prepare(inputs: NextHopInputs, context: ResourceContext): Promise<NextHopOutputs> {
    const { instanceId, destination, routeTable, routesPerTable } = inputs;
    const options = this.options(context);
    const table = await this.tables.select(routeTable as RouteTableSelector, options);
    const place = { routeTableID: table.RouteTableId ?? '', destination };
    const instance = await this.instances.one(instanceId, options);
    const networkInterface = primaryInterfaceOf(instance);
    if (instance === undefined || networkInterface?.NetworkInterfaceId === undefined) {
      // The other routes of the stack go on: only an input can be at fault for what is Invalid.
      throw this.fail('Invalid', context, `instance ${instanceId} is not in AWS, or has no network interface: no route can lead to it`);
    }
    this.tables.reserve(table, destination, routesPerTable);
    const { NetworkInterfaceId: networkInterfaceId, SourceDestCheck } = networkInterface;
    await this.assertFree(table, { ...place, networkInterfaceId }, context);
    if (SourceDestCheck !== false) await this.ec2.setSourceDestCheck(networkInterfaceId, false, options);
    const mark = tagOfMark(this.mark(place, context));
    const isMarked = (instance.Tags ?? []).some(({ Key, Value }) => Key === mark.Key && Value === mark.Value);
    if (!isMarked) await this.ec2.createTags([instanceId], [mark], options);
    return { ...inputs, networkInterfaceId, routeTableId: place.routeTableID };
  }

  /**
   * The place may be taken by what is ours by its mark, by a route that leads there already, and by one that leads nowhere.
   * @throws OperatorError Conflict naming where it leads
   */
  private async assertFree(
    table: Parameters<typeof routeTo>[0],
    { networkInterfaceId, ...place }: RoutePlace & { networkInterfaceId: string },
    context: ResourceContext,
  ): Promise<void> {
    const route = routeTo(table, place.destination);
    if (route === undefined || route.State === 'blackhole' || route.NetworkInterfaceId === networkInterfaceId) return;
    if ((await this.marked(place, context)).length > 0) return;
    const what = `the route to ${place.destination} in ${place.routeTableID} leads to ${nextHopOf(route)} and is not ours`;
    throw this.fail('Conflict', context, `${what}. Delete it by hand if nobody needs it, or give the Node another PodCIDR`);
  }

  private marked(place: RoutePlace, context: ResourceContext): Promise<Instance[]> {
    const { Key, Value } = tagOfMark(this.mark(place, context));
    return this.ec2.instances([{ Name: `tag:${Key}`, Values: [Value] }], this.options(context));
  }

  private async unmark(instances: readonly Instance[], place: RoutePlace, context: ResourceContext): Promise<void> {
    const ids = instances.flatMap(({ InstanceId }) => InstanceId ?? []);
    if (ids.length > 0) await this.ec2.deleteTags(ids, [tagOfMark(this.mark(place, context)).Key], this.options(context));
  }

  private mark(place: RoutePlace, { name: resource }: ResourceContext): RouteMark {
    const { clusterID, stack } = this.updateContext;
    return { ...place, clusterID, stack, resource };
  }

  private options({ signal }: ResourceContext): CallOptions {
    return { signal, assertValid: () => this.updateContext.assertValid() };
  }

  private fail(code: ErrorCode, context: ResourceContext, what: string): OperatorError {
    return new OperatorError(code, `${this.token} ${context.name}: ${what}`, { resource: context.urn });
  }
}

/** Its first device; the others don't take routed traffic. Pure. */
export function primaryInterfaceOf(instance: Instance | undefined): NonNullable<Instance['NetworkInterfaces']>[number] | undefined {
  return instance?.NetworkInterfaces?.find(({ Attachment }) => Attachment?.DeviceIndex === 0);
}

/** What AWS adds to the inputs, as far as an instance says it. Pure. */
export function outputsOf(instance: Instance, routeTableId: string): JsonObject {
  return { networkInterfaceId: primaryInterfaceOf(instance)?.NetworkInterfaceId ?? '', routeTableId };
}

/** Pure. */
export function nextHopID({ routeTableID, destination }: RoutePlace): string {
  return `${routeTableID} ${destination}`;
}

function placeOf(id: string): RoutePlace {
  const [routeTableID = '', destination = ''] = id.split(' ');
  return { routeTableID, destination };
}
