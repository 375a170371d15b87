import { SecurityGroup } from '@pulumi/aws/ec2/securityGroup';
import { SecurityGroupIngressRule } from '@pulumi/aws/vpc/securityGroupIngressRule';
import * as pulumi from '@pulumi/pulumi';
import type { NodeLabels } from '../../provider';
import type { MemberAccess } from '../members/member-access';
import { MEMBERS_READY } from '../../resource-provider/members-ready';
import { OWN_PACKAGE } from '../../resource-provider/own-package';
import { ADDRESSES, type AddressesInputs } from '../resources/addresses';
import { ALL_EGRESS } from '../resources/security-group';
import { SUBNETS, type SubnetsInputs } from '../resources/subnets';
import type { RenderedRule, RenderedSecurityGroup } from './security-groups';

/** The members of a target group are registered once this is made. */
export class MembersReady extends pulumi.CustomResource {
  declare readonly group: pulumi.Output<string>;

  constructor(
    name: string,
    args: { group: pulumi.Input<string>; port: number; nodeLabels?: NodeLabels; access?: pulumi.Output<MemberAccess> },
    options: pulumi.CustomResourceOptions,
  ) {
    super(`${OWN_PACKAGE}${MEMBERS_READY}`, name, args, options);
  }
}

/** Where a load balancer is, chosen when it is made. */
export class Subnets extends pulumi.CustomResource {
  declare readonly subnetIds: pulumi.Output<string[]>;

  constructor(name: string, settings: SubnetsInputs) {
    super(SUBNETS, name, { ...settings, subnetIds: undefined });
  }
}

/** Looked at before a load balancer is made with them. */
export class Addresses extends pulumi.CustomResource {
  declare readonly subnetMappings: pulumi.Output<AddressesInputs['subnetMappings']>;

  constructor(
    name: string,
    args: Omit<AddressesInputs, 'subnetMappings'> & { subnetMappings: pulumi.Input<AddressesInputs['subnetMappings']> },
  ) {
    super(ADDRESSES, name, args);
  }
}

/** What one generation of a load balancer publishes. */
export interface Published {
  uid: string;
  retiring: boolean;
  hostname: pulumi.Output<string>;
  targetGroups: PublishedGroup[];
}

export interface PublishedGroup {
  id: pulumi.Output<string>;
  port: number;
  nodeLabels?: NodeLabels;
  access?: pulumi.Output<MemberAccess>;
}

/** Tags of the resource with that name in the program. */
export type TagsOf = (resource: string) => Record<string, string>;

/** Made after these, and deleted before. */
export function dependingOn(...resources: (pulumi.Resource | undefined)[]): pulumi.CustomResourceOptions {
  const dependsOn = resources.filter((resource) => resource !== undefined);
  return dependsOn.length === 0 ? {} : { dependsOn };
}

/** The group that is made for a load balancer, with its rules. */
export function declareSecurityGroup(
  { name, groupName, description, rules }: RenderedSecurityGroup,
  vpcId: string,
  tagsOf: TagsOf,
  options: pulumi.CustomResourceOptions = {},
): SecurityGroup {
  const args = { name: groupName, description, vpcId, egress: [ALL_EGRESS], tags: tagsOf(name) };
  const group = new SecurityGroup(name, args, options);
  declareRules(rules, group, tagsOf);
  return group;
}

/** Rules of a group that let in; they go with it. */
export function declareRules(rules: readonly RenderedRule[], group: SecurityGroup, tagsOf: TagsOf): void {
  for (const { name, settings } of rules) {
    const args = { ...settings, securityGroupId: group.id, tags: tagsOf(name) };
    new SecurityGroupIngressRule(name, args, { deletedWith: group });
  }
}
