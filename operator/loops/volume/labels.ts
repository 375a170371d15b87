import type { KubeMeta } from '../../kube/object';

/** A PersistentVolume as a request to create it holds it: what the API server fills in later may be absent. */
export interface NewVolume {
  metadata: Partial<Pick<KubeMeta, 'name' | 'labels' | 'annotations'>>;
  spec: { nodeAffinity?: NodeAffinity };
}

interface NodeAffinity {
  required?: { nodeSelectorTerms?: NodeSelectorTerm[] };
}

interface NodeSelectorTerm {
  matchExpressions?: Requirement[];
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** Where a cloud says that a volume lies. */
export interface VolumePlace {
  /** One, or all that hold a copy. */
  zones: readonly string[];
  region: string;
}

/** RFC 6902. */
export interface PatchOperation {
  op: 'add';
  path: string;
  value: unknown;
}

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Upstream's, between the zones of one label. */
const BETWEEN_ZONES = '__';

/**
 * The place that a volume's own labels say: those of a volume that a provisioner made are right, a person's may not be (upstream's admission
 * plugin PersistentVolumeLabel).
 */
export function trustedPlace({ metadata: { labels = {}, annotations = {} } }: NewVolume): VolumePlace | undefined {
  const { [ZONE]: zone, [REGION]: region } = labels;
  if (annotations[PROVISIONED_BY] === undefined || zone === undefined || region === undefined) return undefined;
  return { zones: zone.split(BETWEEN_ZONES), region };
}

/**
 * What a new volume lacks: labels of its zone and region, which replace others, and a node affinity that keeps its Pods there. An affinity that
 * says anything about these labels stays as it is. Nothing where all is there.
 */
export function labelVolume(volume: NewVolume, { zones, region }: VolumePlace): PatchOperation[] {
  const sorted = [...new Set(zones)].sort();
  const labels = { [ZONE]: sorted.join(BETWEEN_ZONES), [REGION]: region };
  const needed: Requirement[] = [
    { key: ZONE, operator: 'In', values: sorted },
    { key: REGION, operator: 'In', values: [region] },
  ];
  return [...labelPatch(volume, labels), ...affinityPatch(volume, needed)];
}

function labelPatch({ metadata }: NewVolume, wanted: Record<string, string>): PatchOperation[] {
  const isThere = Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value);
  return isThere ? [] : [{ op: 'add', path: '/metadata/labels', value: { ...metadata.labels, ...wanted } }];
}

function affinityPatch({ spec: { nodeAffinity } }: NewVolume, needed: Requirement[]): PatchOperation[] {
  const given = nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const terms = given.length === 0 ? [{}] : given;
  const named = terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key));
  if (needed.some(({ key }) => named.includes(key))) return [];
  const nodeSelectorTerms = terms.map((term) => ({ ...term, matchExpressions: [...(term.matchExpressions ?? []), ...needed] }));
  const required = { ...nodeAffinity?.required, nodeSelectorTerms };
  return [{ op: 'add', path: '/spec/nodeAffinity', value: { ...nodeAffinity, required } }];
}
