import { OPERATOR_NAME } from '../options';

/** The Service that Prometheus finds the operator's Pods by. */
export const METRICS_NAME = `${OPERATOR_NAME}-metrics`;

/**
 * Chooses the operator's own among the series whose names every component of Kubernetes has (client-go's, the lease's, the process's): the label
 * `job` is the name of that Service, as the ServiceMonitor names no other (Prometheus operator, `jobLabel`).
 */
export const OF_OPERATOR = `{job="${METRICS_NAME}"}`;
