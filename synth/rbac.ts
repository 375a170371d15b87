import type { Permission } from '../operator/permissions';

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** The rules for one namespace, or for the cluster: one for each resource, with every verb that some part needs. */
export function rulesIn(table: Permission[], namespace: string | undefined): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  const rows = table.filter((row) => row.namespace === namespace);
  for (const { group, resources, verbs, names } of rows) {
    for (const resource of resources) {
      const key = [group, resource, ...(names ?? [])].join(' ');
      const before = rules.get(key)?.verbs ?? [];
      const rule = { apiGroups: [group], resources: [resource], verbs: [...new Set([...before, ...verbs])].sort() };
      rules.set(key, names === undefined ? rule : { ...rule, resourceNames: names });
    }
  }
  return joinSameVerbs([...rules.keys()].sort().flatMap((key) => rules.get(key) ?? []));
}

/** Resources of one group that may be used in the same way stand in one rule. */
function joinSameVerbs(rules: PolicyRule[]): PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.verbs, rule.resourceNames]);
    const before = joined.get(key);
    joined.set(key, before === undefined ? rule : { ...before, resources: [...before.resources, ...rule.resources] });
  }
  return [...joined.values()];
}
