import { toOperatorError } from '../../../operator/base/errors';
import type { Json, JsonObject } from '../../../operator/base/json';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient } from '../client/arm-client';
import { hasLabelInUse } from '../client/arm-error';
import { madeBy, TAG } from '../tags';
import type { Found, OwnedResource } from './owned-resource';
import type { PublicIPAddressInputs } from './public-ip-address';

const PUBLIC_ADDRESS = 'Microsoft.Network/publicIPAddresses';

/**
 * Public addresses of which one may have to take over another one's DNS label: Azure has a label once in a region. The address that is there goes on being one,
 * without the label, until the load balancer is led to by the new one; what is not of the same stack and owner is let alone.
 */
export class LabelHandover implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly deleteBeforeReplace: boolean;

  constructor(
    private readonly addresses: OwnedResource<PublicIPAddressInputs>,
    private readonly arm: ArmClient,
    private readonly subscription: string,
    private readonly updateContext: UpdateContext,
  ) {
    this.token = addresses.token;
    this.replaceOn = addresses.replaceOn;
    this.deleteBeforeReplace = addresses.deleteBeforeReplace;
  }

  keep(olds: JsonObject, news: JsonObject): Record<string, Json | undefined> {
    return this.addresses.keep(olds, news);
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return this.addresses.check(inputs);
  }

  assertReplaceable(olds: JsonObject, properties: readonly string[], context: Pick<ResourceContext, 'urn' | 'name'>): void {
    this.addresses.assertReplaceable(olds, properties, context);
  }

  create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    return this.labelled(inputs, context, () => this.addresses.create(inputs, context));
  }

  read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    return this.addresses.read(id, context);
  }

  update(id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    return this.labelled(news, context, () => this.addresses.update(id, olds, news, context));
  }

  delete(id: string, context: ResourceContext, outputs: JsonObject): Promise<void> {
    return this.addresses.delete(id, context, outputs);
  }

  private async labelled<T>(inputs: JsonObject, context: ResourceContext, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (thrown) {
      const error = toOperatorError(thrown);
      const holder = hasLabelInUse(error) ? await this.ownHolder(inputs as unknown as PublicIPAddressInputs, context) : undefined;
      if (holder === undefined) throw error;
      await this.unlabel(holder, context);
      return write();
    }
  }

  /** The address of the same owner that has the label. */
  private async ownHolder(
    { resourceGroupName, publicIPAddressVersion, dnsSettings, tags: own }: PublicIPAddressInputs,
    { name, signal }: ResourceContext,
  ): Promise<Found | undefined> {
    const path = `/subscriptions/${this.subscription}/resourceGroups/${resourceGroupName}/providers/${PUBLIC_ADDRESS}`;
    const all = await this.arm.list<Found>(path, PUBLIC_ADDRESS, { signal });
    const { clusterID, stack } = this.updateContext;
    return all.find(({ tags = {}, properties }) => {
      const has = properties as unknown as Partial<PublicIPAddressInputs>;
      const resource = tags[TAG.resource] ?? name;
      const isOther = resource !== name && has.publicIPAddressVersion === publicIPAddressVersion;
      const isOwn = madeBy({ clusterID, stack, resource }, tags) && tags[TAG.ownerUID] === own[TAG.ownerUID];
      const [label, wanted] = [has.dnsSettings, dnsSettings].map((settings) => settings?.domainNameLabel.toLowerCase());
      return isOther && isOwn && label !== undefined && label === wanted;
    });
  }

  private async unlabel(
    { id, etag, properties: { dnsSettings: _, ...properties }, ...found }: Found,
    { signal }: ResourceContext,
  ): Promise<void> {
    const assertValid = (): void => this.updateContext.assertValid();
    await this.arm.put(id, { ...found, properties }, { signal, assertValid, only: { etag } });
  }
}
