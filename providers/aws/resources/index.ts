import { membersReady } from '../../resource-provider/members-ready';
import type { ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { Ec2 } from '../client/ec2';
import type { ElbV2 } from '../client/elbv2';
import { OWN_PACKAGE } from '../own-package';
import type { ResourceDescription } from './description';
import { listener } from './listener';
import { loadBalancer } from './load-balancer';
import { OwnedResource } from './owned-resource';
import { securityGroup } from './security-group';
import { securityGroupRule } from './security-group-rule';
import { targetGroup } from './target-group';

const ingressRule = securityGroupRule('Ingress');
const egressRule = securityGroupRule('Egress');

/** What is served of the package `aws`: official tokens and property names. */
export const DESCRIPTIONS: readonly Pick<ResourceDescription, 'token' | 'replaceOn' | 'schema'>[] = [
  loadBalancer,
  targetGroup,
  listener,
  securityGroup,
  ingressRule,
  egressRule,
];

/** The types of the package `aws` that our own provider serves. */
export function resourceTypes(clients: { ec2: Ec2; elb: ElbV2 }, update: UpdateContext): ResourceType[] {
  return [
    new OwnedResource(loadBalancer, clients, update),
    new OwnedResource(targetGroup, clients, update),
    new OwnedResource(listener, clients, update),
    new OwnedResource(securityGroup, clients, update),
    new OwnedResource(ingressRule, clients, update),
    new OwnedResource(egressRule, clients, update),
  ];
}

/** Types of our own. */
export function ownTypes(update: UpdateContext): ResourceType[] {
  return [membersReady(OWN_PACKAGE, update)];
}
