import { ANNOTATIONS, cloudProviderSpec, type MaintenanceWindow } from '../../../crds';
import { intervalOfStack } from '../../../operator/cloud/drift/drift-schedule';
import { isOrphaned, leverOn } from '../../../operator/cloud/levers';
import { updatePolicyOf, whyApproval, whyManual } from '../../../operator/cloud/plan/approval';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import { windowOf } from '../../../operator/cloud/windows/windows-of';
import { leversOf } from '../../../operator/loops/service/levers';
import { serviceLever } from '../../../crds';
import { parseDuration } from '../../../operator/base/duration';
import { service } from '../loops/objects';

/** The table of docs/operate/levers.md, "Where a lever is set, and which place wins": every combination of what three places can say. */

const NOW = Date.UTC(2026, 10, 28, 12);
const OPEN: MaintenanceWindow = { schedule: '0 12 * * *', duration: '1h', timeZone: 'UTC' };
const CLOSED: MaintenanceWindow = { schedule: '0 13 * * *', duration: '1h', timeZone: 'UTC' };
const NEVER_WITH_IT: MaintenanceWindow = { schedule: '0 14 * * *', duration: '1h', timeZone: 'UTC' };

/** What one place says of each lever; what is absent, it does not say. */
interface Said {
  pause?: string | undefined;
  approval?: 'Auto' | 'Manual' | undefined;
  driftInterval?: string | undefined;
  window?: MaintenanceWindow | undefined;
  managementPolicy?: 'Default' | 'Observe' | 'Released' | undefined;
  deletionPolicy?: 'Delete' | 'Orphan' | undefined;
  freeze?: boolean | undefined;
}

function annotationsOf({ pause, approval, driftInterval, window, managementPolicy, deletionPolicy }: Said): Record<string, string> {
  const windows = window === undefined ? undefined : `${window.schedule} ${window.duration} ${window.timeZone}`;
  const all: [string, string | undefined][] = [
    [ANNOTATIONS.pause, pause],
    [ANNOTATIONS.approval, approval],
    [ANNOTATIONS.driftInterval, driftInterval],
    [ANNOTATIONS.maintenanceWindows, windows],
    [ANNOTATIONS.managementPolicy, managementPolicy],
    [ANNOTATIONS.deletionPolicy, deletionPolicy],
  ];
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** The CloudLoadBalancer as a person has written it and the service loop has applied over it. */
function applied(ofService: Said, own: Said): StoredLoadBalancer {
  const { pause, approval, window, driftInterval, managementPolicy, deletionPolicy } = own;
  const fields = { driftInterval, managementPolicy, deletionPolicy };
  const { fields: set, annotations } = leversOf(
    service({ metadata: { annotations: annotationsOf(ofService) } }),
    'aws',
    serviceLever.options,
  );
  return {
    metadata: { uid: 'u', name: 'web', annotations: { ...(pause !== undefined && { [ANNOTATIONS.pause]: pause }), ...annotations } },
    spec: {
      ...{ provider: 'aws', listeners: [], ...fields },
      ...(approval !== undefined && { updatePolicy: { approval, replace: 'Never' } }),
      ...(window !== undefined && { maintenanceWindows: [window] }),
      ...set,
    },
  } as unknown as StoredLoadBalancer;
}

/** What is in force, in one word for each lever. */
function inForce(ofService: Said, own: Said, ofProvider: Said) {
  const object = applied(ofService, own);
  const { window, managementPolicy, driftInterval, freeze, approval, deletionPolicy } = ofProvider;
  const spec = cloudProviderSpec.parse({
    ...{ local: { endpoint: 'http://127.0.0.1:1' }, managementPolicy, driftInterval, freeze, deletionPolicy },
    ...(approval !== undefined && { updatePolicy: { approval } }),
    maintenanceWindows: window === undefined ? undefined : [window],
  });
  const wide = { leading: true, frozen: spec.freeze ? 'aws' : undefined };
  const part = { object, candidate: { uid: 'u', name: 'web' } };
  return {
    lever: leverOn(object, { observes: () => spec.managementPolicy === 'Observe', pauseOf: () => ofProvider.pause }, wide)?.kind ?? 'None',
    approval:
      whyApproval({ part, policy: updatePolicyOf(object, spec), replacement: undefined, pending: false }) === undefined ? 'Auto' : 'Manual',
    window: windowOf(object, { name: 'aws', spec }, NOW).state,
    driftMs: intervalOfStack([object.spec.driftInterval], parseDuration(spec.driftInterval)),
    deletion: isOrphaned(object, { deletionPolicyOf: () => spec.deletionPolicy }) ? 'Orphan' : 'Delete',
  };
}

/** Every combination of what three places can say. */
function combinations<S, O, P>(ofService: readonly S[], own: readonly O[], ofProvider: readonly P[]): [S, O, P][] {
  return ofService.flatMap((a) => own.flatMap((b) => ofProvider.map((c): [S, O, P] => [a, b, c])));
}

describe('freeze, observe, pause: the CloudProvider’s first, then the Service’s, then the object’s own', () => {
  const pauses = [undefined, 'All', 'Updates', 'Bogus'];
  test.each(combinations(pauses, pauses, [undefined, 'Observe', 'Freeze']))('pause %s, %s, CloudProvider %s', (a, b, c) => {
    const provider = { ...(c === 'Observe' && { managementPolicy: 'Observe' as const }), ...(c === 'Freeze' && { freeze: true }) };
    const said = a ?? b;
    const paused = said === undefined ? 'None' : said === 'Updates' ? 'PauseUpdates' : 'PauseAll';
    const expected = c === 'Freeze' ? 'Frozen' : c === 'Observe' ? 'Observe' : paused;
    expect(inForce({ pause: a }, { pause: b }, provider).lever).toBe(expected);
  });

  test.each(combinations([undefined, 'All', 'Updates'], ['All', 'Updates'], pauses))('pause %s, %s, CloudProvider %s', (a, b, c) => {
    const own = a ?? b;
    const isAll = own === 'All' || (c !== undefined && c !== 'Updates');
    expect(inForce({ pause: a }, { pause: b }, { pause: c }).lever).toBe(isAll ? 'PauseAll' : 'PauseUpdates');
  });

  const policies = [undefined, 'Default', 'Observe', 'Released'] as const;
  test.each(combinations([undefined, 'Observe'] as const, policies, [undefined, 'Observe'] as const))(
    'management policy %s, %s, CloudProvider %s',
    (a, b, c) => {
      const own = a ?? b;
      const expected = c === 'Observe' || own === 'Observe' ? 'Observe' : own === 'Released' ? 'Released' : 'None';
      expect(inForce({ managementPolicy: a }, { managementPolicy: b }, { managementPolicy: c }).lever).toBe(expected);
    },
  );
});

const APPROVALS = [undefined, 'Auto', 'Manual'] as const;
test.each(combinations([undefined, 'Manual'] as const, APPROVALS, APPROVALS))('approval %s, %s, CloudProvider %s', (a, b, c) => {
  expect(inForce({ approval: a }, { approval: b }, { approval: c }).approval).toBe([a, b, c].includes('Manual') ? 'Manual' : 'Auto');
});

const DELETIONS = [undefined, 'Orphan', 'Delete'] as const;
test.each(combinations(DELETIONS, DELETIONS, DELETIONS))('deletion policy %s, %s, CloudProvider %s', (a, b, c) => {
  expect(inForce({ deletionPolicy: a }, { deletionPolicy: b }, { deletionPolicy: c }).deletion).toBe(a ?? b ?? c ?? 'Delete');
});

test('who asks for approval is said: the object, before its CloudProvider', () => {
  const whole = { updatePolicy: { approval: 'Manual' as const } };
  const why = (own: Said): string => whyManual(updatePolicyOf(applied({}, own), whole)!);
  expect(why({})).toBe('spec.updatePolicy.approval of its CloudProvider is Manual');
  expect(why({ approval: 'Manual' })).toBe('spec.updatePolicy.approval is Manual');
});

test.each(combinations([undefined, '1m', '0s'], [undefined, '2m', '0s'], [undefined, '3m', '0s']))(
  'drift interval %s, %s, %s',
  (a, b, c) => {
    expect(inForce({ driftInterval: a }, { driftInterval: b }, { driftInterval: c }).driftMs).toBe(parseDuration(a ?? b ?? c ?? '10m'));
  },
);

const WINDOWS = { none: undefined, open: OPEN, closed: CLOSED };
const NAMES = ['none', 'open', 'closed'] as const;
test.each(combinations(NAMES, NAMES, NAMES))('windows %s, %s, CloudProvider %s', (a, b, c) => {
  const own = a === 'none' ? b : a;
  // The two kinds of windows here never meet.
  const expected = own !== 'none' && c !== 'none' && own !== c ? 'Never' : own === 'closed' || c === 'closed' ? 'Closed' : 'Open';
  expect(inForce({ window: WINDOWS[a] }, { window: WINDOWS[b] }, { window: WINDOWS[c] }).window).toBe(expected);
});

test('windows that are both closed and never meet are a contradiction, not a wait', () => {
  expect(inForce({}, { window: CLOSED }, { window: NEVER_WITH_IT }).window).toBe('Never');
});
