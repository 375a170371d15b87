import type { SecurityGroup, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import type { Listener, LoadBalancer, TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { systemClock } from '../../operator/base/clock';
import { toOperatorError } from '../../operator/base/errors';
import type { DiscoveredResource, Glance } from '../provider';
import { kindsOf } from '../stack-kinds';
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
import { securityGroup } from './resources/security-group';
import { isOf, securityGroupRule } from './resources/security-group-rule';
import { targetGroup } from './resources/target-group';
import { TAG } from './tags';
import { listings, marksOf, noListings, stackOf, type Listings } from './listings';
import { partsOf } from './load-balancers/classic-discover';
import { classicLoadBalancer } from './resources/classic-load-balancer';

/** Resources whose attributes are read side by side; the account's limits hold besides. */
const READS_AT_ONCE = 8;

/** Which stacks are looked at; absent = all, but those of `but`. */
interface AskedStacks {
  stacks?: string[] | undefined;
  but?: ReadonlySet<string> | undefined;
}

interface Found {
  stack: string;
  resource: DiscoveredResource;
}

/**
 * Everything that carries this cluster's tag, by stack. Load balancers, target groups, security groups and rules come from bulk listings;
 * routes are told by the marks of the instances that they lead to. What the stacks can't be about is not read. AWS has none for listeners, their certificates and attributes, so those take one call for each of what is asked for.
 * @param stacks only these; absent = all
 * @param but left out
 */
export function discover(
  api: Api,
  scope: RouteScope,
  stacks?: string[],
  but?: ReadonlySet<string>,
): Promise<Map<string, DiscoveredResource[]>> {
  const { loadBalancers } = kindsOf(stacks);
  const looking = async (): Promise<Map<string, DiscoveredResource[]>> =>
    look(api, scope, { stacks, but }, loadBalancers ? await listings(api, scope.clusterID) : noListings(scope.clusterID));
  return lookAgainWhenGone(api.elb.retryPolicy, looking, api.options.signal);
}

/** What the bulk listings tell, and how to look closer by the same ones. */
export async function glance(api: Api, scope: RouteScope): Promise<Glance> {
  const seen = await listings(api, scope.clusterID);
  return {
    marks: marksOf(seen),
    discover: (stacks) =>
      look(api, scope, { stacks }, seen).catch((thrown: unknown) => {
        // AWS has gone on since: what it tells now counts.
        if (toOperatorError(thrown).code !== 'NotFound') throw thrown;
        return discover(api, scope, stacks);
      }),
  };
}

/** What goes between the listings and a closer look at it is left out. @throws OperatorError NotFound while AWS's answers differ about that */
async function look(
  api: Api,
  scope: RouteScope,
  asked: AskedStacks,
  { balancers, targetGroups, classics, securityGroups, rules }: Listings,
): Promise<Map<string, DiscoveredResource[]>> {
  const { clusterID } = scope;
  const of = <Raw>(all: Listed<Raw>[]): Listed<Raw>[] => all.filter(({ tags }) => isAsked(stackOf(tags, clusterID), asked));
  const routes = kindsOf(asked.stacks).routes ? fromRoutes(api, scope, asked) : Promise.resolve([]);
  const ofEc2 = fromEc2(of(securityGroups), of(rules), api);
  const left = leftBackends(securityGroups, clusterID).filter(({ stack }) => isAsked(stack, asked));
  const elb = fromElb({ balancers: of(balancers), groups: of(targetGroups) }, asked, api, clusterID);
  const found = (await Promise.all([elb, fromClassic(of(classics), api), ofEc2, routes])).flat();
  const byStack = new Map<string, DiscoveredResource[]>();
  for (const { stack, resource } of [...found, ...left]) byStack.set(stack, [...(byStack.get(stack) ?? []), resource]);
  return byStack;
}

async function fromRoutes(api: Api, scope: RouteScope, asked: AskedStacks): Promise<Found[]> {
  const { stacks } = asked;
  const routes = discoverRoutes(api, scope, ({ stack }) => isAsked(stack, asked));
  const dead = stacks === undefined ? Promise.resolve([]) : deadRoutes(api, scope, stacks);
  return (await Promise.all([routes, dead])).flat();
}

function isAsked(stack: string | undefined, { stacks, but }: AskedStacks): boolean {
  if (stack === undefined) return false;
  return stacks?.includes(stack) ?? but?.has(stack) !== true;
}

async function fromElb(
  { balancers, groups }: { balancers: Listed<LoadBalancer>[]; groups: Listed<TargetGroup>[] },
  asked: AskedStacks,
  api: Api,
  clusterID: string,
): Promise<Found[]> {
  const { elb, options } = api;
  const ofBalancer = ({ id }: Listed<LoadBalancer>): Promise<Listener[] | undefined> =>
    closer(
      () => elb.listeners({ LoadBalancerArn: id }, options),
      () => loadBalancer.byID(id, api),
    );
  const allListeners = (await side(balancers, ofBalancer)).flatMap((ofOne) => ofOne ?? []);
  const listeners = (await withTags(allListeners, ({ ListenerArn }) => ListenerArn, api)).filter(({ tags }) =>
    isAsked(stackOf(tags, clusterID), asked),
  );
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
async function fromClassic(kept: Listed<LoadBalancerDescription>[], api: Api): Promise<Found[]> {
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

async function fromEc2(groups: Listed<SecurityGroup>[], rules: Listed<SecurityGroupRule>[], api: Api): Promise<Found[]> {
  const of = (direction: 'Ingress' | 'Egress'): Promise<Found[]> =>
    describeAll(
      securityGroupRule(direction),
      rules.filter(({ raw }) => isOf(direction, raw)),
      api,
      ({ GroupId }) => GroupId,
    );
  return [...(await describeAll(securityGroup, groups, api)), ...(await of('Ingress')), ...(await of('Egress'))];
}

/** The cluster's backend group belongs to no stack; without load balancers it is a leftover of its own. */
function leftBackends(groups: readonly Listed<SecurityGroup>[], clusterID: string): Found[] {
  const raw = groups.map((group) => group.raw);
  return leftBackendsOf(raw, clusterID, systemClock.now()).map((id) => ({
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
