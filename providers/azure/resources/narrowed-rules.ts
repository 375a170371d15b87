import { z } from 'zod';
import type { Json } from '../../../operator/base/json';
import { mergedRules, sameRules } from '../security-groups/merge';
import type { PartDescription } from './part-of-resource';
import { NARROWED_RULES, observed, rulesOfGroup } from './security-rules';

const schema = z.strictObject({ networkSecurityGroupId: z.string().min(1), ...observed });
export type NarrowedRulesInputs = z.infer<typeof schema>;

/**
 * Stands behind a load balancer, and stands for nothing itself: where what its rules in a security group lead to has become less, the rest is taken out when
 * it is reached. Until then clients are let in to what the load balancer still does. Its delete leaves all to that of the rules.
 */
export const narrowedRules: PartDescription<NarrowedRulesInputs> = {
  token: NARROWED_RULES,
  schema,
  idProperty: 'networkSecurityGroupId',
  idOf: ({ networkSecurityGroupId }) => networkSecurityGroupId,
  isIdle: (wanted) => wanted === undefined || wanted.former.length === 0,
  merged: (properties, wanted) => {
    const existing = rulesOfGroup(properties);
    const inRule = new Map(wanted?.former.map(({ name, destinations }) => [name, destinations]));
    const securityRules = mergedRules(existing, [], { everywhere: [], inRule });
    return sameRules(existing, securityRules) ? undefined : { ...properties, securityRules: securityRules as unknown as Json };
  },
};
