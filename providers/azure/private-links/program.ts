import { PrivateLinkService } from '@pulumi/azure-native/network/privateLinkService';
import * as pulumi from '@pulumi/pulumi';
import { STANDING_LINKS, type StandingLinksInputs } from '../resources/standing-links';
import { subnetPolicy, type SubnetPolicyInputs } from '../resources/subnet-policy';
import { TAG } from '../tags';
import { policyNameOf, type RenderedLink } from './links';

/** What stands on a load balancer, and is taken from it before it is written. */
export class StandingLinks extends pulumi.CustomResource {
  constructor(name: string, args: StandingLinksInputs) {
    super(STANDING_LINKS, name, { ...args });
  }
}

class SubnetPolicy extends pulumi.CustomResource {
  constructor(name: string, args: SubnetPolicyInputs) {
    super(subnetPolicy.token, name, { ...args });
  }
}

/** Where Private Link Services are made. */
export interface LinkPlace {
  balancer: pulumi.Resource;
  /** Name of the load balancer. */
  name: string;
  /** The id of the frontend that is led to, for one that a member has. */
  frontendFor: (id: string) => pulumi.Input<string>;
  options: pulumi.CustomResourceOptions;
}

/** Their subnets first, then the services themselves, when their frontends are there. */
export function declareLinks(services: readonly RenderedLink[], { balancer, name: of, frontendFor, options }: LinkPlace): void {
  const subnets = [...new Set(services.map(({ subnetID }) => subnetID))];
  const policies = new Map(subnets.map((subnetId) => [subnetId, new SubnetPolicy(policyNameOf(of, subnetId), { subnetId })]));
  for (const { name, subnetID, tags, ...args } of services) {
    const policy = policies.get(subnetID);
    const frontends = args.loadBalancerFrontendIpConfigurations.map(({ id }) => ({ id: frontendFor(id) }));
    new PrivateLinkService(
      name,
      { ...args, loadBalancerFrontendIpConfigurations: frontends, tags: { ...tags, [TAG.resource]: name } },
      { ...options, dependsOn: policy === undefined ? [balancer] : [balancer, policy] },
    );
  }
}
