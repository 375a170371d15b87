import { z } from 'zod';
import { toOperatorError } from '../../../operator/base/errors';
import type { Json, JsonObject } from '../../../operator/base/json';
import { OWN_PACKAGE, STATE_PACKAGE } from '../../resource-provider/own-package';
import { type FormerDestinations, formerDestinations, mergedRules, type OwnedDestinations, sameRules } from '../security-groups/merge';
import { ruleNameOf, type SecurityRule, type WantedRule } from '../security-groups/security-rule';
import type { PartDescription } from './part-of-resource';

const wantedRule = z.strictObject({
  /** In the group: by it drift finds it again. */
  name: z.string().min(1),
  access: z.enum(['Allow', 'Deny']),
  family: z.enum(['IPv4', 'IPv6']),
  protocol: z.enum(['Tcp', 'Udp', '*']),
  sources: z.array(z.string().min(1)).min(1),
  ports: z.array(z.int().min(1).max(65535)).optional(),
  destinations: z.array(z.string().min(1)).min(1),
});

const schema = z.strictObject({
  networkSecurityGroupId: z.string().min(1),
  rules: z.array(wantedRule),
  /** Destinations that other load balancers have too: the Nodes' own addresses. */
  nodeAddresses: z.array(z.string().min(1)).optional(),
  /** Destinations that may be the frontends of other load balancers, or stand before several of them. */
  additionalAddresses: z.array(z.string().min(1)).optional(),
  /** What is not wanted any more stays, and is told (`RulesObserved`): the NarrowedRules of this name takes it out when the load balancer is written. */
  narrowedBy: z.string().min(1).optional(),
  /** In states of earlier versions, in the place of `narrowedBy`. */
  leavesFormer: z.literal(true).optional(),
  rulesPerSecurityGroup: z.int().min(1),
  addressesPerSecurityGroup: z.int().min(1),
});
export type SecurityRulesInputs = z.infer<typeof schema>;

/** What is in the group and not wanted there any more, of this write and of those whose load balancer was not written since. */
export const observed = {
  former: z.array(z.strictObject({ name: z.string().min(1), destinations: z.array(z.string().min(1)).min(1) })),
  /** How often there was something: the same may have to be taken out again. */
  times: z.int().min(0),
};
export type RulesObserved = { former: FormerDestinations[]; times: number };

/** Type token of what takes that out. */
export const NARROWED_RULES = `${STATE_PACKAGE}AzureNarrowedRules`;

const NOTHING: OwnedDestinations = { everywhere: [] };
const UNLIMITED = { rulesPerSecurityGroup: Infinity, addressesPerSecurityGroup: Infinity };

/**
 * Our rules in a security group, and our addresses in rules that upstream or another cluster of ours has by the same names. Discovery finds the group, and
 * of its rules those destinations that the state has.
 */
export const securityRules: PartDescription<SecurityRulesInputs> = {
  token: `${OWN_PACKAGE}:azure:SecurityRules`,
  schema,
  idProperty: 'networkSecurityGroupId',
  idOf: ({ networkSecurityGroupId }) => networkSecurityGroupId,
  merged: (properties, wanted, owned, kept) => {
    const existing = rulesOfGroup(properties);
    const all = ownedBy(wanted === undefined ? owned : [...owned, wanted], observedIn(kept).former);
    const securityRules =
      wanted?.narrowedBy === undefined ? mergedRules(existing, rulesIn(wanted), all, wanted) : widened(existing, wanted, all);
    return sameRules(existing, securityRules) ? undefined : { ...properties, securityRules: securityRules as unknown as Json };
  },
  without: (part, kept, others) => {
    const wanted = new Map<string, Set<string>>();
    for (const rule of others.flatMap(rulesIn)) {
      const name = ruleNameOf(rule);
      wanted.set(name, new Set([...(wanted.get(name) ?? []), ...rule.destinations]));
    }
    const leftOf = <R extends { destinations: string[] }>(rule: R, name: string): R[] => {
      const destinations = rule.destinations.filter((address) => wanted.get(name)?.has(address) !== true);
      return destinations.length === 0 ? [] : [{ ...rule, destinations }];
    };
    const rules = part.rules.flatMap((rule) => leftOf(rule, ruleNameOf(asWanted(rule))));
    const shared = [...wanted.values()].flatMap((addresses) => [...addresses]);
    const { former, times } = observedIn(kept);
    return {
      part: { ...part, rules, additionalAddresses: [...(part.additionalAddresses ?? []), ...shared] },
      kept: { former: former.flatMap((rule) => leftOf(rule, rule.name)), times },
    };
  },
  observed: (wanted, had, { olds, owned }): RulesObserved | undefined => {
    if (wanted.narrowedBy === undefined) return undefined;
    const existing = rulesOfGroup(had);
    const { former: formerly, times } = observedIn(olds);
    const narrowed = mergedRules(existing, rulesIn(wanted), ownedBy([...owned, wanted], formerly), UNLIMITED);
    const former = formerDestinations(existing, narrowed);
    return { former, times: former.length === 0 ? times : times + 1 };
  },
  // What was taken out may be another load balancer's by now.
  outstanding: (kept, { narrowedBy = '', networkSecurityGroupId }, stored): RulesObserved => {
    const { former, times } = observedIn(kept);
    const done = stored(NARROWED_RULES, narrowedBy);
    const isDone = done?.times === times && done.networkSecurityGroupId === networkSecurityGroupId;
    return { former: isDone ? [] : former, times };
  },
};

/** With what is wanted, and what was; where the group has no room for both, without that. */
function widened(existing: readonly SecurityRule[], wanted: SecurityRulesInputs, owned: OwnedDestinations): SecurityRule[] {
  try {
    return mergedRules(existing, rulesIn(wanted), NOTHING, wanted);
  } catch (thrown) {
    if (toOperatorError(thrown).code !== 'Quota') throw thrown;
    return mergedRules(existing, rulesIn(wanted), owned, wanted);
  }
}

function observedIn(kept: JsonObject = {}): RulesObserved {
  return z.strictObject(observed).safeParse(kept).data ?? { former: [], times: 0 };
}

/** The rules of a security group. Pure. */
export function rulesOfGroup(properties: { securityRules?: unknown }): SecurityRule[] {
  return (properties.securityRules ?? []) as SecurityRule[];
}

function rulesIn(inputs: SecurityRulesInputs | undefined): WantedRule[] {
  return (inputs?.rules ?? []).map(asWanted);
}

function asWanted({ name: _name, ports, ...rule }: SecurityRulesInputs['rules'][number]): WantedRule {
  return { ...rule, ...(ports !== undefined && { ports }) };
}

/** A frontend's address is its stack's in every rule, another one, or a former one, only in those that the stack has written it into. */
function ownedBy(parts: readonly SecurityRulesInputs[], formerly: readonly FormerDestinations[]): OwnedDestinations {
  const shared = new Set(parts.flatMap(({ nodeAddresses = [], additionalAddresses = [] }) => [...nodeAddresses, ...additionalAddresses]));
  const rules = parts.flatMap(rulesIn);
  const all = rules.flatMap(({ destinations }) => destinations);
  const inRule = new Map<string, string[]>();
  const written = [...rules.map((rule) => ({ name: ruleNameOf(rule), destinations: rule.destinations })), ...formerly];
  for (const { name, destinations } of written) inRule.set(name, [...(inRule.get(name) ?? []), ...destinations]);
  return { everywhere: all.filter((address) => !shared.has(address)), inRule };
}
