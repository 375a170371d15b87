import { DEFAULT_SERVICE_LEVERS, serviceLever } from '../../../../crds';
import { bodyOf, isUpToDate } from '../../../../operator/loops/service/cloud-load-balancer';
import { compile } from '../../../../operator/loops/service/compile';
import { LEVER_ANNOTATIONS, leversOf } from '../../../../operator/loops/service/levers';
import { cloudLoadBalancer, service } from '../objects';

const ALL = serviceLever.options;
const named = (name: string, text: string) => service({ metadata: { annotations: { [`cloud-operator.dev/${name}`]: text } } });
const window = (schedule: string, duration: string, timeZone: string) => ({ schedule, duration, timeZone });

test.each<[string, string, object]>([
  ['drift-interval', '90s', { driftInterval: '90s' }],
  ['drift-interval', '0s', { driftInterval: '0s' }],
  ['maintenance-windows', '0 2 * * SAT 4h Europe/Berlin', { maintenanceWindows: [window('0 2 * * SAT', '4h', 'Europe/Berlin')] }],
  [
    'maintenance-windows',
    '0 2 1-7 * *  1h30m UTC;*/5 * * * * 1m  Asia/Tokyo',
    { maintenanceWindows: [window('0 2 1-7 * *', '1h30m', 'UTC'), window('*/5 * * * *', '1m', 'Asia/Tokyo')] },
  ],
  ['management-policy', 'Observe', { managementPolicy: 'Observe' }],
  ['deletion-policy', 'Orphan', { deletionPolicy: 'Orphan' }],
  ['deletion-policy', 'Delete', { deletionPolicy: 'Delete' }],
])('%s: %s', (name, text, fields) => {
  expect(leversOf(named(name, text), 'aws', ALL)).toEqual({ fields, annotations: {}, problems: [] });
});

test.each([
  ['pause', 'what ever'],
  ['reconcile', 'what ever'],
  ['approval', 'Manual'],
])('%s is handed on as an annotation', (name, text) => {
  const annotations = { [`cloud-operator.dev/${name}`]: text };
  expect(leversOf(named(name, ` ${text} `), 'aws', ALL)).toEqual({ fields: {}, annotations, problems: [] });
});

test.each([
  ['approval', 'Auto', 'write Manual'],
  ['approval', 'manual', 'write Manual'],
  ['approval', '', 'write Manual'],
  ['drift-interval', '5s', 'write a duration from 10s to 8760h, or 0s for never'],
  ['drift-interval', 'often', 'write a duration'],
  ['maintenance-windows', '', 'such as 0 2 * * SAT 4h Europe/Berlin'],
  ['maintenance-windows', '0 2 * * SAT 4h', 'windows separated by ";"'],
  ['maintenance-windows', '0 2 * * SAT 0s UTC', 'windows separated by ";"'],
  ['maintenance-windows', '0 2 30 2 * 1h UTC', 'windows separated by ";"'],
  ['maintenance-windows', '0 2 * * SAT 4h UTC;', 'windows separated by ";"'],
  ['management-policy', 'Released', 'write Observe'],
  ['management-policy', 'Default', 'write Observe'],
  ['deletion-policy', 'Retain', 'write Orphan or Delete'],
])('%s: "%s" is said to be wrong, with the annotation and what may be written', (name, text, words) => {
  const { fields, problems } = leversOf(named(name, text), 'aws', ALL);
  expect(fields).toEqual({});
  expect(problems).toEqual([{ reason: 'InvalidLever', message: expect.stringContaining(words) as string }]);
  expect(problems[0]?.message).toContain(`annotation cloud-operator.dev/${name}: "${text}"`);
});

test.each(LEVER_ANNOTATIONS.map((annotation, index) => [annotation, ALL[index] ?? ''] as const))(
  '%s is only for whom the policy allows %s',
  (annotation, lever) => {
    const of = service({ metadata: { annotations: { [annotation]: 'Observe' } } });
    const others = ALL.filter((one) => one !== lever);
    const remedy = `remove it, or have who may change CloudProvider aws add ${lever} to its spec.policy.serviceLevers`;
    expect(leversOf(of, 'aws', others).problems).toMatchObject([
      { reason: 'LeverDenied', message: expect.stringContaining(remedy) as string },
    ]);
    expect(leversOf(of, 'aws', ALL).problems.map(({ reason }) => reason)).not.toContain('LeverDenied');
  },
);

test('by default Services may not leave anything in the cloud that nobody looks after', () => {
  expect(ALL.filter((lever) => !DEFAULT_SERVICE_LEVERS.includes(lever))).toEqual(['ManagementPolicy', 'DeletionPolicy']);
});

describe('on the CloudLoadBalancer', () => {
  const block = { blockName: 'local', block: {}, problems: [] };
  const bodyFor = (of: ReturnType<typeof service>) => {
    const { spec, annotations } = compile(of, 'cloud-a', block);
    if (spec === undefined) throw new Error('it does not compile');
    return bodyOf(of, { spec, annotations }, undefined);
  };
  const storedOf = (body: ReturnType<typeof bodyFor>) =>
    cloudLoadBalancer({ metadata: { ...body.metadata, uid: 'clb' }, spec: body.spec } as unknown as Parameters<
      typeof cloudLoadBalancer
    >[0]);

  test('an annotation is put there, and goes when the Service has it no more', () => {
    const paused = named('pause', 'All');
    const body = bodyFor(paused);
    expect(body.metadata.annotations).toMatchObject({ 'cloud-operator.dev/pause': 'All' });
    const stored = storedOf(body);
    expect(isUpToDate(stored, bodyFor(paused), paused.metadata.uid)).toBe(true);
    expect(isUpToDate(stored, bodyFor(service()), paused.metadata.uid)).toBe(false);
  });

  test('so does a field', () => {
    const stored = storedOf(bodyFor(named('drift-interval', '1m')));
    expect(isUpToDate(stored, bodyFor(service()), service().metadata.uid)).toBe(false);
  });
});
