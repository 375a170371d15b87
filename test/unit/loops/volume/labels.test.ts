import { labelVolume, placeLabels, trustedLabels, type NewVolume } from '../../../../operator/loops/volume/labels';
import { VolumeAdmission } from '../../../../operator/loops/volume/admission';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const PLACE = { zones: ['zone-a'], region: 'local' };
const LABELS = { [ZONE]: 'zone-a', [REGION]: 'local' };
const IN_ZONE = { key: ZONE, operator: 'In', values: ['zone-a'] };
const IN_REGION = { key: REGION, operator: 'In', values: ['local'] };
const ON_HOST = { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] };

type Terms = NonNullable<NonNullable<NewVolume['spec']['nodeAffinity']>['required']>['nodeSelectorTerms'];

function volume(terms?: Terms, labels?: Record<string, string>, annotations?: Record<string, string>): NewVolume {
  const nodeAffinity = { required: { ...(terms === undefined ? {} : { nodeSelectorTerms: terms }) } };
  return {
    metadata: { name: 'data', ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) },
    spec: { capacity: { storage: '1Gi' }, ...(terms === undefined ? {} : { nodeAffinity }) } as NewVolume['spec'],
  };
}

const labelsOf = (value: Record<string, string>): unknown => ({ op: 'add', path: '/metadata/labels', value });
const affinityOf = (...nodeSelectorTerms: unknown[]): unknown => ({
  op: 'add',
  path: '/spec/nodeAffinity',
  value: { required: { nodeSelectorTerms } },
});

test.each<[string, NewVolume, unknown[]]>([
  ['a volume without anything', volume(), [labelsOf(LABELS), affinityOf({ matchExpressions: [IN_ZONE, IN_REGION] })]],
  [
    'labels of others stay, wrong ones of ours go',
    volume(undefined, { app: 'web', [ZONE]: 'elsewhere' }),
    [labelsOf({ app: 'web', ...LABELS }), affinityOf({ matchExpressions: [IN_ZONE, IN_REGION] })],
  ],
  [
    'every term of its affinity is narrowed',
    volume([{ matchExpressions: [ON_HOST] }, {}]),
    [labelsOf(LABELS), affinityOf({ matchExpressions: [ON_HOST, IN_ZONE, IN_REGION] }, { matchExpressions: [IN_ZONE, IN_REGION] })],
  ],
  ['no terms count as one', volume([]), [labelsOf(LABELS), affinityOf({ matchExpressions: [IN_ZONE, IN_REGION] })]],
  [
    'an affinity that speaks of zones stays',
    volume([{ matchExpressions: [ON_HOST] }, { matchExpressions: [{ key: ZONE, operator: 'NotIn', values: ['zone-c'] }] }]),
    [labelsOf(LABELS)],
  ],
  ['all is there', volume([{ matchExpressions: [IN_ZONE, IN_REGION] }], LABELS), []],
])('%s', (_what, given, expected) => {
  expect(labelVolume(given, LABELS)).toEqual(expected);
});

test('a volume in several zones has them all in one label, and may be used in each', () => {
  expect(labelVolume(volume(), placeLabels({ zones: ['zone-b', 'zone-a', 'zone-b'], region: 'local' }) ?? {})).toEqual([
    labelsOf({ [ZONE]: 'zone-a__zone-b', [REGION]: 'local' }),
    affinityOf({ matchExpressions: [{ ...IN_ZONE, values: ['zone-a', 'zone-b'] }, IN_REGION] }),
  ]);
});

test('labels are believed only of a volume that a provisioner made', () => {
  const made = { 'pv.kubernetes.io/provisioned-by': 'disk.csi.example.com' };
  expect(trustedLabels(volume(undefined, { [ZONE]: 'b__a', [REGION]: 'r', app: 'web' }, made))).toEqual({ [ZONE]: 'b__a', [REGION]: 'r' });
  expect(trustedLabels(volume(undefined, { [ZONE]: 'a' }, made))).toBeUndefined();
  expect(trustedLabels(volume(undefined, { [ZONE]: 'a', [REGION]: 'r' }))).toBeUndefined();
});

describe('as upstream’s admission plugin PersistentVolumeLabel', () => {
  const made = { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/aws-ebs' };
  const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';
  const BETA_REGION = 'failure-domain.beta.kubernetes.io/region';
  const BETA = { [BETA_ZONE]: 'a', [BETA_REGION]: 'r' };

  test('the deprecated labels are believed where the others are not both there, and the affinity is by the same keys', () => {
    expect(trustedLabels(volume(undefined, BETA, made))).toEqual(BETA);
    expect(trustedLabels(volume(undefined, { ...BETA, [ZONE]: 'z' }, made))).toEqual(BETA);
    expect(trustedLabels(volume(undefined, { ...BETA, [ZONE]: 'z', [REGION]: 'q' }, made))).toEqual({ [ZONE]: 'z', [REGION]: 'q' });
    const byBeta = [
      { key: BETA_ZONE, operator: 'In', values: ['a'] },
      { key: BETA_REGION, operator: 'In', values: ['r'] },
    ];
    expect(labelVolume(volume(undefined, BETA, made), BETA)).toEqual([affinityOf({ matchExpressions: byBeta })]);
  });

  test('a believed label stays as it is written; its zones are read one by one', () => {
    const labels = { [ZONE]: 'b __a', [REGION]: 'r' };
    expect(labelVolume(volume(undefined, labels, made), labels)).toEqual([
      affinityOf({
        matchExpressions: [
          { ...IN_ZONE, values: ['a', 'b'] },
          { ...IN_REGION, values: ['r'] },
        ],
      }),
    ]);
  });

  test.each(['', '__', 'a__', '__a', 'a__ __b'])('a zone label "%s" names no zone, and is refused', (zone) => {
    const labels = { [ZONE]: zone, [REGION]: 'r' };
    expect(() => labelVolume(volume(undefined, labels, made), labels)).toThrow(`failed to convert label string for Zone: ${zone} to a Set`);
  });
});

describe('VolumeAdmission', () => {
  const created = { operation: 'CREATE', resource: { group: '', resource: 'persistentvolumes' }, object: volume() };

  test('changes new volumes that a cloud knows, and nothing else', async () => {
    const asked: unknown[] = [];
    const admission = new VolumeAdmission((spec) => (asked.push(spec), Promise.resolve(PLACE)));
    expect(await admission.review(created)).toHaveLength(2);
    expect(await admission.review({ ...created, operation: 'UPDATE' })).toEqual([]);
    expect(await admission.review({ ...created, resource: { group: '', resource: 'pods' } })).toEqual([]);
    expect(asked).toEqual([created.object.spec]);
    expect(await new VolumeAdmission(() => Promise.resolve(undefined)).review(created)).toEqual([]);
  });

  test('asks no cloud about a volume whose labels are believed', async () => {
    const object = volume(undefined, LABELS, { 'pv.kubernetes.io/provisioned-by': 'disk.csi.example.com' });
    const admission = new VolumeAdmission(() => Promise.reject(new Error('not asked')));
    expect(await admission.review({ ...created, object })).toEqual([affinityOf({ matchExpressions: [IN_ZONE, IN_REGION] })]);
  });
});

test('a volume that the whole region can have gets the label and the affinity of its region alone', () => {
  const labels = placeLabels({ zones: [], region: 'westeurope' }) ?? {};
  expect(labels).toEqual({ 'topology.kubernetes.io/region': 'westeurope' });
  const expressions = [{ key: 'topology.kubernetes.io/region', operator: 'In', values: ['westeurope'] }];
  expect(JSON.stringify(labelVolume(volume(), labels))).toContain(JSON.stringify(expressions));
});
