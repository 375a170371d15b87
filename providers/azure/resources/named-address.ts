import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import type { Json, JsonObject } from '../../../operator/base/json';
import { retry } from '../../retry';
import { problemsIn } from '../../resource-provider/check';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient, WriteOptions } from '../client/arm-client';
import { isWorthReadingAgain } from '../client/arm-error';
import { nameInID, sameID } from '../client/resource-id';
import { isLeftToUsers, type Tags, TAG, usersOf, withUsers } from '../tags';

/** Type token of a public address that is there already. */
export const NAMED_ADDRESS = `${STATE_PACKAGE}AzureNamedAddress`;

const schema = z.strictObject({
  resourceGroupName: z.string().min(1),
  family: z.enum(['IPv4', 'IPv6']),
  /** One of both. */
  name: z.string().min(1).optional(),
  address: z.string().min(1).optional(),
  /** namespace/name of those that ask for it. */
  users: z.array(z.string().min(1)),
});
export type NamedAddressInputs = z.infer<typeof schema>;

interface FoundAddress {
  id: string;
  etag: string;
  sku?: { name?: string };
  tags?: Record<string, string>;
  properties: { ipAddress?: string; publicIPAddressVersion?: string };
}

const ARM_TYPE = 'Microsoft.Network/publicIPAddresses';

/**
 * A public address that is there, found by its name or by itself, as a frontend needs it. Somebody else's is neither changed nor deleted. One that was
 * made for another load balancer of this cluster has its users in a tag: it stays until the last of them goes, whoever it was made for
 * (kubernetes-sigs/cloud-provider-azure#10125).
 */
export class NamedAddress implements ResourceType {
  readonly token = NAMED_ADDRESS;
  readonly replaceOn = ['resourceGroupName', 'family', 'name', 'address'];
  readonly computed = ['publicIPAddressId', 'ipAddress'];

  constructor(
    private readonly arm: ArmClient,
    private readonly subscription: string,
    private readonly updateContext: UpdateContext,
  ) {}

  /** Another spelling names no other address: replaced, it would no longer be among its users. */
  keep(olds: JsonObject, news: JsonObject): Record<string, Json | undefined> {
    const spelled = ['resourceGroupName', 'name'].filter((property) => {
      const [had, wanted] = [olds[property], news[property]];
      return typeof had === 'string' && typeof wanted === 'string' && sameID(had, wanted);
    });
    return Object.fromEntries(spelled.map((property) => [property, olds[property]]));
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(schema, inputs);
  }

  create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    return this.use(inputs, [], context);
  }

  async foresee(inputs: JsonObject, context: ResourceContext): Promise<JsonObject> {
    const { id, properties } = await this.find(schema.parse(inputs), context);
    return { publicIPAddressId: id, ipAddress: properties.ipAddress ?? '' };
  }

  read(): Promise<{ inputs: JsonObject; outputs: JsonObject }> {
    return Promise.resolve({ inputs: {}, outputs: {} });
  }

  update(_id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    return this.use(news, (olds.users ?? []) as string[], context);
  }

  async delete(_id: string, { signal }: ResourceContext, { publicIPAddressId, users = [] }: JsonObject): Promise<void> {
    const id = publicIPAddressId as string;
    await this.again(async () => {
      const found = await this.arm.get<FoundAddress>(id, { signal });
      if (found === undefined || !this.isOurs(found.tags)) return;
      const others = usersOf(found.tags).filter((user) => !(users as string[]).includes(user));
      if (others.length > 0 || !isLeftToUsers(found.tags)) await this.tag(found, others, signal);
      else await this.arm.remove(id, this.writing(found, signal));
    }, signal);
  }

  private async use(inputs: JsonObject, before: readonly string[], context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = schema.parse(inputs);
    const { id, ipAddress } = await this.again(async () => {
      const found = await this.find(wanted, context);
      const others = usersOf(found.tags).filter((user) => !before.includes(user));
      if (this.isOurs(found.tags)) await this.tag(found, [...others, ...wanted.users], context.signal);
      return { id: found.id, ipAddress: found.properties.ipAddress ?? '' };
    }, context.signal);
    return { id: nameInID(id), outputs: { ...inputs, publicIPAddressId: id, ipAddress } };
  }

  private async find(
    { resourceGroupName: group, name, address, family }: NamedAddressInputs,
    context: ResourceContext,
  ): Promise<FoundAddress> {
    const { signal, urn } = context;
    const path = `/subscriptions/${this.subscription}/resourceGroups/${group}/providers/${ARM_TYPE}`;
    const found =
      name === undefined
        ? (await this.arm.list<FoundAddress>(path, ARM_TYPE, { signal })).find(({ properties }) => properties.ipAddress === address)
        : await this.arm.get<FoundAddress>(`${path}/${name}`, { signal });
    const refuse = (what: string, remedy: string): OperatorError =>
      new OperatorError('Invalid', `public IP address ${name ?? address ?? ''} ${what}. ${remedy}`, { resource: urn, remedy });
    if (found === undefined) throw refuse(`is not in resource group ${group}`, 'Make it, or correct its name or resource group.');
    const { ipAddress = '', publicIPAddressVersion = 'IPv4' } = found.properties;
    if (publicIPAddressVersion !== family) throw refuse(`is of ${publicIPAddressVersion}, and ${family} is asked for`, 'Name another one.');
    if (found.sku?.name !== 'Standard') throw refuse('is not of SKU Standard', 'Upgrade it, or name another one.');
    if (ipAddress === '') throw refuse('has no address yet', 'Make its allocation Static.');
    return found;
  }

  private isOurs(tags: Tags = {}): boolean {
    return tags[TAG.clusterID] === this.updateContext.clusterID && (tags[TAG.released] === undefined || isLeftToUsers(tags));
  }

  private async tag(found: FoundAddress, users: readonly string[], signal: AbortSignal): Promise<void> {
    const wanted = [...new Set(users)].sort();
    if (usersOf(found.tags).join() === wanted.join()) return;
    await this.arm.patch(found.id, { tags: withUsers(found.tags ?? {}, wanted) }, this.writing(found, signal));
  }

  private writing({ etag }: FoundAddress, signal: AbortSignal): WriteOptions {
    return { signal, only: { etag }, assertValid: () => this.updateContext.assertValid() };
  }

  private again<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return retry(this.arm.retryPolicy, attempt, isWorthReadingAgain, signal);
  }
}
