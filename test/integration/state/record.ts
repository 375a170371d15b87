import type { StackRecord } from '../../../operator/updates/state/stack-record';

/** A stack with one resource. */
export function recordOf(stack: string, more: Partial<StackRecord> = {}): StackRecord {
  const root = { urn: `urn:pulumi:${stack}::fake::pulumi:pulumi:Stack::fake-${stack}`, type: 'pulumi:pulumi:Stack', custom: false };
  const thing = { urn: `urn:pulumi:${stack}::fake::fake:index:Thing::web`, type: 'fake:index:Thing', custom: true, id: 'thing-1' };
  const manifest = { time: '2026-01-01T00:00:00Z', magic: '', version: '' };
  return {
    stack,
    project: 'fake',
    providerKind: 'fake',
    programVersion: '1',
    clusterID: 'cluster',
    incarnation: `incarnation of ${stack}`,
    epoch: 1,
    revision: 1,
    holder: 'holder',
    open: false,
    inputs: { a: 1 },
    inputsHash: 'hash',
    outputs: { url: 'http://web' },
    checkpoint: { version: 3, deployment: { manifest, resources: [root, { ...thing, inputs: { size: 1 }, outputs: { size: 1 } }] } },
    updatedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}
