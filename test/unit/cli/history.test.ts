import type { Attempt } from '../../../crds';
import { textOf } from '../../../operator/cli/cluster/history';

const ATTEMPTS: Attempt[] = [
  {
    kind: 'Update',
    startedAt: '2026-01-02T03:04:05Z',
    result: 'Succeeded',
    durationMs: 1_200,
    changes: '+0 ~1 -0 =2',
    operations: [
      {
        op: 'update',
        type: 'local:index:LoadBalancer',
        name: 'web',
        urn: 'urn:web',
        properties: [{ path: 'sourceRanges[0]', new: '"10.0.0.0/8"' }],
      },
    ],
    omitted: 3,
  },
  { kind: 'Update', startedAt: '2026-01-01T03:04:05Z', result: 'Succeeded' },
];
const plain = (text: string): string => text;

test('with --plan: what each attempt did, below the table', () => {
  const table = textOf('lb-web', ATTEMPTS, { wide: false, plan: false }, plain);
  expect(textOf('lb-web', ATTEMPTS, { wide: false, plan: true }, plain)).toBe(`${table}
2026-01-02T03:04:05Z Update
  ~ update local:index:LoadBalancer web
      sourceRanges[0]: (absent) -> "10.0.0.0/8"
  … and 3 operations and properties that are not shown

2026-01-01T03:04:05Z Update
  no resource was changed
`);
});
