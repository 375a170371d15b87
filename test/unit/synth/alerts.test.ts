import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { documentedMetrics } from '../../../operator/server/reference';
import { ALERTS } from '../../../synth/monitoring/alerts';
import { PANELS } from '../../../synth/monitoring/dashboard';
import { evaluate, namesIn, secondsOf, series, STEP, type Labels } from '../../harness/promql';
import { findPromtool, promtoolOn, type AlertCase as Case } from '../../harness/promtool';

const updates = (result: string, samples: string): [string, string] => [
  `cloud_operator_update_duration_seconds_count{provider="aws",result="${result}"}`,
  samples,
];
const calls = (code: string, samples: string, verb = 'list'): [string, string] => [
  `cloud_operator_cloud_calls_total{provider="aws",verb="${verb}",code="${code}"}`,
  samples,
];
/** Every component of Kubernetes has series of these names; `job` says whose they are. */
const OURS = 'cloud-operator-metrics';
const leads = (pod: string, samples: string, job = OURS): [string, string] => [
  `leader_election_master_status{name="cloud-controller-manager",job="${job}",pod="${pod}"}`,
  samples,
];
const SCHEDULER_LEADS = leads('c', '1x40', 'kube-scheduler');
const running = (samples: string, job = OURS): [string, string] => [
  `workqueue_longest_running_processor_seconds{name="stacks",job="${job}"}`,
  samples,
];

const CASES: Record<string, Case[]> = {
  CloudOperatorNoLeader: [
    {
      of: 'the leader ends, and another one leads a minute later',
      series: [leads('a', '1x10 0x20'), leads('b', '0x11 1x20'), SCHEDULER_LEADS],
      firing: [
        [5, []],
        [11, []],
        [12, []],
        [20, []],
      ],
    },
    {
      of: 'nobody takes over; what else has a leader goes on',
      series: [leads('a', '1x10 0x20'), leads('b', '0x31'), SCHEDULER_LEADS],
      firing: [
        [10, []],
        [12, []],
        [13, [{}]],
      ],
    },
    {
      // A sample counts for five minutes, with them (Prometheus 2) or without (3).
      of: 'all processes have gone, and with them their series',
      series: [leads('a', '1x10'), SCHEDULER_LEADS],
      firing: [
        [14, []],
        [18, [{}]],
      ],
    },
  ],
  CloudOperatorUpdatesFail: [
    {
      of: 'a quota is reached, and the same update fails each minute',
      series: [updates('Quota', '0x5 1+1x30'), updates('Updated', '0+5x40')],
      firing: [
        [5, []],
        [20, [{ provider: 'aws', result: 'Quota' }]],
      ],
    },
    { of: 'what passes by itself', series: [updates('Transient', '0+3x40'), updates('Canceled', '0+3x40')], firing: [[30, []]] },
    {
      of: 'one failure now and then',
      series: [updates('Conflict', '0x5 1x40')],
      firing: [
        [8, []],
        [20, []],
      ],
    },
  ],
  CloudOperatorNotReady: [
    {
      of: 'a quota is reached, and the update fails again and again',
      series: [
        ['cloud_operator_unsettled_oldest_seconds{kind="CloudLoadBalancer",pod="a"}', '0x2 60+60x40 0x20'],
        ['cloud_operator_unsettled_oldest_seconds{kind="CloudLoadBalancer",pod="b"}', '0x2 60+60x40 0x20'],
        ['cloud_operator_unsettled_oldest_seconds{kind="CloudRoute",pod="a"}', '0x63'],
      ],
      firing: [
        [33, []],
        [37, []],
        [38, [{ kind: 'CloudLoadBalancer' }]],
        [50, []],
      ],
    },
    {
      of: 'one object after another is made, each in five minutes',
      series: [['cloud_operator_unsettled_oldest_seconds{kind="CloudLoadBalancer"}', '0+60x5 0+60x5 0+60x5 0+60x5 0+60x5 0+60x5 0+60x5']],
      firing: [[40, []]],
    },
  ],
  CloudOperatorApprovalWaits: [
    {
      of: 'nobody approves',
      series: [['cloud_operator_objects{kind="CloudLoadBalancer",state="Reconciling",reason="AwaitingApproval"}', '_x9 1x1500']],
      firing: [
        [60, []],
        [1440, []],
        [1450, [{ kind: 'CloudLoadBalancer' }]],
      ],
    },
    {
      of: 'somebody does after an hour, and other objects wait for something else',
      series: [
        ['cloud_operator_objects{kind="CloudLoadBalancer",state="Reconciling",reason="AwaitingApproval"}', '1x60'],
        ['cloud_operator_objects{kind="CloudLoadBalancer",state="Reconciling",reason="Updating"}', '1x1500'],
      ],
      firing: [[1500, []]],
    },
  ],
  CloudOperatorCloudUnanswered: [
    {
      of: 'the cloud is away for ten minutes',
      series: [calls('Unanswered', '0x5 1+1x20 20x20'), calls('Answered', '0+1x5 5x20 6+1x20')],
      firing: [
        [8, []],
        [17, [{ provider: 'aws' }]],
        [35, []],
      ],
    },
    { of: 'single calls are lost', series: [calls('Unanswered', '0+1x40'), calls('Answered', '0+20x40')], firing: [[20, []]] },
  ],
  CloudOperatorCloudThrottles: [
    {
      of: 'one call of five is refused for its rate',
      series: [calls('Throttled', '0+2x60'), calls('Answered', '0+5x60'), calls('Answered', '0+3x60', 'create')],
      firing: [
        [10, []],
        [30, [{ provider: 'aws' }]],
      ],
    },
    { of: 'one of a hundred', series: [calls('Throttled', '0+1x60'), calls('Answered', '0+99x60')], firing: [[40, []]] },
  ],
  CloudOperatorDeletionHangs: [
    {
      of: 'an object that waits for a lever',
      series: [
        ['cloud_operator_deleting_oldest_seconds{kind="CloudLoadBalancer",pod="a"}', '0x2 60+60x40'],
        ['cloud_operator_deleting_oldest_seconds{kind="CloudRoute",pod="a"}', '0x43'],
      ],
      firing: [
        [16, []],
        [18, []],
        [25, [{ kind: 'CloudLoadBalancer' }]],
      ],
    },
  ],
  CloudOperatorKeysFail: [
    {
      of: 'every key fails',
      series: [['cloud_operator_workqueue_failures_total{name="service"}', '0+2x60']],
      firing: [
        [20, []],
        [40, [{ name: 'service' }]],
      ],
    },
    { of: 'one a minute', series: [['cloud_operator_workqueue_failures_total{name="service"}', '0+1x60']], firing: [[50, []]] },
  ],
  CloudOperatorWorkHangs: [
    {
      of: 'a key that never comes back',
      series: [running('0+60x60')],
      firing: [
        [31, []],
        [34, []],
        [36, [{ name: 'stacks' }]],
      ],
    },
    {
      of: 'an update that takes its ten minutes, again and again',
      series: [running('0+60x10 0+60x10 0+60x10 0+60x10')],
      firing: [[40, []]],
    },
    { of: 'a key of somebody else’s that never comes back', series: [running('3600x40', 'kube-controller-manager')], firing: [[40, []]] },
  ],
  CloudOperatorDriftIsLeft: [
    {
      // A gauge of a stack that is not so any more is not there, and then not fresh for five minutes.
      of: 'drift under a freeze that a leader finds first of all, and that is healed after two hours',
      series: [
        ['cloud_operator_drifted_stacks{provider="aws",kind="LoadBalancer",pod="a"}', '_x5 1x120'],
        ['cloud_operator_drifted_stacks{provider="aws",kind="LoadBalancer",pod="b"}', '_x5 1x120'],
      ],
      firing: [
        [4, []],
        [7, [{ provider: 'aws', kind: 'LoadBalancer' }]],
        [100, [{ provider: 'aws', kind: 'LoadBalancer' }]],
        [135, []],
      ],
    },
    {
      of: 'drift that is healed each time',
      series: [['cloud_operator_drift_total{provider="aws",kind="LoadBalancer",policy="Heal"}', '0x5 1+1x90']],
      firing: [[80, []]],
    },
  ],
  CloudOperatorLeftovers: [
    {
      of: 'stacks that nobody knows',
      series: [['cloud_operator_leftover_stacks{provider="aws"}', '0x9 2x90']],
      firing: [
        [15, []],
        [60, []],
        [75, [{ provider: 'aws' }]],
      ],
    },
    { of: 'none', series: [['cloud_operator_leftover_stacks{provider="aws"}', '0x90']], firing: [[80, []]] },
  ],
};

/** As Prometheus does each minute: an alert fires for what its expression has given without a gap for so long. */
function firingAt(minute: number, { expr, for: held }: { expr: string; for: string }, all: Case['series']): Labels[] {
  const since = new Map<string, number>();
  for (let now = 0; now <= minute; now++) {
    const found = evaluate(
      expr,
      all.map(([selector, samples]) => series(selector, samples)),
      now * STEP,
    );
    const keys = found.map(({ labels: { __name__: _name, ...labels } }) => JSON.stringify(labels));
    for (const key of since.keys()) if (!keys.includes(key)) since.delete(key);
    for (const key of keys) if (!since.has(key)) since.set(key, now);
  }
  return [...since].filter(([, from]) => (minute - from) * STEP >= secondsOf(held)).map(([key]) => JSON.parse(key) as Labels);
}

describe.each(ALERTS.map((alert) => [alert.alert, alert] as const))('%s', (name, alert) => {
  it.each((CASES[name] ?? []).map((one) => [one.of, one] as const))('%s', (_, { series: all, firing }) => {
    expect(firing.map(([minute]) => [minute, firingAt(minute, alert, all)])).toEqual(firing);
  });

  it('fires in one case at least, and does not in another moment', () => {
    const verdicts = (CASES[name] ?? []).flatMap(({ firing }) => firing.map(([, labels]) => labels.length > 0));
    expect(new Set(verdicts)).toEqual(new Set([true, false]));
  });

  it('names the labels that its words use', () => {
    const used = [...`${alert.summary} ${alert.description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(used.filter((label) => !namesIn(alert.expr).by.includes(label ?? ''))).toEqual([]);
  });
});

const promtool = findPromtool();
(promtool === undefined ? it.skip : it)(
  'Prometheus’ own promtool says the same of every case (needs promtool: Debian’s package prometheus)',
  () => {
    expect(promtoolOn(promtool ?? '', CASES)).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') as unknown });
  },
);

(promtool === undefined ? it.skip : it)('promtool sees a case that is wrong (needs promtool)', () => {
  const [first] = CASES['CloudOperatorNoLeader'] ?? [];
  const wrong = { ...first, of: 'wrong', series: first?.series ?? [], firing: [[5, [{}]]] as [number, Labels[]][] };
  expect(promtoolOn(promtool ?? '', { CloudOperatorNoLeader: [wrong] })).toMatchObject({ status: 1 });
});

test('docs/troubleshoot.md says where to look for each, and for no other', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/troubleshoot.md'), 'utf8');
  const named = [...page.matchAll(/^\| `(CloudOperator\w+)`/gm)].map(([, alert]) => alert);
  expect(named.sort()).toEqual(ALERTS.map(({ alert }) => alert).sort());
});

describe('what alerts and the dashboard ask for', () => {
  /** What Prometheus says of where it has read it. */
  const OF_TARGET = ['job'];
  const known = new Map(documentedMetrics().metrics.map(({ name, labels }) => [name, [...labels, ...OF_TARGET]]));
  const histogram = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
  const labelsOf = (name: string): string[] | undefined => known.get(name) ?? known.get(histogram(name));

  it.each(ALERTS.map(({ alert, expr }) => [alert, expr]))('%s is there', (_, expr) => {
    const { metrics, by } = namesIn(expr);
    for (const { name, labels } of metrics) {
      expect({ name, known: labelsOf(name) !== undefined }).toEqual({ name, known: true });
      expect([...labels, ...by].filter((label) => !labelsOf(name)?.includes(label))).toEqual([]);
    }
  });

  it('is there, for each panel', () => {
    const asked = PANELS.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/\b[a-z_]+_[a-z_]+(?=[[){]|$)/g) ?? []));
    expect(asked.length).toBeGreaterThanOrEqual(PANELS.length);
    expect(asked.filter((name) => labelsOf(name) === undefined && name !== 'histogram_quantile')).toEqual([]);
  });

  it('is the operator’s own: a name that others have too is asked for by its job', () => {
    const all = [...ALERTS.map(({ expr }) => expr), ...PANELS.flatMap(({ targets }) => targets.map(({ expr }) => expr))];
    const shared = all.flatMap((expr) => expr.match(/\b(?!cloud_operator_|histogram_quantile)[a-z]+_[a-z_]+(?:\{[^}]*\})?/g) ?? []);
    expect(shared.length).toBeGreaterThanOrEqual(6);
    expect(shared.filter((selector) => !selector.endsWith(`{job="${OURS}"}`))).toEqual([]);
  });
});

describe('the evaluator', () => {
  it.each([
    ['rate(a[5m])', [['a', '0+60x10']], 1],
    ['increase(a[5m])', [['a', '0+60x10']], 300],
    ['increase(a[5m])', [['a', '0 0 0 0 0 0 0 10 0 0 0']], 10],
    [
      'sum by (x) (a)',
      [
        ['a{y="1"}', '1x10'],
        ['a{y="2"}', '2x10'],
      ],
      3,
    ],
    [
      'max by (x) (a) > 1',
      [
        ['a{y="1"}', '1x10'],
        ['a{y="2"}', '2x10'],
      ],
      2,
    ],
    [
      'a{y=~"1|3"} / a{y!="2"}',
      [
        ['a{y="1"}', '4x10'],
        ['a{y="2"}', '2x10'],
      ],
      1,
    ],
  ] as [string, [string, string][], number][])('%s', (expression, all, value) => {
    const found = evaluate(
      expression,
      all.map(([selector, samples]) => series(selector, samples)),
      10 * STEP,
    );
    expect(found.map((one) => one.value)).toEqual([value]);
  });

  it.each(['avg by (x) (a)', 'a offset 5m', 'a + 1', 'a and b', 'rate(a)', 'sum(a)', 'a[5m]'])('refuses %s', (expression) => {
    expect(() => evaluate(expression, [series('a', '1x10')], 0)).toThrow();
  });
});
