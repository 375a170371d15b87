import type { PoolHealthCheck, TargetPool } from '../../../api';
import type { PoolPlan } from '../../data-plane';
import type { FamilyPoolPlan } from './family-pool';

export type TargetHealth = TargetPool['health'][number];

/** Something that moves bytes to a target and can be cut. */
export interface Flow {
  /** Ends the flow at once; called when a drain is over or the target has failed. */
  cut(): void;
}

/** What a target's health is now and how it got there. */
export interface HealthRecord {
  state: 'initial' | 'healthy' | 'unhealthy';
  reason?: string;
  /** Consecutive results that speak against the state. */
  against: number;
}

/** One place where a pool sends traffic to. */
export interface Target {
  readonly key: string;
  readonly instanceID: string;
  readonly address: string;
  readonly port: number;
  readonly flows: Set<Flow>;
  health: HealthRecord;
  draining: boolean;
}

/** Two targets with the same key are the same: what they have carried on counts. */
export function targetKey(target: FamilyPoolPlan['targets'][number]): string {
  return `${target.instanceID}|${target.address}|${target.port}`;
}

/**
 * The next health after one result. The first result of a new target decides at once, so that a Service is usable as soon as its
 * nodes answer and a dead new node never counts; later ones need the check's thresholds. Pure.
 * @param failure undefined = the target was well
 */
export function nextHealth(record: HealthRecord, failure: string | undefined, check: PoolHealthCheck): HealthRecord {
  const state = failure === undefined ? 'healthy' : 'unhealthy';
  const settled: HealthRecord = failure === undefined ? { state, against: 0 } : { state, against: 0, reason: failure };
  if (record.state === 'initial' || record.state === state) return settled;
  const threshold = state === 'healthy' ? check.healthyThreshold : check.unhealthyThreshold;
  return record.against + 1 >= threshold ? settled : { ...record, against: record.against + 1 };
}

/** True where the pool has something to ask: a UDP pool can only be checked on another port. */
export function isChecked(plan: Pick<PoolPlan, 'healthCheck'>, protocol: 'TCP' | 'UDP'): boolean {
  return protocol === 'TCP' || plan.healthCheck.port !== undefined;
}
