import { API_VERSION, KINDS } from '../../crds';

/** One entry of Flux's `Kustomization.spec.healthCheckExprs`. */
export interface HealthCheckExpr {
  apiVersion: string;
  kind: string;
  /** CEL; Flux looks at these in this order, and waits where none of them is true. */
  inProgress: string;
  failed: string;
  current: string;
}

const seen = 'has(status.observedGeneration) && status.observedGeneration == metadata.generation';
const holds = (type: string): string => `has(status.conditions) && status.conditions.exists(c, c.type == '${type}' && c.status == 'True')`;

/** What Flux's own kstatus says of our kinds, in CEL, for Kustomizations that have expressions for everything. Pure. */
export function healthCheckExprs(): HealthCheckExpr[] {
  return KINDS.map(({ kind }) => ({
    apiVersion: API_VERSION,
    kind,
    inProgress: `has(metadata.deletionTimestamp) || !(${seen}) || (${holds('Reconciling')})`,
    failed: holds('Stalled'),
    current: `!has(status.conditions) || !status.conditions.exists(c, c.type == 'Ready') || (${holds('Ready')})`,
  }));
}
