import { Route } from '@pulumi/aws/ec2/route';
import { Listener } from '@pulumi/aws/lb/listener';
import { ListenerCertificate } from '@pulumi/aws/lb/listenerCertificate';
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
import {
  Addresses,
  declareRules,
  dependingOn,
  MembersReady,
  Subnets,
  type Published,
  type PublishedGroup,
  type TagsOf,
} from './program-parts';
import { certificateName } from '../resources/listener-certificate';
import { NEXT_HOP, type NextHopInputs } from '../resources/next-hop';
import { sendsAcrossZones } from '../resources/target-group';
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

/** What a load balancer needs side by side; listeners wait for it and for the members of their target groups. */
function declare({ uid, listeners, nodeLabels, adopted, formerRules, ...input }: RenderedLoadBalancer): Published {
  const ground = declareGround(input);
  const tags = tagsOf(input.tags);
  const crossZone = input.settings.enableCrossZoneLoadBalancing;
  const { access, looked } = ground;
  const groups = declareGroups(listeners, { access, looked, nodeLabels, adopted, count: listeners.length, crossZone }, tags);
  const loadBalancer = declareLoadBalancer(input, ground, groups);
  const declared = declareListeners(groups, loadBalancer, tags);
  ground.access.close(declared);
  if (formerRules !== undefined) closeFormerRules(formerRules, declared);
  return { uid, retiring: input.retiring === true, hostname: loadBalancer.dnsName, targetGroups: groups.map(({ published }) => published) };
}

/** One load balancer with the listeners, target groups and rules of each member. */
function declareShared({ members, ...input }: RenderedSharedLoadBalancer): Published[] {
  const ground = declareGround(input);
  const count = members.flatMap(({ listeners }) => listeners).length;
  const crossZone = input.settings.enableCrossZoneLoadBalancing;
  const parts = members.map(({ rules, nodeRules, nodeLabels, ...member }) => {
    const tags = tagsOf(member.tags);
    if (ground.access.frontend !== undefined) declareRules(rules, ground.access.frontend, tags);
    const access = withOwnRules(ground.access, nodeRules, ground.subnetIds);
    const place = { access, looked: ground.looked, nodeLabels, count, crossZone };
    return { member, tags, access, groups: declareGroups(member.listeners, place, tags) };
  });
  const loadBalancer = declareLoadBalancer(
    input,
    ground,
    parts.flatMap(({ groups }) => groups),
  );
  const listeners = parts.map(({ member: { formerRules }, access, tags, groups }) => {
    const declared = declareListeners(groups, loadBalancer, tags);
    if (access !== ground.access) access.close(declared);
    if (formerRules !== undefined) closeFormerRules(formerRules, declared);
    return declared;
  });
  ground.access.close(listeners.flat(), loadBalancer.arn);
  return parts.map(({ member: { uid, retiring }, groups }) => {
    const targetGroups = groups.map(({ published }) => published);
    return { uid, retiring: retiring === true, hostname: loadBalancer.dnsName, targetGroups };
  });
}

/** What is there before a load balancer. */
interface Ground {
  access: DeclaredAccess;
  /** What is looked at before anything is made; absent = nothing is. */
  looked: pulumi.Resource | undefined;
  subnetMappings: pulumi.Input<ReturnType<typeof subnetMappingsOf>>;
  subnetIds: pulumi.Output<string[]>;
}

function declareGround({ settings, subnets, addresses, ...input }: RenderedNetwork): Ground {
  const placed = subnets === undefined ? settings.subnetMappings : declareSubnets(subnets);
  const looked = addresses === undefined ? undefined : new Addresses(addresses.name, { ...addresses.settings, subnetMappings: placed });
  const subnetMappings = looked?.subnetMappings ?? placed;
  const subnetIds = pulumi.output(subnetMappings).apply((mappings) => mappings.map(({ subnetId }) => subnetId));
  return { access: declareAccess({ ...input, looked }, subnetIds, tagsOf(input.tags)), looked, subnetMappings, subnetIds };
}

/** It depends on target groups, so that it goes before them: its listeners go with it, and AWS keeps a group that a listener has. */
function declareLoadBalancer(
  { name, settings, tags, ownTags }: RenderedNetwork,
  { access, subnetMappings }: Ground,
  groups: readonly DeclaredGroup[],
): LoadBalancer {
  const securityGroups = access.groups === undefined ? {} : { securityGroups: access.groups };
  const args = { ...settings, subnetMappings, ...securityGroups, tags: tagsOf({ ...tags, ...ownTags })(name) };
  return new LoadBalancer(name, args, dependingOn(access.namedRules, ...groups.map(({ resource }) => resource)));
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

interface GroupPlace extends Pick<Ground, 'access' | 'looked'> {
  nodeLabels: NodeLabels | undefined;
  adopted?: true | undefined;
  /** Of the load balancer, all members' together. */
  count: number;
  /** What the load balancer says of it. */
  crossZone: boolean;
}

/** A target group, and the listener that is to forward to it. */
interface DeclaredGroup {
  resource: TargetGroup;
  ready: MembersReady;
  published: PublishedGroup;
  listener: RenderedListener;
  adopted: true | undefined;
}

function declareGroups(listeners: readonly RenderedListener[], place: GroupPlace, tags: TagsOf): DeclaredGroup[] {
  return listeners.map((listener) => declareGroup(listener, place, tags));
}

function declareGroup(
  listener: RenderedListener,
  { access: { backend, rules, accessOf }, looked, nodeLabels, adopted, ...of }: GroupPlace,
  tags: TagsOf,
): DeclaredGroup {
  const { name, settings } = listener.targetGroup;
  const across = sendsAcrossZones(settings.loadBalancingCrossZoneEnabled, of.crossZone);
  const counted = { targetGroups: of.count, ...(across && { crossZone: true as const }) };
  const access = accessOf([settings.port, Number(settings.healthCheck.port)], counted);
  const members = { port: settings.port, ...(nodeLabels !== undefined && { nodeLabels }), ...(access !== undefined && { access }) };
  // Who revokes rules looks whether a target group needs them, so those of this one go after it, and are there before.
  const resource = new TargetGroup(name, { ...settings, tags: tags(name) }, dependingOn(rules, looked));
  const ready = new MembersReady(name, { group: resource.arn, ...members }, dependingOn(backend));
  return { resource, ready, published: { id: resource.arn, ...members }, listener, adopted };
}

function declareListeners(groups: readonly DeclaredGroup[], loadBalancer: LoadBalancer, tags: TagsOf): pulumi.Resource[] {
  return groups.map((group) => declareListener(group, loadBalancer, tags));
}

/** A target group has its members before traffic comes to it, also where it takes another one's place: behind a barrier. */
function declareListener(
  { resource, ready, adopted, listener: { name, settings, certificates = [] } }: DeclaredGroup,
  loadBalancer: LoadBalancer,
  tags: TagsOf,
): pulumi.Resource {
  // What was taken over has traffic already; by its own id a plan shows that it stays.
  const [targetGroupArn, waiting] = adopted === true ? [resource.arn, dependingOn(ready)] : [ready.group, {}];
  const args = { ...settings, loadBalancerArn: loadBalancer.arn, defaultActions: [{ type: 'forward', targetGroupArn }], tags: tags(name) };
  const listener = new Listener(name, args, { ...waiting, deletedWith: loadBalancer });
  for (const certificateArn of certificates) {
    new ListenerCertificate(
      certificateName(name, certificateArn),
      { listenerArn: listener.arn, certificateArn },
      { deletedWith: listener },
    );
  }
  return listener;
}
