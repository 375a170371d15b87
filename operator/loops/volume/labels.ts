import { OperatorError } from '../../base/errors';
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
  /** One, or all that hold a copy; none where the whole region can have it. */
  zones: readonly string[];
  region: string;
}

/** RFC 6902. */
export interface PatchOperation {
  op: 'add';
  path: string;
  value: unknown;
}

/** Labels of zone and region, by their keys. */
export type PlaceLabels = Readonly<Record<string, string>>;

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';
const BETA_REGION = 'failure-domain.beta.kubernetes.io/region';
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Upstream's, between the zones of one label. */
const BETWEEN_ZONES = '__';

/**
 * The labels that a volume has itself, where they can be believed: those of a volume that a provisioner made are right, a person's may not be. The
 * deprecated ones count where the others are not both there (upstream's admission plugin PersistentVolumeLabel).
 */
export function trustedLabels({ metadata: { labels = {}, annotations = {} } }: NewVolume): PlaceLabels | undefined {
  if (annotations[PROVISIONED_BY] === undefined) return undefined;
  const pairs: [string, string][] = [
    [ZONE, REGION],
    [BETA_ZONE, BETA_REGION],
  ];
  for (const [zoneKey, regionKey] of pairs) {
    const { [zoneKey]: zone, [regionKey]: region } = labels;
    if (zone !== undefined && region !== undefined) return { [zoneKey]: zone, [regionKey]: region };
  }
  return undefined;
}

/** The labels for what a cloud says. */
export function placeLabels(place: VolumePlace | undefined): PlaceLabels | undefined {
  if (place === undefined) return undefined;
  const zones = [...new Set(place.zones)].sort();
  return { ...(zones.length > 0 && { [ZONE]: zones.join(BETWEEN_ZONES) }), [REGION]: place.region };
}

/**
 * What a new volume lacks: the labels, which replace others, and a node affinity by the same keys that keeps its Pods there. An affinity that says
 * anything about these keys stays as it is. Nothing where all is there.
 * @throws OperatorError Invalid for a label that names no zone
 */
export function labelVolume(volume: NewVolume, labels: PlaceLabels): PatchOperation[] {
  const needed = Object.entries(labels).map(([key, value]): Requirement => ({
    key,
    operator: 'In',
    values: key === ZONE || key === BETA_ZONE ? zonesOf(value) : [value],
  }));
  return [...labelPatch(volume, labels), ...affinityPatch(volume, needed)];
}

function zonesOf(label: string): string[] {
  const zones = label.split(BETWEEN_ZONES).map((zone) => zone.trim());
  if (!zones.includes('')) return [...new Set(zones)].sort();
  throw new OperatorError('Invalid', `failed to convert label string for Zone: ${label} to a Set`);
}

function labelPatch({ metadata }: NewVolume, wanted: PlaceLabels): PatchOperation[] {
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
