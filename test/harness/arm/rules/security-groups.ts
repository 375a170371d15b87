import ipaddr from 'ipaddr.js';
import { refusal } from '../request';
import { partsIn, type Part } from '../resource';
import type { Rule } from '../rule';

interface SecurityRule {
  priority: number;
  direction: 'Inbound' | 'Outbound';
  protocol: string;
  sourceAddressPrefix?: string;
  sourceAddressPrefixes?: string[];
  destinationAddressPrefix?: string;
  destinationAddressPrefixes?: string[];
  destinationPortRange?: string;
  destinationPortRanges?: string[];
}

/** Priorities are 100 to 4096 (learn.microsoft.com, "Network security groups"). */
export const priorityRange: Rule = ({ after }) => {
  const bad = rulesOf(after).find(({ priority }) => !Number.isInteger(priority) || priority < 100 || priority > 4096);
  if (bad === undefined) return undefined;
  return refusal(
    400,
    'SecurityRuleInvalidPriority',
    `Security rule has invalid Priority. Value provided: ${bad.priority} Allowed range 100-4096.`,
  );
};

/** One rule for each priority and direction. */
export const priorityOnce: Rule = ({ after }) => {
  const seen = new Map<string, string>();
  for (const { name, priority, direction } of rulesOf(after)) {
    const key = `${direction} ${priority}`;
    const other = seen.get(key);
    if (other !== undefined) {
      return refusal(
        400,
        'SecurityRuleConflict',
        `Security rule ${name} conflicts with rule ${other}. Rules cannot have the same Priority and Direction.`,
      );
    }
    seen.set(key, name);
  }
  return undefined;
};

/** A rule says where from, where to and on which ports, each in one of two forms, and its addresses are of one family. */
export const ruleForm: Rule = ({ after }) => {
  for (const rule of rulesOf(after)) {
    const forms: [string, unknown, unknown[] | undefined][] = [
      ['source address', rule.sourceAddressPrefix, rule.sourceAddressPrefixes],
      ['destination address', rule.destinationAddressPrefix, rule.destinationAddressPrefixes],
      ['destination port', rule.destinationPortRange, rule.destinationPortRanges],
    ];
    for (const [what, one, several = []] of forms) {
      if ((one === undefined) !== several.length > 0) {
        return refusal(
          400,
          'SecurityRuleParameterContainsUnsupportedValue',
          `Security rule ${rule.name} needs one ${what} or a list of them.`,
        );
      }
    }
    const families = new Set(
      addressesOf(rule)
        .filter((one) => /[:.].*\d|::/.test(one))
        .map((one) => (one.includes(':') ? 6 : 4)),
    );
    if (families.size > 1) {
      return refusal(400, 'SecurityRuleAddressPrefixesMixed', `Security rule ${rule.name} has addresses of both families.`);
    }
  }
  return undefined;
};

/** Sources have no bits beyond their masks, and none of a rule lies within another one of it. */
export const sourceRanges: Rule = ({ after }) => {
  for (const { name, sourceAddressPrefix = '', sourceAddressPrefixes = [] } of rulesOf(after)) {
    const ranges = [sourceAddressPrefix, ...sourceAddressPrefixes].filter((one) => one.includes('/'));
    const unmasked = ranges.find((range) => networkOf(range) !== ipaddr.parseCIDR(range)[0].toString());
    if (unmasked !== undefined) {
      const text = `Security rule ${name} has invalid Address prefix. Value provided: ${unmasked}`;
      return refusal(400, 'SecurityRuleInvalidAddressPrefix', text);
    }
    const inside = ranges.find((range, index) => ranges.some((other, at) => at !== index && liesIn(range, other)));
    if (inside === undefined) continue;
    const text = `Security rule parameter SourceAddressPrefix for rule ${name} contains overlapping subnets [${inside}], which is not permitted.`;
    return refusal(400, 'OverlappingSubnetsNotPermittedInSecurityRule', text);
  }
  return undefined;
};

/** How many rules, and addresses in them, a group may have. */
export const securityGroupLimits: Rule = ({ after }, { limits }) => {
  const rules = rulesOf(after);
  if (rules.length > limits.rulesPerSecurityGroup) {
    return refusal(
      400,
      'SecurityRuleCountLimitReached',
      `Cannot create more than ${limits.rulesPerSecurityGroup} security rules for one group.`,
    );
  }
  const most = Math.max(
    rules.reduce((sum, { sourceAddressPrefixes = [] }) => sum + sourceAddressPrefixes.length, 0),
    rules.reduce((sum, { destinationAddressPrefixes = [] }) => sum + destinationAddressPrefixes.length, 0),
  );
  if (most <= limits.addressesPerSecurityGroup) return undefined;
  return refusal(
    400,
    'SecurityRuleAddressPrefixCountLimitReached',
    `A group has ${limits.addressesPerSecurityGroup} address prefixes at most.`,
  );
};

function rulesOf(after: { properties: Part['properties'] } | undefined): (SecurityRule & { name: string })[] {
  return partsIn(after, 'securityRules').map(({ name, properties }) => ({ name, ...(properties as unknown as SecurityRule) }));
}

function addressesOf(rule: SecurityRule): string[] {
  const { sourceAddressPrefix, sourceAddressPrefixes = [], destinationAddressPrefix, destinationAddressPrefixes = [] } = rule;
  return [sourceAddressPrefix, ...sourceAddressPrefixes, destinationAddressPrefix, ...destinationAddressPrefixes].filter(
    (one): one is string => one !== undefined,
  );
}

function networkOf(range: string): string {
  const of = range.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4;
  return of.networkAddressFromCIDR(range).toString();
}

function liesIn(range: string, other: string): boolean {
  const [[address, bits], whole] = [ipaddr.parseCIDR(range), ipaddr.parseCIDR(other)];
  return address.kind() === whole[0].kind() && bits >= whole[1] && address.match(whole);
}
