import type { SecurityGroup, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import type { LoadBalancer, TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { canonicalJson, hashJson, type Json } from '../../operator/base/json';
import type { Api, Listed } from './resources/description';
import { withTags } from './resources/elb-tags';
import { listed as listedGroup } from './resources/security-group';
import { listedRule } from './resources/security-group-rule';
import { fromAwsTags, TAG, type Tags } from './tags';

/** What AWS's bulk listings have. Of ELB it is the whole account's, of EC2 what bears this cluster's tag. */
export interface Listings {
  clusterID: string;
  balancers: Listed<LoadBalancer>[];
  targetGroups: Listed<TargetGroup>[];
  classics: Listed<LoadBalancerDescription>[];
  securityGroups: Listed<SecurityGroup>[];
  rules: Listed<SecurityGroupRule>[];
}

/** Reads all of them: a call for each page, and one for the tags of each twenty. */
export async function listings(api: Api, clusterID: string): Promise<Listings> {
  const { elb, ec2, options } = api;
  const ours = [{ Name: `tag:${TAG.clusterID}`, Values: [clusterID] }];
  const [balancers, targetGroups, classics, securityGroups, rules] = await Promise.all([
    elb.loadBalancers({}, options).then((all) => withTags(all, ({ LoadBalancerArn }) => LoadBalancerArn, api)),
    elb.targetGroups({}, options).then((all) => withTags(all, ({ TargetGroupArn }) => TargetGroupArn, api)),
    classicListing(api),
    ec2.securityGroups(ours, options).then((all) => all.map(listedGroup)),
    ec2.securityGroupRules(ours, options).then((all) => all.map(listedRule)),
  ]);
  return { clusterID, balancers, targetGroups, classics, securityGroups, rules };
}

/** For who asks for routes alone. */
export function noListings(clusterID: string): Listings {
  return { clusterID, balancers: [], targetGroups: [], classics: [], securityGroups: [], rules: [] };
}

async function classicListing({ classic, options }: Api): Promise<Listed<LoadBalancerDescription>[]> {
  const all = await classic.loadBalancers(undefined, options);
  const tags = await classic.presentTags(
    all.map(({ LoadBalancerName = '' }) => LoadBalancerName),
    options,
  );
  return all.map((raw) => ({ id: raw.LoadBalancerName ?? '', raw, tags: fromAwsTags(tags.get(raw.LoadBalancerName ?? '')) }));
}

/** The stack of this cluster that something belongs to; undefined = none, as of what was released, or has no tag that leads back to a program. Pure. */
export function stackOf(tags: Tags, clusterID: string): string | undefined {
  const { [TAG.clusterID]: cluster, [TAG.stack]: stack, [TAG.resource]: name, [TAG.released]: released } = tags;
  return cluster === clusterID && name !== undefined && released === undefined ? stack : undefined;
}

/** What others look at: which state a load balancer is in, and which instances a Classic one has. */
const ASIDE = new Set(['State', 'Instances']);

/** A hash for each stack of what the listings tell of it, in whatever order. Pure. */
export function marksOf({ clusterID, balancers, targetGroups, classics, securityGroups, rules }: Listings): Map<string, string> {
  const seen = new Map<string, Json[]>();
  for (const { raw, tags } of [...balancers, ...targetGroups, ...classics, ...securityGroups, ...rules]) {
    const stack = stackOf(tags, clusterID);
    if (stack === undefined) continue;
    const facts = Object.entries(raw).filter(([name]) => !ASIDE.has(name));
    const told = JSON.parse(JSON.stringify(Object.fromEntries(facts))) as Json;
    seen.set(stack, [...(seen.get(stack) ?? []), [told, { ...tags }]]);
  }
  return new Map([...seen].map(([stack, all]) => [stack, hashJson(unordered(all))]));
}

/** With every list in an order of its own: AWS's is any. */
function unordered(value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map(unordered).map((item) => ({ item, text: canonicalJson(item) }));
    return items.sort((a, b) => (a.text < b.text ? -1 : 1)).map(({ item }) => item);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unordered(item)]));
}
