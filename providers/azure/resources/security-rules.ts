import { z } from 'zod';
import type { Json } from '../../../operator/base/json';
import { OWN_PACKAGE } from '../../resource-provider/own-package';
import { mergedRules, type OwnedDestinations, sameRules } from '../security-groups/merge';
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
  rulesPerSecurityGroup: z.int().min(1),
  addressesPerSecurityGroup: z.int().min(1),
});
export type SecurityRulesInputs = z.infer<typeof schema>;

/**
 * Our rules in a security group, and our addresses in rules that upstream or another cluster of ours has by the same names. Discovery finds the group, and
 * of its rules those destinations that the state has.
 */
export const securityRules: PartDescription<SecurityRulesInputs> = {
  token: `${OWN_PACKAGE}:azure:SecurityRules`,
  schema,
  idProperty: 'networkSecurityGroupId',
  idOf: ({ networkSecurityGroupId }) => networkSecurityGroupId,
  merged: (properties, wanted, owned) => {
    const existing = rulesOfGroup(properties);
    const securityRules = mergedRules(existing, rulesIn(wanted), ownedBy(wanted === undefined ? owned : [...owned, wanted]), wanted);
    return sameRules(existing, securityRules) ? undefined : { ...properties, securityRules: securityRules as unknown as Json };
  },
};

/** The rules of a security group. Pure. */
export function rulesOfGroup(properties: { securityRules?: unknown }): SecurityRule[] {
  return (properties.securityRules ?? []) as SecurityRule[];
}

function rulesIn(inputs: SecurityRulesInputs | undefined): WantedRule[] {
  return (inputs?.rules ?? []).map(({ name: _name, ports, ...rule }) => ({ ...rule, ...(ports !== undefined && { ports }) }));
}

/** A frontend's address is its stack's in every rule, another one only in those that the stack has written it into. */
function ownedBy(parts: readonly SecurityRulesInputs[]): OwnedDestinations {
  const shared = new Set(parts.flatMap(({ nodeAddresses = [], additionalAddresses = [] }) => [...nodeAddresses, ...additionalAddresses]));
  const rules = parts.flatMap(rulesIn);
  const all = rules.flatMap(({ destinations }) => destinations);
  const inRule = new Map<string, string[]>();
  for (const rule of rules) inRule.set(ruleNameOf(rule), [...(inRule.get(ruleNameOf(rule)) ?? []), ...rule.destinations]);
  return { everywhere: all.filter((address) => !shared.has(address)), inRule };
}
