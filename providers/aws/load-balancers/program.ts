import { Route } from '@pulumi/aws/ec2/route';
import { Listener } from '@pulumi/aws/lb/listener';
import { LoadBalancer } from '@pulumi/aws/lb/loadBalancer';
import { TargetGroup } from '@pulumi/aws/lb/targetGroup';
import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../../operator/base/json';
import type { NodeLabels } from '../../provider';
import { declareClassic } from './classic-program';
import type { RenderedListener } from './listeners';
import type { PublishedLoadBalancer, RenderedLoadBalancer, RenderedStack } from './load-balancers';
import { declareSecurityGroup, MembersReady, Subnets, type Published, type PublishedGroup, type TagsOf } from './program-parts';
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
    classicLoadBalancers = [],
    routes = [],
  } = inputs as unknown as Partial<RenderedStack> & {
    routes?: RenderedRoute[];
  };
  routes.forEach(declareRoute);
  const published = [...networkLoadBalancers.map(declare), ...classicLoadBalancers.map(declareClassic)];
  const uids = [...new Set(published.map(({ uid }) => uid))];
  return Promise.resolve(Object.fromEntries(uids.map((uid) => [uid, outputsOf(published.filter((one) => one.uid === uid))])));
}

/** The newest generation's name in DNS, and the target groups of all. */
function outputsOf(generations: Published[]): pulumi.Output<PublishedLoadBalancer> {
  const newest = generations.find(({ retiring }) => !retiring) ?? generations[0];
  return pulumi.output({ hostname: newest?.hostname ?? '', targetGroups: generations.flatMap(({ targetGroups }) => targetGroups) });
}

/** Groups and target groups side by side; listeners wait for the load balancer and for the members of their target groups. */
function declare({ uid, name, settings, subnets, listeners, tags, vpcID, ...input }: RenderedLoadBalancer): Published {
  const tagsOf: TagsOf = (resource) => ({ ...tags, [TAG.resource]: resource });
  const frontend = input.securityGroup === undefined ? undefined : declareSecurityGroup(input.securityGroup, vpcID, tagsOf);
  const backend = input.backend === undefined || frontend === undefined ? undefined : new BackendGroup(input.backend, frontend);
  const made = [frontend?.id, backend?.groupId].filter((id) => id !== undefined);
  const groups = [...made, ...input.securityGroupIDs];
  const loadBalancer = new LoadBalancer(name, {
    ...settings,
    ...(subnets !== undefined && { subnetMappings: declareSubnets(subnets) }),
    // As AWS gives them back.
    ...(groups.length > 0 && { securityGroups: pulumi.all(groups).apply((ids) => [...ids].sort()) }),
    tags: tagsOf(name),
  });
  const { nodeLabels } = input;
  const targetGroups = listeners.map((listener) => declareListener(listener, { loadBalancer, backend, nodeLabels }, tagsOf));
  return { uid, retiring: input.retiring === true, hostname: loadBalancer.dnsName, targetGroups };
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

/** A target group has its members before traffic comes to it, also where it takes another one's place: behind a barrier. */
function declareListener(
  { name, settings, targetGroup }: RenderedListener,
  {
    loadBalancer,
    backend,
    nodeLabels,
  }: { loadBalancer: LoadBalancer; backend: BackendGroup | undefined; nodeLabels: NodeLabels | undefined },
  tagsOf: TagsOf,
): PublishedGroup {
  const members = { port: targetGroup.settings.port, ...(nodeLabels !== undefined && { nodeLabels }) };
  const { arn } = new TargetGroup(targetGroup.name, { ...targetGroup.settings, tags: tagsOf(targetGroup.name) });
  const { group } = new MembersReady(targetGroup.name, { group: arn, ...members }, backend === undefined ? {} : { dependsOn: [backend] });
  new Listener(name, {
    ...settings,
    loadBalancerArn: loadBalancer.arn,
    defaultActions: [{ type: 'forward', targetGroupArn: group }],
    tags: tagsOf(name),
  });
  return { id: arn, ...members };
}
