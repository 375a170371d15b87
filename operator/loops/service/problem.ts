/** Something about a Service that keeps its load balancer from being brought up to date. */
export interface Problem {
  /** Reason of the Service's condition, CamelCase. */
  reason: string;
  /** Names the field, the value and the remedy. */
  message: string;
}
