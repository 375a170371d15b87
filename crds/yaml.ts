import { stringify } from 'yaml';

/**
 * YAML that is the same on every machine: keys sorted by code unit, no line folding, no anchors, and strings quoted for
 * YAML 1.1, which is what Kubernetes' own parser reads.
 */
export function toYaml(value: object): string {
  return stringify(value, {
    version: '1.1',
    lineWidth: 0,
    aliasDuplicateObjects: false,
    sortMapEntries: (a, b) => (String(a.key) < String(b.key) ? -1 : 1),
  });
}
