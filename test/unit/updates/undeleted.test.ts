import type { CheckpointResource, Deployment } from '../../../operator/updates/checkpoint';
import { undeletedOf, type FailedUpdate } from '../../../operator/updates/undeleted';

const at = (name: string): string => `urn:pulumi:s::p::x:index:Thing::${name}`;
const thing = (name: string, more: object = {}): CheckpointResource => ({ urn: at(name), type: 'x:index:Thing', custom: true, ...more });
const stateOf = (...resources: CheckpointResource[]): Deployment => ({
  version: 3,
  deployment: { manifest: { time: '', magic: '', version: '' }, resources },
});
const root = { ...thing('root'), type: 'pulumi:pulumi:Stack', custom: false };

/** The program has `web`; `old` has gone from it, and could not be deleted. */
function failed(more: Partial<FailedUpdate> = {}): FailedUpdate {
  const steps = [{ op: 'delete', urn: at('old') }];
  return {
    failures: [{ operation: 'delete' }],
    failed: steps,
    reached: new Set([at('web')]),
    left: stateOf(root, thing('web'), thing('old')),
    ...more,
  };
}

describe('what is left of an update that failed of deletions alone', () => {
  test('is what the program does not have any more', () => {
    expect(undeletedOf(failed())).toEqual([at('old')]);
    expect(undeletedOf(failed({ failures: [] }))).toEqual([at('old')]);
    // What was not even tried, because what depends on it is still there.
    expect(undeletedOf(failed({ left: stateOf(thing('web'), thing('old'), thing('older')) }))).toEqual([at('old'), at('older')]);
  });

  test('is what was replaced', () => {
    const steps = [{ op: 'delete-replaced', urn: at('web') }];
    expect(undeletedOf(failed({ failed: steps, left: stateOf(thing('web'), thing('web', { delete: true })) }))).toEqual([at('web')]);
  });

  test.each<[string, Partial<FailedUpdate>]>([
    ['nothing failed', { failed: [], failures: [] }],
    ['something else failed, too', { failures: [{ operation: 'update' }, { operation: 'delete' }] }],
    ['a plugin’s step failed, too', { failed: [...failed().failed, { op: 'create', urn: at('db') }] }],
    ['it was to be made again after that', { failed: [{ op: 'delete-replaced', urn: at('web') }] }],
    ['something is yet to be made again', { left: stateOf(thing('web'), thing('old'), thing('db', { pendingReplacement: true })) }],
    ['nothing is left', { left: stateOf(thing('web')) }],
  ])('none where %s', (_why, more) => expect(undeletedOf(failed(more))).toBeUndefined());
});
