import type { SecurityGroup } from '@aws-sdk/client-ec2';
import type { Listener, LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import { systemClock } from '../../operator/base/clock';
import type { DiscoveredResource } from '../provider';
import { chunks } from './client/chunks';
import { deadRoutes, discoverRoutes } from './routes/discover-routes';
import type { RouteScope } from './routes/routes';
import { backendGroupName, leftBackendsOf, leftBackendStack } from './nodes/backend-group';
import { LEFT_BACKEND } from './resources/backend-group';
import { outputsOf } from './resources/owned-resource';
import type { Api, CommonInputs, Listed, ResourceDescription } from './resources/description';
import { closer, lookAgainWhenGone } from './look-again';
import { withTags } from './resources/elb-tags';
import { listener } from './resources/listener';
import { foundCertificate } from './resources/listener-certificate';
import { loadBalancer } from './resources/load-balancer';
import { listed as listedGroup, securityGroup } from './resources/security-group';
import { isOf, listedRule, securityGroupRule } from './resources/security-group-rule';
import { targetGroup } from './resources/target-group';
import { fromAwsTags, TAG, type Tags } from './tags';
import { partsOf } from './load-balancers/classic-discover';
import { classicLoadBalancer } from './resources/classic-load-balancer';

/** Resources whose attributes are read side by side; the account's limits hold besides. */
const READS_AT_ONCE = 8;

interface Found {
  stack: string;
  resource: DiscoveredResource;
}

/**
 * Everything that carries this cluster's tag, by stack. Load balancers, target groups, security groups and rules come from bulk listings;
 * routes are told by the marks of the instances that they lead to. AWS has none for listeners, their certificates and attributes, so those take one call for each of what is asked for.
 * @param stacks only these; absent = all
 */
export function discover(api: Api, scope: RouteScope, stacks?: string[]): Promise<Map<string, DiscoveredResource[]>> {
  return lookAgainWhenGone(api.elb.retryPolicy, () => look(api, scope, stacks), api.options.signal);
}

/** What goes between the listing and a closer look at it is left out. @throws OperatorError NotFound while AWS's answers differ about that */
async function look(api: Api, scope: RouteScope, stacks: string[] | undefined): Promise<Map<string, DiscoveredResource[]>> {
  const { clusterID } = scope;
  const wanted = (tags: Tags): boolean => isWanted(tags, clusterID, stacks);
  const routes = discoverRoutes(api, scope, ({ stack }) => stacks?.includes(stack) ?? true);
  const dead = stacks === undefined ? Promise.resolve([]) : deadRoutes(api, scope, stacks);
  const ofEc2 = fromEc2(api, { clusterID, stacks, wanted });
  const found = (await Promise.all([fromElb(api, wanted), fromClassic(api, wanted), ofEc2, routes, dead])).flat();
  const byStack = new Map<string, DiscoveredResource[]>();
  for (const { stack, resource } of found) byStack.set(stack, [...(byStack.get(stack) ?? []), resource]);
  return byStack;
}

/** Nothing for what was released, or carries no tag that leads back to a program. */
function isWanted(tags: Tags, clusterID: string, stacks: string[] | undefined): boolean {
  const { [TAG.clusterID]: cluster, [TAG.stack]: stack, [TAG.resource]: name, [TAG.released]: released } = tags;
  if (cluster !== clusterID || stack === undefined || name === undefined || released !== undefined) return false;
  return stacks?.includes(stack) ?? true;
}

async function fromElb(api: Api, wanted: (tags: Tags) => boolean): Promise<Found[]> {
  const { elb, options } = api;
  const [allBalancers, allGroups] = await Promise.all([elb.loadBalancers({}, options), elb.targetGroups({}, options)]);
  const balancers = (await withTags(allBalancers, ({ LoadBalancerArn }) => LoadBalancerArn, api)).filter(({ tags }) => wanted(tags));
  const groups = (await withTags(allGroups, ({ TargetGroupArn }) => TargetGroupArn, api)).filter(({ tags }) => wanted(tags));
  const ofBalancer = ({ id }: Listed<LoadBalancer>): Promise<Listener[] | undefined> =>
    closer(
      () => elb.listeners({ LoadBalancerArn: id }, options),
      () => loadBalancer.byID(id, api),
    );
  const allListeners = (await side(balancers, ofBalancer)).flatMap((ofOne) => ofOne ?? []);
  const listeners = (await withTags(allListeners, ({ ListenerArn }) => ListenerArn, api)).filter(({ tags }) => wanted(tags));
  return [
    ...(await describeAll(loadBalancer, balancers, api)),
    ...(await describeAll(targetGroup, groups, api)),
    ...(await describeAll(listener, listeners, api, ({ LoadBalancerArn }) => LoadBalancerArn)),
    ...(await certificatesOf(listeners, api)),
  ];
}

/** They bear no tags, so one that the state does not know may be somebody's, and stays. */
async function certificatesOf(listeners: readonly Listed<Listener>[], api: Api): Promise<Found[]> {
  const tls = listeners.filter(({ raw }) => raw.Protocol === 'TLS');
  const found = await side(tls, async ({ id, tags }) => {
    const arns = await closer(
      () => api.elb.listenerCertificates(id, api.options),
      () => listener.byID(id, api),
    );
    const resourceOf = (arn: string): DiscoveredResource => ({ ...foundCertificate(tags[TAG.resource] ?? '', id, arn), unmarked: true });
    return (arns ?? []).map((arn) => ({ stack: tags[TAG.stack] ?? '', resource: resourceOf(arn) }));
  });
  return found.flat();
}

/** Parts of a load balancer have no tags, so their names in the program are made of its own. */
async function fromClassic(api: Api, wanted: (tags: Tags) => boolean): Promise<Found[]> {
  const { classic, options } = api;
  const all = await classic.loadBalancers(undefined, options);
  const tags = await classic.presentTags(
    all.map(({ LoadBalancerName = '' }) => LoadBalancerName),
    options,
  );
  const listed = all.map((raw) => ({ id: raw.LoadBalancerName ?? '', raw, tags: fromAwsTags(tags.get(raw.LoadBalancerName ?? '')) }));
  const kept = listed.filter((one) => wanted(one.tags));
  const parts = await side(kept, async (one) => {
    const stack = one.tags[TAG.stack] ?? '';
    const found = await closer(
      () => partsOf(one, api),
      () => classicLoadBalancer.byID(one.id, api),
    );
    return (found ?? []).map((resource) => ({ stack, resource }));
  });
  return [...(await describeAll(classicLoadBalancer, kept, api)), ...parts.flat()];
}

interface Asked {
  clusterID: string;
  stacks: string[] | undefined;
  wanted: (tags: Tags) => boolean;
}

async function fromEc2(api: Api, { clusterID, stacks, wanted }: Asked): Promise<Found[]> {
  const { ec2, options } = api;
  const ours = [{ Name: `tag:${TAG.clusterID}`, Values: [clusterID] }];
  const [groups, rules] = await Promise.all([ec2.securityGroups(ours, options), ec2.securityGroupRules(ours, options)]);
  const kept = groups.map(listedGroup).filter(({ tags }) => wanted(tags));
  const keptRules = rules.map(listedRule).filter(({ tags }) => wanted(tags));
  const of = (direction: 'Ingress' | 'Egress'): Promise<Found[]> =>
    describeAll(
      securityGroupRule(direction),
      keptRules.filter(({ raw }) => isOf(direction, raw)),
      api,
      ({ GroupId }) => GroupId,
    );
  const left = leftBackends(groups, clusterID).filter(({ stack }) => stacks?.includes(stack) ?? true);
  return [...(await describeAll(securityGroup, kept, api)), ...(await of('Ingress')), ...(await of('Egress')), ...left];
}

/** The cluster's backend group belongs to no stack; without load balancers it is a leftover of its own. */
function leftBackends(groups: readonly SecurityGroup[], clusterID: string): Found[] {
  return leftBackendsOf(groups, clusterID, systemClock.now()).map((id) => ({
    stack: leftBackendStack(id),
    resource: { type: LEFT_BACKEND, name: backendGroupName(clusterID), id, inputs: {}, outputs: { groupId: id } },
  }));
}

/** @param wholeOf id of what takes each along when it is deleted */
async function describeAll<Inputs extends CommonInputs, Raw>(
  description: ResourceDescription<Inputs, Raw>,
  all: Listed<Raw>[],
  api: Api,
  wholeOf: (raw: Raw) => string | undefined = () => undefined,
): Promise<Found[]> {
  const found = await side(all, async (listed): Promise<Found[]> => {
    const described = await closer(
      () => description.describe(listed, api),
      () => description.byID(listed.id, api),
    );
    if (described === undefined) return [];
    const { inputs, observed } = described;
    const name = listed.tags[TAG.resource] ?? '';
    const deletedWith = wholeOf(listed.raw);
    const resource = {
      ...{ type: description.token, name, id: listed.id, inputs, outputs: outputsOf(inputs, observed) },
      ...(deletedWith !== undefined && { deletedWith }),
    };
    return [{ stack: listed.tags[TAG.stack] ?? '', resource }];
  });
  return found.flat();
}

/** Side by side, some at a time, in order. */
async function side<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const batch of chunks(items, READS_AT_ONCE)) results.push(...(await Promise.all(batch.map(run))));
  return results;
}
