import { OF_OPERATOR } from './job';

/** One alerting rule of Prometheus. */
export interface Alert {
  alert: string;
  expr: string;
  /** How long it must hold, in Prometheus' words. */
  for: string;
  severity: 'critical' | 'warning' | 'info';
  summary: string;
  /** What it means, and the next step. */
  description: string;
}

/** What only a person can repair. `Transient` and `Throttled` pass, `Canceled` is what we do ourselves. */
const FAILURES = 'Credentials|Quota|Invalid|Taken|Conflict|NotFound|Unknown';

/** What is worth waking somebody for, or a look on the next day. The names are those of docs/reference/metrics.md. */
export const ALERTS: readonly Alert[] = [
  {
    alert: 'CloudOperatorNoLeader',
    expr: `absent(leader_election_master_status${OF_OPERATOR} == 1)`,
    for: '2m',
    severity: 'critical',
    summary: 'No cloud-operator leads',
    description:
      'New Nodes stay tainted, and Services and routes are not looked after; load balancers serve as they were. Look at the Pods and at the Lease that they compete for.',
  },
  {
    alert: 'CloudOperatorUpdatesFail',
    expr: `sum by (provider, result) (increase(cloud_operator_update_duration_seconds_count{result=~"${FAILURES}"}[15m])) > 2`,
    for: '5m',
    severity: 'warning',
    summary: 'Updates of stacks of {{ $labels.provider }} fail: {{ $labels.result }}',
    description: 'The objects that are not Ready say why: kubectl get cloudstacks; kubectl get clb -A.',
  },
  {
    alert: 'CloudOperatorNotReady',
    // Tries and their failures take turns as the reason, so that no single one would last.
    expr: 'max by (kind) (cloud_operator_unsettled_oldest_seconds) > 1800',
    for: '5m',
    severity: 'warning',
    summary: 'A {{ $labels.kind }} has not been Ready, or has been Stalled, for more than 30 minutes',
    description:
      'Metric cloud_operator_objects has the reasons, the conditions of the objects the cause and the next step: kubectl get services,cloud -A; kubectl cloud explain.',
  },
  {
    alert: 'CloudOperatorApprovalWaits',
    expr: 'max by (kind) (cloud_operator_objects{reason="AwaitingApproval"}) > 0',
    for: '1d',
    severity: 'info',
    summary: 'Changes of a {{ $labels.kind }} have waited for approval for a day',
    description: 'kubectl cloud plan shows what would be done; kubectl cloud approve does it. Or take the change back.',
  },
  {
    alert: 'CloudOperatorCloudUnanswered',
    expr: 'sum by (provider) (rate(cloud_operator_cloud_calls_total{code="Unanswered"}[5m])) > 0 unless sum by (provider) (rate(cloud_operator_cloud_calls_total{code="Answered"}[5m])) > 0',
    for: '5m',
    severity: 'critical',
    summary: 'The cloud of {{ $labels.provider }} does not answer',
    description: 'Nothing can be changed or compared there until it does. Load balancers serve as they were; no Node is removed.',
  },
  {
    alert: 'CloudOperatorCloudThrottles',
    expr: 'sum by (provider) (rate(cloud_operator_cloud_calls_total{code="Throttled"}[10m])) / sum by (provider) (rate(cloud_operator_cloud_calls_total[10m])) > 0.1',
    for: '15m',
    severity: 'warning',
    summary: 'The cloud of {{ $labels.provider }} throttles more than a tenth of all calls',
    description: 'Changes take longer. Who else uses the account? The limits that the operator keeps by itself are in CloudProvider.spec.',
  },
  {
    alert: 'CloudOperatorDeletionHangs',
    expr: 'max by (kind) (cloud_operator_deleting_oldest_seconds) > 900',
    for: '5m',
    severity: 'warning',
    summary: 'A {{ $labels.kind }} has been being deleted for more than 15 minutes',
    description:
      'Its conditions and Events say what it waits for: a lever, its CloudProvider, or the cloud. Never take its finalizer off to get rid of it.',
  },
  {
    alert: 'CloudOperatorKeysFail',
    expr: 'sum by (name) (increase(cloud_operator_workqueue_failures_total[15m])) > 20',
    for: '15m',
    severity: 'warning',
    summary: 'Queue {{ $labels.name }}: work fails again and again',
    description: 'The log of the leader has each failure with its object and its cause.',
  },
  {
    alert: 'CloudOperatorWorkHangs',
    expr: `max by (name) (workqueue_longest_running_processor_seconds${OF_OPERATOR}) > 1800`,
    for: '5m',
    severity: 'warning',
    summary: 'Queue {{ $labels.name }}: one key has been worked on for more than 30 minutes',
    description:
      'An update ends at --update-deadline (10 minutes), other work far earlier. Keep a copy of the log, and restart the leader.',
  },
  {
    alert: 'CloudOperatorDriftIsLeft',
    expr: 'max by (provider, kind) (cloud_operator_drifted_stacks) > 0',
    for: '0s',
    severity: 'info',
    summary: '{{ $labels.provider }} differs from what is wanted, and a lever keeps it so',
    description: 'Condition Drifted of the objects says what differs. It is healed when the lever goes.',
  },
  {
    alert: 'CloudOperatorLeftovers',
    expr: 'max by (provider) (cloud_operator_leftover_stacks) > 0',
    for: '1h',
    severity: 'info',
    summary: '{{ $labels.provider }} has resources with the mark of this cluster that nothing accounts for',
    description: 'They cost money. `cloud-operator sweep` lists them, and tells how each is taken away.',
  },
];
