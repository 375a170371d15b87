import type { Drift } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import { reportDrift } from '../../../operator/cloud/drift/drift-subject';
import type { StackRecord } from '../../../operator/cloud/stack/stack-record';

const CHANGED = [{ kind: 'Changed', urn: 'u' }] as Drift[];

test.each([
  ['something else differs than before', CHANGED, true, { refreshes: true, counted: 1 }],
  ['the same differs as before', CHANGED, false, { refreshes: false, counted: 0 }],
  ['nothing differs any more: that is told, and no drift', [], true, { refreshes: true, counted: 0 }],
])('%s', (_, drift, isNews, { refreshes, counted }) => {
  const onDrift = jest.fn();
  const record = { reported: () => isNews } as unknown as StackRecord;
  const about = { stack: 'lb-a', provider: 'aws', kind: 'LoadBalancer' as const, drift };
  expect(reportDrift(about, { record, onDrift, logger: silentLogger })).toBe(refreshes);
  expect(onDrift).toHaveBeenCalledTimes(counted);
});
