import type { Listener, LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import type { SecurityGroup } from '@aws-sdk/client-ec2';
import { ANNOTATIONS } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../operator/base/json';
import type { Adoption, AdoptableFrom, DiscoveredResource, LoadBalancerInput } from '../provider';
import { assertOfTheKind, notAdoptable } from './adopt-id';
import { withOwnGroup, type Kept } from './load-balancers/adopted';
import { isClassic, renderClassic, type RenderedClassic } from './load-balancers/classic';
import { partsOf } from './load-balancers/classic-discover';
import { renderNetwork, type RenderedLoadBalancer } from './load-balancers/load-balancers';
import { cloudName } from './load-balancers/names';
import { tagsOf } from './load-balancers/network-settings';
import type { RenderedSecurityGroup } from './load-balancers/security-groups';
import { classicByName, classicLoadBalancer } from './resources/classic-load-balancer';
import type { Api, CommonInputs, Listed, ResourceDescription } from './resources/description';
import { emptyWhenGone, withTags } from './resources/elb-tags';
import { listener } from './resources/listener';
import { foundCertificate } from './resources/listener-certificate';
import { loadBalancer } from './resources/load-balancer';
import { outputsOf } from './resources/owned-resource';
import { listed as listedGroup, securityGroup } from './resources/security-group';
import { isOf, listedRule, securityGroupRule } from './resources/security-group-rule';
import { targetGroup } from './resources/target-group';
import type { LoadBalancerScope } from './scope';
import { holderOf, isOfStack, isOfUpstream, isTakenOver, isUnowned, TAG, type Tags } from './tags';

/** Whose stack asks, for what, and what it may have. */
export interface AdoptionRequest {
  stack: string;
  input: LoadBalancerInput;
  from?: AdoptableFrom | undefined;
  /** ARN of the load balancer that is meant, of a Classic one its name. */
  id?: string | undefined;
}

/** What is found of a load balancer, with what it is in the program. */
interface Standing {
  tags: Tags;
  /** Those that the program has a place for. */
  parts: { tags: Tags; resource: DiscoveredResource }[];
  kept: Kept;
}

/**
 * Cloud.adoptable. A load balancer is found by its ARN; without one by its name, else, of another controller's, by the tags that say for which Service
 * it was made. What it has beyond what the spec asks for stays as it is, and is not looked after.
 */
export async function adoptable(
  api: Api,
  scope: LoadBalancerScope & { region: string },
  request: AdoptionRequest,
): Promise<Adoption | undefined> {
  const { input, from, id } = request;
  if (from === undefined && input.spec.aws?.name === undefined) return undefined;
  if (id !== undefined) assertOfTheKind(id, { classic: isClassic(input.spec), region: scope.region });
  const look = new Look(api, scope, request);
  const standing = isClassic(input.spec) ? await look.classic() : await look.network();
  if (standing === undefined) return undefined;
  if (from === 'Itself') return recognized(standing);
  const foreign = standing.parts.filter(({ tags }) => !look.isOwn(tags));
  const isAdopted = foreign.length > 0 || isTakenOver(standing.tags);
  return {
    from: foreign[0] === undefined ? 'this stack' : holderOf(foreign[0].tags),
    resources: foreign.map(({ resource }) => resource),
    ...(isAdopted && { kept: standing.kept as unknown as JsonObject }),
  };
}

/** What bears this stack's marks stays its own; only what was taken over has something to keep. */
function recognized({ tags, kept }: Standing): Adoption | undefined {
  return isTakenOver(tags) ? { from: 'this stack', resources: [], kept: kept as unknown as JsonObject } : undefined;
}

/** One look at what stands where a load balancer is to be made. */
class Look {
  private readonly base: string;
  private readonly service: string;

  constructor(
    private readonly api: Api,
    private readonly scope: LoadBalancerScope,
    private readonly request: AdoptionRequest,
  ) {
    const { ownerUID, namespace, name } = request.input;
    this.base = cloudName(ownerUID);
    this.service = `${namespace}/${name}`;
  }

  isOwn(tags: Tags): boolean {
    return isOfStack({ clusterID: this.scope.clusterID, stack: this.request.stack }, tags);
  }

  async network(): Promise<Standing | undefined> {
    const found = await this.findNetwork();
    if (found === undefined || this.isNotAsked(found.tags)) return undefined;
    this.assertMine(found.raw.LoadBalancerName ?? '', found.tags);
    const { raw } = found;
    this.assertInPlace(raw.LoadBalancerName ?? '', raw.VpcId);
    if (raw.Type !== 'network') throw this.taken(raw.LoadBalancerName ?? '', `a load balancer of type ${raw.Type ?? 'unknown'}`);
    const { stack, input } = this.request;
    const groupIDs = raw.SecurityGroups ?? [];
    const asked = groupIDs.length > 0 ? withOwnGroup(input) : input;
    const rendered = renderNetwork(stack, { input: asked, retiring: false }, this.scope);
    const { inputs } = await loadBalancer.describe(found, this.api);
    const own = await this.part(loadBalancer, this.base, found);
    const groups = await this.groups(groupIDs, rendered.securityGroup);
    const there = await this.listening(found.id);
    const parts = [own, ...(await this.listeners(found.id, there, rendered)), ...groups.parts];
    const subnetMappings = inputs.subnetMappings as unknown as Kept['subnetMappings'];
    const place = { subnetMappings, internal: raw.Scheme === 'internal', name: raw.LoadBalancerName ?? '' };
    const kept = { ...place, grouped: groupIDs.length > 0, ...groups.kept, ...policiesOf(there) };
    return { tags: found.tags, parts, kept };
  }

  async classic(): Promise<Standing | undefined> {
    const found = await classicByName(this.request.id ?? this.base, this.api);
    if (found === undefined || this.isNotAsked(found.tags)) return undefined;
    this.assertMine(found.id, found.tags);
    this.assertInPlace(found.id, found.raw.VPCId);
    const { stack, input } = this.request;
    const rendered = renderClassic({ input, retiring: false, waits: false }, tagsOf(stack, input, this.scope), this.scope);
    const groups = await this.groups(found.raw.SecurityGroups ?? [], rendered.securityGroup);
    const parts = [await this.part(classicLoadBalancer, this.base, found), ...(await this.policies(found, rendered)), ...groups.parts];
    const subnetMappings = (found.raw.Subnets ?? []).map((subnetId) => ({ subnetId }));
    const place = { subnetMappings, internal: found.raw.Scheme === 'internal', name: found.id };
    return { tags: found.tags, parts, kept: { ...place, grouped: true, ...groups.kept } };
  }

  private async findNetwork(): Promise<Listed<LoadBalancer> | undefined> {
    const { elb, options } = this.api;
    const { from, id, input } = this.request;
    const which = id === undefined ? { Names: [input.spec.aws?.name ?? this.base] } : { LoadBalancerArns: [id] };
    const named = await withTags(await emptyWhenGone(elb.loadBalancers(which, options)), arnOf, this.api);
    if (id !== undefined) return this.networkOnly(named[0], id);
    if (named.length > 0 || (from !== 'Upstream' && from !== 'Itself')) return named[0];
    // The AWS Load Balancer Controller names them after Namespace and Service.
    const all = await withTags(await elb.loadBalancers({}, options), arnOf, this.api);
    // Of one that was tagged before the update ended, or whose state is lost, our own marks say whose it is.
    const isAsked = (tags: Tags): boolean => from === 'Upstream' && isOfUpstream(tags, this.service, this.scope.clusterName);
    return all.find(({ tags }) => (this.isOwn(tags) && isTakenOver(tags)) || isAsked(tags));
  }

  /** @throws OperatorError Invalid where it is of another type */
  private networkOnly(found: Listed<LoadBalancer> | undefined, id: string): Listed<LoadBalancer> | undefined {
    const type = found?.raw.Type ?? 'network';
    if (type === 'network') return found;
    throw notAdoptable(id, `a load balancer of type ${type}; only Network and Classic ones are taken over`);
  }

  /** It is somebody else's, and nothing but a name that nobody has chosen leads there: the update says who has it. */
  private isNotAsked(tags: Tags): boolean {
    return this.request.from === 'Itself' && this.request.input.spec.aws?.name === undefined && !this.isOwn(tags);
  }

  private async listening(arn: string): Promise<Listed<Listener>[]> {
    const { elb, options } = this.api;
    const listed = await emptyWhenGone(elb.listeners({ LoadBalancerArn: arn }, options));
    return withTags(listed, ({ ListenerArn }) => ListenerArn, this.api);
  }

  /** Listeners of the ports asked for, with their target groups where these are as they would be made. */
  private async listeners(
    arn: string,
    there: readonly Listed<Listener>[],
    { listeners: wanted }: RenderedLoadBalancer,
  ): Promise<Standing['parts']> {
    const { elb, options } = this.api;
    // One without target groups is answered with an error.
    const forwarded = await emptyWhenGone(elb.targetGroups({ LoadBalancerArn: arn }, options));
    const groups = await withTags(forwarded, ({ TargetGroupArn }) => TargetGroupArn, this.api);
    const parts: Standing['parts'] = [];
    for (const { name, settings, certificates = [], targetGroup: group } of wanted) {
      const match = there.find(({ raw }) => raw.Port === settings.port);
      if (match === undefined) continue;
      parts.push(await this.part(listener, name, match), ...(await this.certificates(name, match, certificates)));
      const { port, protocol, targetType, ipAddressType, healthCheck } = group.settings;
      const behind = groups.find(({ id }) => id === match.raw.DefaultActions?.[0]?.TargetGroupArn);
      if (behind?.raw.Port !== port || behind.raw.Protocol !== protocol || behind.raw.TargetType !== targetType) continue;
      // AWS can't change that, and refuses the whole update.
      if (behind.raw.HealthCheckProtocol !== healthCheck.protocol) continue;
      // By IPv4 nobody answers for a Service of IPv6 alone; one of both families answers by either.
      if (ipAddressType === 'ipv6' && behind.raw.IpAddressType !== ipAddressType) continue;
      parts.push(await this.part(targetGroup, group.name, behind));
    }
    return parts;
  }

  /** Of those that are wanted; they have no tags, so they are whose listener it is. Others stay. */
  private async certificates(name: string, { id, tags }: Listed<unknown>, wanted: readonly string[]): Promise<Standing['parts']> {
    if (wanted.length === 0) return [];
    const there = await this.api.elb.listenerCertificates(id, this.api.options);
    return there.filter((arn) => wanted.includes(arn)).map((arn) => ({ tags, resource: foundCertificate(name, id, arn) }));
  }

  /** The group that was made for the load balancer, with the rules that are wanted; the others by id. */
  private async groups(
    ids: readonly string[],
    wanted: RenderedSecurityGroup | undefined,
  ): Promise<{ parts: Standing['parts']; kept: Pick<Kept, 'ownGroup' | 'groupIDs'> }> {
    if (ids.length === 0 || wanted === undefined) return { parts: [], kept: { groupIDs: [...ids] } };
    const { ec2, options } = this.api;
    const found = (await ec2.securityGroups([{ Name: 'group-id', Values: [...ids] }], options)).map(listedGroup);
    const own = found.find((group) => this.isMadeFor(group));
    const groupIDs = ids.filter((id) => id !== own?.id && !found.some((group) => group.id === id && this.isOurs(group)));
    if (own === undefined) return { parts: [], kept: { groupIDs } };
    const rules = (await ec2.securityGroupRules([{ Name: 'group-id', Values: [own.id] }], options)).map(listedRule);
    const parts = [await this.part(securityGroup, wanted.name, own)];
    for (const { name, settings } of wanted.rules) {
      for (const rule of rules.filter(({ raw }) => isOf('Ingress', raw))) {
        const part = await this.part(securityGroupRule('Ingress'), name, rule);
        if (placeOf(part.resource.inputs) === placeOf(settings)) parts.push(part);
      }
    }
    return { parts, kept: { ownGroup: true, groupIDs } };
  }

  /** By the tags of whoever made the load balancer, or of this stack by now. */
  private isMadeFor({ tags, raw }: Listed<SecurityGroup>): boolean {
    const { from } = this.request;
    if (this.isOwn(tags) || (from === 'Released' && tags[TAG.released] !== undefined)) return true;
    // What bears its marks alone is known again: a group that was not taken over then is not now.
    if (from === 'Itself') return false;
    const { clusterName = '' } = this.scope;
    const owned = tags[`kubernetes.io/cluster/${clusterName}`] === 'owned' && (raw.GroupName ?? '').startsWith('k8s-');
    return tags[TAG.clusterID] === undefined && (isOfUpstream(tags, this.service, clusterName) || owned);
  }

  /** A group of this operator's that comes with the program, such as the backend group. */
  private isOurs({ tags }: Listed<SecurityGroup>): boolean {
    return tags[TAG.clusterID] === this.scope.clusterID && tags[TAG.released] === undefined;
  }

  /** Policies have no tags: they are whose load balancer it is. */
  private async policies(found: Listed<LoadBalancerDescription>, { name }: RenderedClassic): Promise<Standing['parts']> {
    const resources = await partsOf({ ...found, id: name }, this.api);
    return resources.map((resource) => ({ tags: found.tags, resource }));
  }

  private async part<Inputs extends CommonInputs, Raw>(
    description: ResourceDescription<Inputs, Raw>,
    name: string,
    found: Listed<Raw>,
  ): Promise<Standing['parts'][number]> {
    const { clusterID, released } = { clusterID: found.tags[TAG.clusterID], released: found.tags[TAG.released] };
    if (clusterID !== undefined && released === undefined && !this.isOwn(found.tags)) throw this.taken(found.id, holderOf(found.tags));
    const { inputs: has, observed } = await description.describe(found, this.api);
    const inputs = { ...has, tags: { ...found.tags, [TAG.adopted]: 'true' } };
    return { tags: found.tags, resource: { type: description.token, name, id: found.id, inputs, outputs: outputsOf(inputs, observed) } };
  }

  /** @throws OperatorError Taken naming the holder */
  private assertMine(name: string, tags: Tags): void {
    const { from } = this.request;
    const released = from === 'Released' && tags[TAG.released] !== undefined;
    const upstream = from === 'Upstream' && isOfUpstream(tags, this.service, this.scope.clusterName);
    const unowned = from === 'Unowned' && isUnowned(tags);
    if (this.isOwn(tags) || released || upstream || unowned) return;
    const remedy = isUnowned(tags)
      ? `If it may be taken over: name it by its ARN, with ${ANNOTATIONS.adopt}: Unowned (docs/operate/adopt.md)`
      : undefined;
    throw this.taken(name, holderOf(tags), remedy);
  }

  /** @throws OperatorError Invalid where no target of ours could ever stand behind it */
  private assertInPlace(name: string, vpcID: string | undefined): void {
    const { vpcID: ours } = this.scope;
    if (ours === undefined || vpcID === ours) return;
    throw new OperatorError('Invalid', `the load balancer ${name} is in ${vpcID ?? 'no VPC'}, and the Nodes are in ${ours}`, {
      field: this.field,
    });
  }

  private taken(
    name: string,
    holder: string,
    remedy = 'Ask for another one, or have it given up there and taken over here (docs/operate/adopt.md)',
  ): OperatorError {
    return new OperatorError('Taken', `the name ${name} belongs to ${holder}`, { remedy, field: this.field });
  }

  private get field(): string {
    return this.request.id === undefined ? 'spec.aws.name' : 'spec.adoptID';
  }
}

/** Of listeners that speak TLS, by port. */
function policiesOf(listeners: readonly Listed<Listener>[]): Pick<Kept, 'tlsPolicies'> {
  const policies = listeners.flatMap(({ raw: { Port, Protocol, SslPolicy } }) =>
    Protocol === 'TLS' && SslPolicy !== undefined ? [[String(Port), SslPolicy] as const] : [],
  );
  return policies.length === 0 ? {} : { tlsPolicies: Object.fromEntries(policies) };
}

function arnOf({ LoadBalancerArn }: LoadBalancer): string | undefined {
  return LoadBalancerArn;
}

/** What two rules of a group can't have both. */
function placeOf(rule: object): string {
  const outside = ['description', 'tags', 'securityGroupId'];
  return canonicalJson(Object.fromEntries(Object.entries(rule).filter(([key]) => !outside.includes(key))));
}
