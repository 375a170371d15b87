import { Route } from '@pulumi/aws/ec2/route';
import type { SecurityGroup } from '@pulumi/aws/ec2/securityGroup';
import { Listener } from '@pulumi/aws/lb/listener';
import { LoadBalancer } from '@pulumi/aws/lb/loadBalancer';
import { TargetGroup } from '@pulumi/aws/lb/targetGroup';
import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../../operator/base/json';
import type { NodeLabels } from '../../provider';
import { declareClassic } from './classic-program';
import type { RenderedListener } from './listeners';
import type { PublishedLoadBalancer, RenderedLoadBalancer, RenderedNetwork, RenderedStack } from './load-balancers';
import type { RenderedSharedLoadBalancer } from './shared';
import {
  declareRules,
  declareSecurityGroup,
  MembersReady,
  Subnets,
  type Published,
  type PublishedGroup,
  type TagsOf,
} from './program-parts';
import { BACKEND } from '../resources/backend-group';
import { NEXT_HOP, type NextHopInputs } from '../resources/next-hop';
import type { RenderedRoute } from '../routes/routes';
import type { RenderedBackend } from './security-groups';
import { subnetMappingsOf, type RenderedSubnets } from './subnet-mappings';
import { TAG } from '../tags';

/** The load balancer's part in the group that lets it in to the Nodes. Its own group is its claim on that, so it is there before, and goes after. */
class BackendGroup extends pulumi.CustomResource {
  declare readonly groupId: pulumi.Output<string>;

  constructor({ name, settings }: RenderedBackend, frontend: pulumi.Resource) {
    super(BACKEND, name, { ...settings, groupId: undefined }, { dependsOn: [frontend] });
  }
}

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
function declare({ uid, listeners, nodeLabels, adopted, ...input }: RenderedLoadBalancer): Published {
  const parts = declareNetwork(input);
  const targetGroups = listeners.map((listener) => declareListener(listener, { ...parts, nodeLabels, adopted }, tagsOf(input.tags)));
  return { uid, retiring: input.retiring === true, hostname: parts.loadBalancer.dnsName, targetGroups };
}

/** One load balancer with the listeners, target groups and rules of each member. */
function declareShared({ members, ...input }: RenderedSharedLoadBalancer): Published[] {
  const parts = declareNetwork(input);
  return members.map(({ uid, listeners, rules, tags, nodeLabels, retiring }) => {
    if (parts.frontend !== undefined) declareRules(rules, parts.frontend, tagsOf(tags));
    const targetGroups = listeners.map((listener) => declareListener(listener, { ...parts, nodeLabels }, tagsOf(tags)));
    return { uid, retiring: retiring === true, hostname: parts.loadBalancer.dnsName, targetGroups };
  });
}

interface NetworkParts {
  loadBalancer: LoadBalancer;
  frontend: SecurityGroup | undefined;
  backend: BackendGroup | undefined;
}

function declareNetwork({ name, settings, subnets, securityGroup, backend: part, ...input }: RenderedNetwork): NetworkParts {
  const tags = tagsOf(input.tags);
  const frontend = securityGroup === undefined ? undefined : declareSecurityGroup(securityGroup, input.vpcID, tags);
  const backend = part === undefined || frontend === undefined ? undefined : new BackendGroup(part, frontend);
  const made = [frontend?.id, backend?.groupId].filter((id) => id !== undefined);
  const groups = [...made, ...input.securityGroupIDs];
  const loadBalancer = new LoadBalancer(name, {
    ...settings,
    ...(subnets !== undefined && { subnetMappings: declareSubnets(subnets) }),
    // As AWS gives them back.
    ...(groups.length > 0 && { securityGroups: pulumi.all(groups).apply((ids) => [...ids].sort()) }),
    tags: tags(name),
  });
  return { loadBalancer, frontend, backend };
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

type Around = NetworkParts & { nodeLabels: NodeLabels | undefined; adopted?: true | undefined };

/** A target group has its members before traffic comes to it, also where it takes another one's place: behind a barrier. */
function declareListener({ name, settings, targetGroup }: RenderedListener, around: Around, tags: TagsOf): PublishedGroup {
  const { loadBalancer, backend, nodeLabels, adopted } = around;
  const members = { port: targetGroup.settings.port, ...(nodeLabels !== undefined && { nodeLabels }) };
  const { arn } = new TargetGroup(targetGroup.name, { ...targetGroup.settings, tags: tags(targetGroup.name) });
  const ready = new MembersReady(targetGroup.name, { group: arn, ...members }, backend === undefined ? {} : { dependsOn: [backend] });
  // What was taken over has traffic already; by its own id a plan shows that it stays.
  const [targetGroupArn, options] = adopted === true ? [arn, { dependsOn: [ready] }] : [ready.group, {}];
  const defaultActions = [{ type: 'forward', targetGroupArn }];
  new Listener(name, { ...settings, loadBalancerArn: loadBalancer.arn, defaultActions, tags: tags(name) }, options);
  return { id: arn, ...members };
}
