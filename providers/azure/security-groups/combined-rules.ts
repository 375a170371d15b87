import { ruleNameOf, type WantedRule } from './security-rule';

/** Rules that differ in their destinations alone become one. Pure; the order of the rules does not matter. */
export function combinedRules(rules: readonly WantedRule[]): WantedRule[] {
  const byName = new Map<string, WantedRule>();
  for (const rule of rules) {
    const name = ruleNameOf(rule);
    const destinations = new Set([...(byName.get(name)?.destinations ?? []), ...rule.destinations]);
    byName.set(name, { ...rule, sources: [...rule.sources].sort(), destinations: [...destinations].sort() });
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}
