import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient } from '../client/arm-client';
import { sameID } from '../client/resource-id';
import { madeBy, TAG } from '../tags';
import type { Found } from './owned-resource';
import { LINK_SERVICE, type PrivateLinkServiceInputs } from './private-link-service';

/** Type token of the Private Link Services that stand on one load balancer. */
export const STANDING_LINKS = `${STATE_PACKAGE}AzureStandingLinks`;

const link = z.strictObject({
  /** Name of its resource in the program. */
  name: z.string().min(1),
  id: z.string().min(1),
});
const schema = z.strictObject({
  loadBalancerId: z.string().min(1),
  links: z.array(link),
  /** Where they are. */
  resourceGroups: z.array(z.string().min(1)),
});
export type StandingLinksInputs = z.infer<typeof schema>;
type Links = StandingLinksInputs['links'];

/**
 * The Private Link Services that stand on a load balancer. One that leaves is deleted here, before the load balancer is written: Azure keeps a frontend
 * that one stands on, and the engine would delete it only after that.
 */
export class StandingLinks implements ResourceType {
  readonly token = STANDING_LINKS;
  readonly replaceOn = [];

  /** @param service the type of Private Link Services */
  constructor(
    private readonly service: Pick<ResourceType, 'delete'>,
    private readonly arm: ArmClient,
    private readonly subscription: string,
    private readonly updateContext: UpdateContext,
  ) {}

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(schema, inputs);
  }

  /** Of a stack whose state was lost only the cloud knows which there are. */
  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = schema.parse(inputs);
    await this.keepOnly(wanted.links, await this.found(wanted, context), context);
    return { id: context.name, outputs: inputs };
  }

  read(): Promise<{ inputs: JsonObject; outputs: JsonObject }> {
    return Promise.resolve({ inputs: {}, outputs: {} });
  }

  async update(_id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    await this.keepOnly(schema.parse(news).links, linksIn(olds), context);
    return { outputs: news };
  }

  /** Those that are left go by themselves: what stands on a load balancer goes before it. */
  delete(): Promise<void> {
    return Promise.resolve();
  }

  private async keepOnly(wanted: Links, standing: Links, context: ResourceContext): Promise<void> {
    for (const { id, name } of standing) {
      if (!wanted.some((one) => sameID(one.id, id))) await this.service.delete(id, { ...context, name }, {});
    }
  }

  private async found({ loadBalancerId, resourceGroups }: StandingLinksInputs, { signal }: ResourceContext): Promise<Links> {
    const lists = resourceGroups.map((group) => {
      const path = `/subscriptions/${this.subscription}/resourceGroups/${group}/providers/${LINK_SERVICE}`;
      return this.arm.list<Found>(path, LINK_SERVICE, { signal });
    });
    const all = (await Promise.all(lists)).flat().filter(({ properties }) => standsOn(loadBalancerId, properties));
    return all.flatMap(({ id, tags = {} }) => {
      const name = tags[TAG.resource];
      return name !== undefined && madeBy({ ...this.updateContext, resource: name }, tags) ? [{ id, name }] : [];
    });
  }
}

function standsOn(loadBalancer: string, properties: JsonObject): boolean {
  const { loadBalancerFrontendIpConfigurations: frontends = [] } = properties as unknown as Partial<PrivateLinkServiceInputs>;
  return frontends.some(({ id }) => id.toLowerCase().startsWith(`${loadBalancer.toLowerCase()}/`));
}

/** What a state has may be of an older program. */
function linksIn(outputs: JsonObject): Links {
  return schema.safeParse(outputs).data?.links ?? [];
}
