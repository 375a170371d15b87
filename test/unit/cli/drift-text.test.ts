import { driftText, type DriftAnswer } from '../../../operator/cli/drift-text';
import type { DriftRequest } from '../../../providers/local/api';

const LB = { name: 'web-1', tags: { owner: 'default/web' } };

test.each<[DriftRequest, DriftAnswer, string]>([
  [{ kind: 'deleteRoute', destinationCIDR: '10.0.0.0/24' }, {}, "The route to 10.0.0.0/24 is deleted from the cloud's table."],
  [
    { kind: 'deleteKernelRoute', destinationCIDR: '10.0.0.0/24' },
    {},
    "The route to 10.0.0.0/24 no longer leads anywhere; the cloud's table still has it.",
  ],
  [{ kind: 'delete', collection: 'pools', id: 'p-1' }, {}, 'pools/p-1 is deleted.'],
  [
    { kind: 'patch', collection: 'loadbalancers', id: 'lb-1', fields: { sourceRanges: ['10.0.0.0/8'], scheme: 'Internal' } },
    { resource: LB },
    'loadbalancers/lb-1 (web-1, of default/web): sourceRanges is ["10.0.0.0/8"] now, scheme is "Internal" now.',
  ],
  [{ kind: 'patch', collection: 'addresses', id: 'a', fields: {} }, { resource: { name: 'x' } }, 'addresses/a (x): nothing is changed.'],
  [
    { kind: 'setTargets', id: 'p-1', targets: [{ instanceID: 'i-1', port: 30080 }] },
    { resource: LB },
    'pools/p-1 (web-1, of default/web): its targets are i-1:30080 now.',
  ],
  [{ kind: 'setTargets', id: 'p-1', targets: [] }, {}, 'pools/p-1: its targets are none now.'],
  [{ kind: 'power', id: 'i-1', power: 'stopped' }, { resource: { name: 'n1', tags: {} } }, 'instances/i-1 (n1) is stopped.'],
])('%j', (request, answer, text) => {
  expect(driftText(request, answer)).toBe(text);
});
