import { Route } from '@pulumi/aws/ec2/route';
import { Listener } from '@pulumi/aws/lb/listener';
import { LoadBalancer } from '@pulumi/aws/lb/loadBalancer';
import { TargetGroup } from '@pulumi/aws/lb/targetGroup';
import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../../operator/base/json';
import type { NodeLabels } from '../../provider';
import { closeFormerRules, declareAccess, withOwnRules, type DeclaredAccess } from './access-program';
import { declareClassic } from './classic-program';
import type { RenderedListener } from './listeners';
import type { PublishedLoadBalancer, RenderedLoadBalancer, RenderedNetwork, RenderedStack } from './load-balancers';
import type { RenderedSharedLoadBalancer } from './shared';
import { declareRules, MembersReady, Subnets, type Published, type PublishedGroup, type TagsOf } from './program-parts';
import { NEXT_HOP, type NextHopInputs } from '../resources/next-hop';
import type { RenderedRoute } from '../routes/routes';
import { subnetMappingsOf, type RenderedSubnets } from './subnet-mappings';
import { TAG } from '../tags';

/** An instance made ready to be what a route leads to. */
class NextHop extends pulumi.CustomResource {
  declare readonly networkInterfaceId: pulumi.Output<string>;
  declare readonly routeTableId: pulumi.Output<string>;

  constructor(name: string, args: NextHopInputs) {
    super(NEXT_HOP, name, { ...args, networkInterfaceId: undefined, routeTableId: undefined });
  }
}

/**
 * The program of every stack: `inputs` are what `LoadBalancers.render` or `Routes.render` gave.
 * @returns the stack's outputs: a PublishedLoadBalancer for each UID
 */
export function program(inputs: JsonObject): Promise<Record<string, pulumi.Output<PublishedLoadBalancer>>> {
  const {
    networkLoadBalancers = [],
    sharedLoadBalancers = [],
    classicLoadBalancers = [],
    routes = [],
  } = inputs as unknown as Partial<RenderedStack> & {
    routes?: RenderedRoute[];
  };
  routes.forEach(declareRoute);
  const published = [
    ...networkLoadBalancers.map(declare),
    ...sharedLoadBalancers.flatMap(declareShared),
    ...classicLoadBalancers.map(declareClassic),
  ];
  const uids = [...new Set(published.map(({ uid }) => uid))];
  return Promise.resolve(Object.fromEntries(uids.map((uid) => [uid, outputsOf(published.filter((one) => one.uid === uid))])));
}

/** The newest generation's name in DNS, and the target groups of all. */
function outputsOf(generations: Published[]): pulumi.Output<PublishedLoadBalancer> {
  const newest = generations.find(({ retiring }) => !retiring) ?? generations[0];
  return pulumi.output({ hostname: newest?.hostname ?? '', targetGroups: generations.flatMap(({ targetGroups }) => targetGroups) });
}

/** Groups and target groups side by side; listeners wait for the load balancer and for the members of their target groups. */
function declare({ uid, listeners, nodeLabels, adopted, formerRules, ...input }: RenderedLoadBalancer): Published {
  const parts = declareNetwork(input);
  const declared = declareListeners(listeners, { ...parts, nodeLabels, adopted, count: listeners.length }, tagsOf(input.tags));
  parts.access.close(declared.resources);
  if (formerRules !== undefined) closeFormerRules(formerRules, declared.resources);
  const { targetGroups } = declared;
  return { uid, retiring: input.retiring === true, hostname: parts.loadBalancer.dnsName, targetGroups };
}

/** One load balancer with the listeners, target groups and rules of each member. */
function declareShared({ members, ...input }: RenderedSharedLoadBalancer): Published[] {
  const parts = declareNetwork(input);
  const count = members.flatMap(({ listeners }) => listeners).length;
  const published = members.map(({ uid, listeners, rules, tags, nodeLabels, retiring, nodeRules, formerRules }) => {
    if (parts.access.frontend !== undefined) declareRules(rules, parts.access.frontend, tagsOf(tags));
    const access = withOwnRules(parts.access, nodeRules, parts.subnetIds);
    const { targetGroups, resources } = declareListeners(listeners, { ...parts, access, nodeLabels, count }, tagsOf(tags));
    if (nodeRules !== undefined) access.close(resources);
    if (formerRules !== undefined) closeFormerRules(formerRules, resources);
    return { resources, one: { uid, retiring: retiring === true, hostname: parts.loadBalancer.dnsName, targetGroups } };
  });
  parts.access.close(
    published.flatMap(({ resources }) => resources),
    parts.loadBalancer.arn,
  );
  return published.map(({ one }) => one);
}

interface NetworkParts {
  loadBalancer: LoadBalancer;
  access: DeclaredAccess;
  subnetIds: pulumi.Output<string[]>;
}

function declareNetwork({ name, settings, subnets, ...input }: RenderedNetwork): NetworkParts {
  const tags = tagsOf(input.tags);
  const subnetMappings = subnets === undefined ? settings.subnetMappings : declareSubnets(subnets);
  const subnetIds = pulumi.output(subnetMappings).apply((mappings) => mappings.map(({ subnetId }) => subnetId));
  const access = declareAccess(input, subnetIds, tags);
  const groups = access.groups === undefined ? {} : { securityGroups: access.groups };
  const args = { ...settings, subnetMappings, ...groups, tags: tags(name) };
  const loadBalancer = new LoadBalancer(name, args, dependingOn(access.namedRules));
  return { loadBalancer, access, subnetIds };
}

function tagsOf(tags: Record<string, string>): TagsOf {
  return (resource) => ({ ...tags, [TAG.resource]: resource });
}

function declareRoute({ uid: _unused, name, ...args }: RenderedRoute): void {
  const { networkInterfaceId, routeTableId } = new NextHop(name, { ...args, sourceDestCheck: false });
  const { destination } = args;
  const block = destination.includes(':') ? { destinationIpv6CidrBlock: destination } : { destinationCidrBlock: destination };
  new Route(name, { routeTableId, networkInterfaceId, ...block });
}

function declareSubnets({ name, settings, addresses }: RenderedSubnets): pulumi.Output<ReturnType<typeof subnetMappingsOf>> {
  return new Subnets(name, settings).subnetIds.apply((ids) => subnetMappingsOf(ids, addresses));
}

interface ListenerPlace extends Pick<NetworkParts, 'loadBalancer' | 'access'> {
  nodeLabels: NodeLabels | undefined;
  adopted?: true | undefined;
  /** Of the load balancer, all members' together. */
  count: number;
}

function declareListeners(
  listeners: readonly RenderedListener[],
  place: ListenerPlace,
  tags: TagsOf,
): { targetGroups: PublishedGroup[]; resources: pulumi.Resource[] } {
  const declared = listeners.map((listener) => declareListener(listener, place, tags));
  return { targetGroups: declared.map(({ group }) => group), resources: declared.map(({ resource }) => resource) };
}

/** A target group has its members before traffic comes to it, also where it takes another one's place: behind a barrier. */
function declareListener(
  { name, settings, targetGroup }: RenderedListener,
  { loadBalancer, access: { backend, rules, accessOf }, nodeLabels, adopted, count }: ListenerPlace,
  tags: TagsOf,
): { resource: pulumi.Resource; group: PublishedGroup } {
  const { port, healthCheck } = targetGroup.settings;
  const access = accessOf([port, Number(healthCheck.port)], count);
  const members = { port, ...(nodeLabels !== undefined && { nodeLabels }), ...(access !== undefined && { access }) };
  // Who revokes rules looks whether a target group needs them, so those of this one go after it, and are there before.
  const args = { ...targetGroup.settings, tags: tags(targetGroup.name) };
  const { arn } = new TargetGroup(targetGroup.name, args, dependingOn(rules));
  const ready = new MembersReady(targetGroup.name, { group: arn, ...members }, dependingOn(backend));
  // What was taken over has traffic already; by its own id a plan shows that it stays.
  const [targetGroupArn, options] = adopted === true ? [arn, dependingOn(ready)] : [ready.group, {}];
  const defaultActions = [{ type: 'forward', targetGroupArn }];
  const resource = new Listener(name, { ...settings, loadBalancerArn: loadBalancer.arn, defaultActions, tags: tags(name) }, options);
  return { resource, group: { id: arn, ...members } };
}

function dependingOn(resource: pulumi.Resource | undefined): pulumi.CustomResourceOptions {
  return resource === undefined ? {} : { dependsOn: [resource] };
}
