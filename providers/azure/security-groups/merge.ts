import { AZURE_LIMITS, type AzureLimits } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import {
  asDestinations,
  destinationsOf,
  portsOf,
  ruleNameOf,
  RULE_PREFIX,
  sourcesOf,
  type SecurityRule,
  type SecurityRuleProperties,
  type WantedRule,
} from './security-rule';

/** Priorities of upstream's rules, and of ours. */
const FIRST_PRIORITY = 500;
const LAST_PRIORITY = 4096;

/** Destinations in a group's rules that are ours. */
export interface OwnedDestinations {
  /** In whatever rule. */
  everywhere: readonly string[];
  /** Only in the rules of these names. */
  inRule?: ReadonlyMap<string, readonly string[]>;
}

/** Destinations of the rule of that name which are not wanted there any more. */
export type FormerDestinations = { name: string; destinations: string[] };

type Limits = Pick<AzureLimits, 'rulesPerSecurityGroup' | 'addressesPerSecurityGroup'>;

/**
 * The rules of a group with ours as they are wanted, and everybody else's as they are. Rules are shared by Services, clusters and upstream by their
 * names; what is ours of one are its destinations. Rules that lead nowhere any more go; a rule that stays keeps its priority. Pure.
 * @param owned destinations that were ours so far, or are to be: they are taken out of where they are not wanted
 * @throws OperatorError Quota with the figures when the group can't hold them
 */
export function mergedRules(
  existing: readonly SecurityRule[],
  wanted: readonly WantedRule[],
  owned: OwnedDestinations,
  limits: Limits = AZURE_LIMITS,
): SecurityRule[] {
  const everywhere = new Set(owned.everywhere);
  const oursIn = (name: string): ReadonlySet<string> => new Set([...everywhere, ...(owned.inRule?.get(name) ?? [])]);
  const rules = new Map(existing.map((rule) => [rule.name, isShared(rule) ? without(rule, oursIn(rule.name)) : rule]));
  for (const want of wanted) {
    const name = ruleNameOf(want);
    const has = rules.get(name)?.properties;
    const properties = has === undefined ? made(want, freePriority([...rules.values()], want.access)) : repaired(has, want);
    const destinations = [...destinationsOf(properties), ...want.destinations];
    rules.set(name, { ...rules.get(name), name, properties: withDestinations(properties, destinations) });
  }
  const merged = [...rules.values()].filter((rule) => !isShared(rule) || destinationsOf(rule.properties).length > 0);
  assertFits(merged, existing, limits);
  return merged;
}

/** What some rules lead to and others, of the same names, do not. Pure. */
export function formerDestinations(rules: readonly SecurityRule[], later: readonly SecurityRule[]): FormerDestinations[] {
  const left = new Map(later.map(({ name, properties }) => [name, new Set(destinationsOf(properties))]));
  return rules.flatMap(({ name, properties }) => {
    const destinations = destinationsOf(properties).filter((one) => left.get(name)?.has(one) !== true);
    return destinations.length === 0 ? [] : [{ name, destinations: destinations.sort() }];
  });
}

/** The same rules, in any order: nothing is to be written. Pure. */
export function sameRules(some: readonly SecurityRule[], others: readonly SecurityRule[]): boolean {
  return some.length === others.length && some.every((rule) => others.some((other) => isSame(rule, other)));
}

function isSame(rule: SecurityRule, other: SecurityRule): boolean {
  const said = ({ name, properties }: SecurityRule): string =>
    JSON.stringify([name, properties.priority, formOf(properties), destinationsOf(properties).sort()]);
  return said(rule) === said(other);
}

/** All that a rule's name stands for. */
function formOf(properties: SecurityRuleProperties): unknown[] {
  const { direction, access, protocol } = properties;
  return [direction, access, protocol.toLowerCase(), sourcesOf(properties).sort(), portsOf(properties)?.sort()];
}

/** A rule that does not say what it is named for was changed by somebody. */
function repaired(has: SecurityRuleProperties, want: WantedRule): SecurityRuleProperties {
  const whole = made(want, has.priority);
  return JSON.stringify(formOf(has)) === JSON.stringify(formOf(whole)) ? has : { ...whole, ...asDestinations(destinationsOf(has)) };
}

/** One that Services share: by upstream's names, and within its priorities. */
function isShared({ name, properties: { priority } }: SecurityRule): boolean {
  return name.startsWith(RULE_PREFIX) && priority >= FIRST_PRIORITY && priority <= LAST_PRIORITY;
}

function without(rule: SecurityRule, ours: ReadonlySet<string>): SecurityRule {
  const has = destinationsOf(rule.properties);
  const kept = has.filter((address) => !ours.has(address));
  return kept.length === has.length ? rule : { ...rule, properties: withDestinations(rule.properties, kept) };
}

function withDestinations(properties: SecurityRuleProperties, destinations: readonly string[]): SecurityRuleProperties {
  const rest = { ...properties };
  delete rest.destinationAddressPrefix;
  delete rest.destinationAddressPrefixes;
  return { ...rest, ...asDestinations(destinations) };
}

function made(want: WantedRule, priority: number): SecurityRuleProperties {
  const { access, protocol, sources, ports } = want;
  const [only = '*', ...more] = sources;
  return {
    priority,
    direction: 'Inbound',
    access,
    protocol,
    sourcePortRange: '*',
    ...(more.length === 0 ? { sourceAddressPrefix: only } : { sourceAddressPrefixes: [...sources].sort() }),
    ...(ports === undefined ? { destinationPortRange: '*' } : { destinationPortRanges: ports.map(String).sort() }),
  };
}

/** The first that is free; what denies comes behind all that allows, and so from the other end. */
function freePriority(rules: readonly SecurityRule[], access: WantedRule['access']): number {
  const taken = new Set(rules.map(({ properties }) => properties.priority));
  const all = Array.from({ length: LAST_PRIORITY - FIRST_PRIORITY }, (_, index) => FIRST_PRIORITY + index);
  const free = (access === 'Allow' ? all : all.reverse()).find((priority) => !taken.has(priority));
  if (free !== undefined) return free;
  throw quota(`no priority from ${FIRST_PRIORITY} to ${LAST_PRIORITY - 1} is free`);
}

/** What was too much before we came may become less. */
function assertFits(merged: readonly SecurityRule[], existing: readonly SecurityRule[], limits: Limits): void {
  const { rulesPerSecurityGroup: rules, addressesPerSecurityGroup: addresses } = limits;
  const figures: [string, (of: readonly SecurityRule[]) => number, number][] = [
    ['rules', (of) => of.length, rules],
    ['sources in its rules', (of) => of.reduce((sum, { properties }) => sum + sourcesOf(properties).length, 0), addresses],
    ['destinations in its rules', (of) => of.reduce((sum, { properties }) => sum + destinationsOf(properties).length, 0), addresses],
  ];
  for (const [what, count, limit] of figures) {
    const [now, before] = [count(merged), count(existing)];
    if (now > limit && now > before) throw quota(`it would have ${now} ${what}, and may have ${limit}`);
  }
}

function quota(what: string): OperatorError {
  const remedy = 'Delete Services or rules that nobody needs, or use a load balancer less with source ranges of its own.';
  return new OperatorError('Quota', `the security group has no room: ${what}. ${remedy}`, { remedy });
}
