import { LoadBalancer } from '@pulumi/azure-native/network/loadBalancer';
import { PublicIPAddress } from '@pulumi/azure-native/network/publicIPAddress';
import * as pulumi from '@pulumi/pulumi';
import { declareLinks, StandingLinks } from '../private-links/program';
import { NAMED_ADDRESS, type NamedAddressInputs } from '../resources/named-address';
import { narrowedRules, type NarrowedRulesInputs } from '../resources/narrowed-rules';
import { type RulesObserved, securityRules, type SecurityRulesInputs } from '../resources/security-rules';
import { rulesOfStack } from '../security-groups/rules-of-stack';
import { ruleNameOf } from '../security-groups/security-rule';
import { TAG } from '../tags';
import type { LoadBalancerArguments } from './arguments';
import type { RenderedPublicAddress } from './public-addresses';
import type { RenderedBalancer, RenderedMember, RenderedNamed, RenderedSecurityGroup, RenderedStack } from './render';
import type { PublishedLoadBalancer } from './results';

/** A public address that is there already. */
class NamedAddress extends pulumi.CustomResource {
  declare readonly publicIPAddressId: pulumi.Output<string>;
  declare readonly ipAddress: pulumi.Output<string>;

  constructor(name: string, args: NamedAddressInputs) {
    super(NAMED_ADDRESS, name, { ...args, publicIPAddressId: undefined, ipAddress: undefined });
  }
}

type Args<T> = { [K in keyof T]: pulumi.Input<T[K]> };

/** Our part of the Nodes' security group. */
class SecurityRules extends pulumi.CustomResource {
  declare readonly observed: pulumi.Output<RulesObserved | undefined>;

  constructor(name: string, args: Args<SecurityRulesInputs>, options: pulumi.CustomResourceOptions) {
    super(securityRules.token, name, { ...args, observed: undefined }, options);
  }
}

/** The end of what was in that part, and is not wanted there any more. */
class NarrowedRules extends pulumi.CustomResource {
  constructor(name: string, args: Args<NarrowedRulesInputs>, options: pulumi.CustomResourceOptions) {
    super(narrowedRules.token, name, args, options);
  }
}

/**
 * Without the dozens of names that Pulumi had for a type before: no state of ours has them, and each of them costs as much as a resource, in a program of
 * hundreds.
 */
const ALONE: pulumi.CustomResourceOptions = { transformations: [({ props, opts }) => ({ props, opts: { ...opts, aliases: [] } })] };
/** Resources that are declared at once. */
const CHUNK = 20;

/** What a frontend answers at. */
interface DeclaredAddress {
  resource: pulumi.CustomResource;
  id: pulumi.Output<string>;
  ip: pulumi.Output<string>;
}

type Published = Record<string, pulumi.Output<PublishedLoadBalancer>>;

/**
 * The program of stacks of load balancers: `inputs` are what `LoadBalancers.render` gave.
 * @returns the stack's outputs: a PublishedLoadBalancer for each UID
 */
export async function declareBalancers({ balancers }: RenderedStack): Promise<Published> {
  const published: Published[] = [];
  for (const balancer of balancers) published.push(await declare(balancer));
  return Object.assign({}, ...published) as Published;
}

/**
 * Addresses first, then who may come in, then the load balancer, then who no longer may, so that nobody is led to a closed door; what internal frontends
 * answer at, only the load balancer tells.
 */
async function declare({ loadBalancer, addresses, named, members, securityGroup, links }: RenderedBalancer): Promise<Published> {
  const { loadBalancerName: name, tags, frontendIPConfigurations } = loadBalancer;
  const isPublic = frontendIPConfigurations.some(({ subnet }) => subnet === undefined);
  const declared = new Map([...(await inChunks(addresses, declareAddress)), ...(await inChunks(named, declareNamed))]);
  const openTo = (known: Addresses, dependsOn: pulumi.Resource[]): SecurityRules | undefined =>
    securityGroup && declareRules(name, { securityGroup, members, known, isPublic }, dependsOn);
  const publicAddresses = pulumi.all(Object.fromEntries([...declared].map(([frontend, { ip }]) => [frontend, ip])));
  const opened = isPublic ? openTo(publicAddresses, []) : undefined;
  const ids = pulumi.all(Object.fromEntries(named.flatMap(({ frontend }) => pairOf(frontend, declared.get(frontend)?.id))));
  // What is known without them is shown in plans.
  const parts = named.length === 0 ? loadBalancer : ids.apply((known) => withAddresses(loadBalancer, known));
  const args = {
    ...loadBalancer,
    frontendIPConfigurations: pulumi.output(parts).frontendIPConfigurations,
    loadBalancingRules: pulumi.output(parts).loadBalancingRules,
    tags: { ...tags, [TAG.resource]: name },
  };
  const standing = links && new StandingLinks(`${name}-links`, links.standing);
  const needed = [...declared.values()].map(({ resource }) => resource);
  const before = [opened, standing].filter((one) => one !== undefined);
  const balancer = new LoadBalancer(name, args, { ...ALONE, dependsOn: [...needed, ...before] });
  const frontendFor = (id: string): pulumi.Input<string> =>
    named.length === 0 ? id : ids.apply((known) => frontendsFor(loadBalancer, known)(id));
  declareLinks(links?.services ?? [], { balancer, name, frontendFor, options: ALONE });
  const known = isPublic ? publicAddresses : balancer.frontendIPConfigurations.apply(privateAddresses);
  if (!isPublic) openTo(known, [balancer]);
  if (opened !== undefined && securityGroup !== undefined) {
    const { former, times } = opened.observed.apply((observed): RulesObserved => observed ?? { former: [], times: 0 });
    new NarrowedRules(narrowedName(name), { networkSecurityGroupId: securityGroup.id, former, times }, { dependsOn: [balancer] });
  }
  return publish(members, known);
}

/** Between some and the next ones the process gets to what else it has to do: the operator stops a worker that says nothing for long. */
async function inChunks<T, R>(all: readonly T[], declareOne: (one: T) => R): Promise<R[]> {
  const declared: R[] = [];
  for (const [index, one] of all.entries()) {
    if (index > 0 && index % CHUNK === 0) await new Promise((resolve) => setImmediate(resolve));
    declared.push(declareOne(one));
  }
  return declared;
}

type Parts = Pick<LoadBalancerArguments, 'frontendIPConfigurations' | 'loadBalancingRules'>;

/**
 * Frontends with the ids of public addresses that are there already, and the rules that lead from them. Azure has one frontend for an address: who has
 * asked for the one that was made for another load balancer gets that one's frontend. Pure.
 * @param ids of those that are there already, by the names of their frontends
 */
export function withAddresses(parts: Parts, ids: Readonly<Record<string, string>>): Parts {
  const { frontendIPConfigurations, loadBalancingRules } = parts;
  const frontendFor = frontendsFor(parts, ids);
  const frontends = frontendIPConfigurations.filter(({ name }) => frontendFor(name) === name);
  return {
    frontendIPConfigurations: frontends.map((frontend) => {
      const id = ids[frontend.name];
      return id === undefined ? frontend : { ...frontend, publicIPAddress: { id } };
    }),
    loadBalancingRules: loadBalancingRules.map((rule) => ({
      ...rule,
      frontendIPConfiguration: { id: frontendFor(rule.frontendIPConfiguration.id) },
    })),
  };
}

/** The frontend, by its name or id, that is there for the one that a member has. Pure. */
function frontendsFor({ frontendIPConfigurations }: Pick<Parts, 'frontendIPConfigurations'>, ids: Readonly<Record<string, string>>) {
  const ofAddress = new Map(Object.entries(ids).map(([frontend, id]) => [id.toLowerCase(), frontend]));
  for (const { name, publicIPAddress } of frontendIPConfigurations) {
    if (publicIPAddress !== undefined && ids[name] === undefined) ofAddress.set(publicIPAddress.id.toLowerCase(), name);
  }
  return (id: string): string => {
    const at = id.lastIndexOf('/') + 1;
    const name = id.slice(at);
    return id.slice(0, at) + (ofAddress.get(ids[name]?.toLowerCase() ?? '') ?? name);
  };
}

function pairOf<T>(key: string, value: T | undefined): [string, T][] {
  return value === undefined ? [] : [[key, value]];
}

/** By the names of frontends. */
type Addresses = pulumi.Output<Record<string, string>>;

function privateAddresses(frontends: readonly { name?: string; privateIPAddress?: string }[] = []): Record<string, string> {
  return Object.fromEntries(frontends.map(({ name = '', privateIPAddress = '' }) => [name, privateIPAddress]));
}

function declareAddress({ frontend, tags, ...args }: RenderedPublicAddress): [string, DeclaredAddress] {
  const name = args.publicIpAddressName;
  const resource = new PublicIPAddress(name, { ...args, tags: { ...tags, [TAG.resource]: name } }, ALONE);
  return [frontend, { resource, id: resource.id, ip: resource.ipAddress.apply((ip) => ip ?? '') }];
}

function declareNamed({ frontend, by, ...args }: RenderedNamed): [string, DeclaredAddress] {
  const resource = new NamedAddress(frontend, { ...args, ...by });
  return [frontend, { resource, id: resource.publicIPAddressId, ip: resource.ipAddress }];
}

interface AccessOf {
  securityGroup: RenderedSecurityGroup;
  members: readonly RenderedMember[];
  known: Addresses;
  isPublic: boolean;
}

function narrowedName(balancer: string): string {
  return `${balancer}-narrowed`;
}

function declareRules(
  balancer: string,
  { securityGroup, members, known, isPublic }: AccessOf,
  dependsOn: pulumi.Resource[],
): SecurityRules {
  const { id, limits, nodeAddresses } = securityGroup;
  const rules = known.apply((ofFrontends) =>
    rulesOfStack(members, { ofFrontends, ofNodes: nodeAddresses }).map((rule) => ({ name: ruleNameOf(rule), ...rule })),
  );
  const isBlind = members.some(({ nodeFamilies }) => nodeFamilies.length > 0);
  const additionalAddresses = [...new Set(members.flatMap(({ access }) => access.azure?.access?.additionalAddresses ?? []))].sort();
  const shared = { ...(isBlind && { nodeAddresses }), ...(additionalAddresses.length > 0 && { additionalAddresses }) };
  const args = { networkSecurityGroupId: id, rules, ...limits, ...shared, ...(isPublic && { narrowedBy: narrowedName(balancer) }) };
  return new SecurityRules(`${balancer}-access`, args, { dependsOn });
}

/** The addresses of the newest generation, and the rules of all. */
function publish(members: readonly RenderedMember[], known: Addresses): Published {
  const uids = [...new Set(members.map(({ uid }) => uid))];
  return Object.fromEntries(
    uids.map((uid) => {
      const own = members.filter((member) => member.uid === uid);
      const newest = own.find(({ retiring }) => retiring !== true) ?? own[0];
      const targetGroups = own.flatMap((member) => member.targetGroups);
      const more = newest?.access.azure?.access?.additionalAddresses ?? [];
      const addresses = known.apply((ips) => [...(newest?.frontends ?? []).map((frontend) => ips[frontend] ?? ''), ...more]);
      return [uid, pulumi.output({ addresses, targetGroups })];
    }),
  );
}
