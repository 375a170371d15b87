import type { Instance } from '@aws-sdk/client-ec2';
import { OperatorError } from '../../../operator/base/errors';
import type { Ec2 } from '../../../providers/aws/client/ec2';
import { assertNodeTags, nodeTagChanges, NODE_TAGS, tagNodes, type NodeTagChange } from '../../../providers/aws/nodes/node-tags';

const SCOPE = { clusterID: 'c', nodeTags: { team: 'blue', cost: '7' } };
const MARK = { [NODE_TAGS]: 'c cost team' };
const WANTED = { team: 'blue', cost: '7', ...MARK };

function instance(id: string, tags: Record<string, string> = {}, state: 'running' | 'terminated' = 'running'): Instance {
  return { InstanceId: id, State: { Name: state }, Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) };
}

/** So many tags of somebody's. */
const others = (count: number): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, at) => [`other-${at}`, '']));

interface Scene {
  own?: string[];
  /** Ids of instances of Nodes of which it is not known whose they are. */
  undecided?: string[];
  nodeTags?: Record<string, string>;
}

test.each<[string, Instance[], Scene, NodeTagChange[]]>([
  ['what a Node’s instance lacks, and the mark', [instance('i-1', { Name: 'n' })], {}, [{ ids: ['i-1'], set: WANTED }]],
  ['all of the same in one write', [instance('i-1'), instance('i-2')], { own: ['i-1', 'i-2'] }, [{ ids: ['i-1', 'i-2'], set: WANTED }]],
  ['nothing where all is right', [instance('i-1', { ...WANTED, Name: 'n' })], {}, []],
  ['what somebody has changed', [instance('i-1', { ...WANTED, team: 'red' })], {}, [{ ids: ['i-1'], set: { team: 'blue' } }]],
  ['nothing on what is terminated', [instance('i-1', {}, 'terminated')], {}, []],
  ['nothing on what is no Node’s', [instance('i-9', { team: 'blue' })], {}, []],
  [
    'off what is no Node’s any more, with the mark',
    [instance('i-9', { ...WANTED, Name: 'n' })],
    {},
    [{ ids: ['i-9'], remove: ['cost', 'team', NODE_TAGS] }],
  ],
  ['but not while it is not known whose Node it is', [instance('i-9', WANTED)], { undecided: ['i-9'] }, []],
  ['what another cluster has marked stays', [instance('i-9', { team: 'blue', [NODE_TAGS]: 'd team' })], {}, []],
  [
    'off, what is not wanted any more, before the mark forgets it',
    [instance('i-1', WANTED)],
    { nodeTags: { team: 'blue' } },
    [
      { ids: ['i-1'], remove: ['cost'] },
      { ids: ['i-1'], set: { [NODE_TAGS]: 'c team' } },
    ],
  ],
  ['to the last place', [instance('i-1', others(47))], {}, [{ ids: ['i-1'], set: WANTED }]],
  ['none where there is no place for all', [instance('i-1', others(48))], {}, [{ ids: ['i-1'], full: true }]],
  ['but what takes no place', [instance('i-1', { ...others(47), ...WANTED, team: 'red' })], {}, [{ ids: ['i-1'], set: { team: 'blue' } }]],
  [
    'in the place of what goes',
    [instance('i-1', { ...others(46), ...WANTED, [NODE_TAGS]: 'c old team', old: '' })],
    {},
    [
      { ids: ['i-1'], remove: ['old'] },
      { ids: ['i-1'], set: { [NODE_TAGS]: 'c cost team' } },
    ],
  ],
  [
    'first what goes, of all: it may take the place that another one needs',
    [instance('i-2'), instance('i-1', { ...others(46), ...WANTED, [NODE_TAGS]: 'c old team', old: '' })],
    { own: ['i-1', 'i-2'] },
    [
      { ids: ['i-1'], remove: ['old'] },
      { ids: ['i-2'], set: WANTED },
      { ids: ['i-1'], set: { [NODE_TAGS]: 'c cost team' } },
    ],
  ],
  ['all off, where none are wanted', [instance('i-1', WANTED)], { nodeTags: {} }, [{ ids: ['i-1'], remove: ['cost', 'team', NODE_TAGS] }]],
])('tags of instances: %s', (_what, instances, { own = ['i-1'], undecided = [], nodeTags = SCOPE.nodeTags }, expected) => {
  const machines = { own: new Set(own), all: new Set([...own, ...undecided]) };
  expect(nodeTagChanges(instances, machines, { ...SCOPE, nodeTags })).toEqual(expected);
});

test('keys that the mark has no place for are refused with the figures', () => {
  expect(() => assertNodeTags(SCOPE)).not.toThrow();
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${'k'.repeat(30)}${index}`, '']));
  expect(() => assertNodeTags({ clusterID: 'c', nodeTags: many })).toThrow(/with the cluster's id, 321 characters .* has 256/);
});

test('an instance that has no place for more tags keeps them off nobody else, and is told', async () => {
  const tagged: string[] = [];
  const ec2 = {
    createTags: (ids: string[]) => {
      if (ids.includes('i-0f')) return Promise.reject(new OperatorError('Quota', 'TagLimitExceeded'));
      tagged.push(...ids);
      return Promise.resolve();
    },
  } as unknown as Ec2;
  const listed = [instance('i-0f', others(50)), instance('i-0a')];
  const ids = listed.map(({ InstanceId = '' }) => `aws:///z/${InstanceId}`);
  const done = tagNodes(ec2, { own: ids, all: ids }, { ...SCOPE, listed, isValid: () => true });
  await expect(done).rejects.toMatchObject({
    code: 'Quota',
    message: expect.stringContaining('no room for spec.aws.nodeTags on i-0f.') as string,
  });
  expect(tagged).toEqual(['i-0a']);
});
