import type { ZodType } from 'zod';
import { AWS_LIMITS } from '../../../crds';
import { membersReady } from '../../resource-provider/members-ready';
import { OWN_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { AwsSettings } from '../client/settings';
import { addresses } from './addresses';
import { backendGroup, leftBackendGroup } from './backend-group';
import { classicLoadBalancer } from './classic-load-balancer';
import { ClassicPartResource, classicBackendPolicy, classicListenerPolicy, classicPolicy } from './classic-policy';
import type { Api, CommonInputs, Made, ResourceDescription } from './description';
import { leftRule } from './left-rule';
import { listener } from './listener';
import { listenerCertificate, ListenerCertificateResource } from './listener-certificate';
import { loadBalancer } from './load-balancer';
import { NextHop } from './next-hop';
import { nodeRules, nodeRulesKept } from './node-rules';
import { namedGroups } from './named-groups';
import { OwnedResource } from './owned-resource';
import { RouteTables } from '../routes/route-tables';
import { route, RouteResource } from './route';
import { securityGroup } from './security-group';
import { securityGroupRule } from './security-group-rule';
import { subnets } from './subnets';
import { targetGroup } from './target-group';
import type { Vpcs } from './vpc-listings';

const ingressRule = securityGroupRule('Ingress');
const egressRule = securityGroupRule('Egress');

/** What is served of the package `aws`: official tokens and property names. */
export const DESCRIPTIONS: readonly { token: string; replaceOn: readonly string[]; schema: ZodType }[] = [
  loadBalancer,
  targetGroup,
  listener,
  listenerCertificate,
  securityGroup,
  ingressRule,
  egressRule,
  route,
  classicLoadBalancer,
  classicPolicy,
  classicBackendPolicy,
  classicListenerPolicy,
];

/** The types of the package `aws` that our own provider serves, and types of our own. */
export function resourceTypes(
  clients: Omit<Api, 'options'>,
  settings: Pick<AwsSettings, 'region' | 'nodeGroups' | 'maxRules' | 'clusterName' | 'legacyClusterTag'>,
  update: UpdateContext,
  vpcs: Vpcs,
): { official: ResourceType[]; own: ResourceType[] } {
  const { region, nodeGroups = [], maxRules = AWS_LIMITS.rulesPerSecurityGroup, clusterName, legacyClusterTag } = settings;
  const tables = new RouteTables(clients.ec2);
  const made = new Set<string>();
  const nodes = { nodeGroups, maxRules, clusterName };
  const official = [
    new OwnedResource(loadBalancer, clients, update),
    new OwnedResource(noting(targetGroup, made), clients, update),
    new OwnedResource(listener, clients, update),
    new ListenerCertificateResource(clients, update),
    new OwnedResource(securityGroup, clients, update),
    new OwnedResource(ingressRule, clients, update),
    new OwnedResource(egressRule, clients, update),
    new RouteResource(clients.ec2, tables, update),
    new OwnedResource(classicLoadBalancer, clients, update),
    new ClassicPartResource(classicPolicy, clients, update),
    new ClassicPartResource(classicBackendPolicy, clients, update),
    new ClassicPartResource(classicListenerPolicy, clients, update),
  ];
  const own = [
    membersReady(OWN_PACKAGE, update, { isFresh: (group) => made.has(group) }),
    new NextHop(clients.ec2, tables, update),
    subnets(clients.ec2, vpcs, region),
    addresses(clients, vpcs, { region, clusterID: update.clusterID }),
    namedGroups(clients.ec2),
    backendGroup(clients.ec2, nodes, update),
    leftBackendGroup(clients.ec2, update),
    nodeRules(clients, nodes, update),
    nodeRulesKept(clients, nodes, update),
    leftRule(clients, { clusterName, legacyClusterTag, maxRules }, update),
  ];
  return { official, own };
}

/** What `description` makes anew is noted by its id. */
function noting<Inputs extends CommonInputs, Raw>(
  description: ResourceDescription<Inputs, Raw>,
  ids: Set<string>,
): ResourceDescription<Inputs, Raw> {
  const create = async (inputs: Inputs, api: Api): Promise<Made> => {
    const made = await description.create(inputs, api);
    if (made.existed !== true) ids.add(made.id);
    return made;
  };
  return { ...description, create };
}
