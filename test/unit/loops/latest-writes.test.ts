import { LatestWrites } from '../../../operator/loops/latest-writes';
import type { KubeObject } from '../../../operator/kube/object';
import { FakeClock } from '../kube/fake-clock';

const LIMIT_MS = 5_000;
const service = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'd', uid: 'u', resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
});

describe('what our own writes gave back', () => {
  const clock = new FakeClock();
  const writes = new LatestWrites<KubeObject>(clock, LIMIT_MS);

  test('is the latest until the store has it', () => {
    writes.wrote('d/s', service('5'));
    expect(writes.latest('d/s', service('4'))?.metadata.resourceVersion).toBe('5');
    writes.changed('d/s', service('6'));
    expect(writes.latest('d/s', service('6'))?.metadata.resourceVersion).toBe('6');
    expect(writes.size).toBe(0);
  });

  test('of what went with a write, whose answer came after its removal was told, is not kept for ever', async () => {
    writes.changed('d/gone', undefined);
    writes.wrote('d/gone', service('7'));
    expect(writes.latest('d/gone', service('6'))?.metadata.resourceVersion).toBe('7');
    await clock.advance(LIMIT_MS);
    writes.wrote('d/other', service('9'));
    expect(writes.size).toBe(1);
  });
});
