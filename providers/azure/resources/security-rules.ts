import { z } from 'zod';
import type { Json } from '../../../operator/base/json';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import { mergedRules, sameRules } from '../security-groups/merge';
import type { SecurityRule } from '../security-groups/security-rule';
import type { PartDescription } from './part-of-resource';

const wantedRule = z.strictObject({
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
  rulesPerSecurityGroup: z.int().min(1),
  addressesPerSecurityGroup: z.int().min(1),
});
export type SecurityRulesInputs = z.infer<typeof schema>;

/** Our rules in a security group, and our addresses in rules that upstream or another cluster of ours has by the same names. */
export const securityRules: PartDescription<SecurityRulesInputs> = {
  token: `${STATE_PACKAGE}AzureSecurityRules`,
  schema,
  idProperty: 'networkSecurityGroupId',
  idOf: ({ networkSecurityGroupId }) => networkSecurityGroupId,
  merged: (properties, wanted, owned) => {
    const existing = (properties.securityRules ?? []) as unknown as SecurityRule[];
    const destinations = owned.flatMap(({ rules }) => rules).flatMap((rule) => rule.destinations);
    const rules = (wanted?.rules ?? []).map(({ ports, ...rule }) => ({ ...rule, ...(ports !== undefined && { ports }) }));
    const securityRules = mergedRules(existing, rules, destinations, wanted);
    return sameRules(existing, securityRules) ? undefined : { ...properties, securityRules: securityRules as unknown as Json };
  },
};
