import { cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { NodeTagging } from '../../../operator/cloud/instances/node-tagging';
import { MemoryStore } from '../../../operator/kube/store';
import type { Node } from '../../../operator/kube/object';
import type { Instances, NodeMachines } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';
import { node } from '../loops/objects';
import { fakeRegistry } from './fake-registry';

const nodeOf = (name: string, providerID: string): Node => node({ metadata: { name, uid: name }, spec: { providerID } });

/** Two clouds of different kinds, which both ask for tags, and what each was asked for. */
async function made(more: object = {}) {
  const asked: NodeMachines[] = [];
  const failures: OperatorError[] = [];
  const tagNodes: Instances['tagNodes'] = (machines, isValid) => {
    const failure = failures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    if (isValid()) asked.push(machines);
    return Promise.resolve(0);
  };
  const registry = fakeRegistry({ instances: { list: () => Promise.resolve([]), tagNodes } });
  const set = (spec: object): Promise<unknown> =>
    registry.set('alpha', cloudProviderSpec.parse({ custom: { kind: 'alpha' }, driftInterval: '1h', ...spec }));
  await set(more);
  const nodes = new MemoryStore<Node>({}, silentLogger);
  nodes.replace([nodeOf('a', 'alpha:///1'), nodeOf('b', 'beta:///2')]);
  const [clock, told, stop] = [new FakeClock(), [] as string[], new AbortController()];
  const tagging = new NodeTagging({
    ...{ registry, nodes, clock, random: () => 0.5, logger: silentLogger, isValid: () => true },
    told: (provider) => void told.push(provider),
  });
  const ended = tagging.run(stop.signal);
  const settle = async (ms = 1_000): Promise<void> => {
    for (let round = 0; round < 10; round++) await clock.advance(round === 0 ? ms : 0);
  };
  await settle();
  const end = async (): Promise<void> => {
    stop.abort();
    await settle();
    await ended;
  };
  return { asked, failures, nodes, set, settle, tagging, told, end };
}

test('at the start, when a Node comes or goes, when the CloudProvider changes, and once in the drift interval', async () => {
  const { asked, nodes, set, settle, end } = await made();
  expect(asked).toEqual([{ own: ['alpha:///1'], all: ['alpha:///1', 'beta:///2'] }]);
  nodes.set(nodeOf('c', 'alpha:///3'));
  await settle();
  expect(asked.at(-1)?.own).toEqual(['alpha:///1', 'alpha:///3']);
  // A heartbeat is no reason.
  nodes.set({ ...nodeOf('c', 'alpha:///3'), status: {} });
  await settle();
  expect(asked).toHaveLength(2);
  nodes.delete('a');
  await settle();
  expect(asked.at(-1)).toEqual({ own: ['alpha:///3'], all: ['beta:///2', 'alpha:///3'] });
  await set({ region: 'another' });
  await settle();
  expect(asked).toHaveLength(4);
  await settle(3_700_000);
  expect(asked).toHaveLength(5);
  await end();
});

test('what fails is told as a condition of the CloudProvider until it succeeds; one that is only observed is left alone', async () => {
  const { asked, failures, set, settle, tagging, told, end } = await made();
  failures.push(new OperatorError('Credentials', 'ec2:CreateTags was denied'));
  await set({ region: 'another' });
  await settle();
  expect(tagging.warnings('alpha')).toEqual([
    { type: 'NodeTagsFailed', reason: 'CredentialsRefused', message: 'ec2:CreateTags was denied' },
  ]);
  await set({ region: 'third' });
  await settle();
  expect([tagging.warnings('alpha'), told]).toEqual([[], ['alpha', 'alpha']]);
  const before = asked.length;
  await set({ managementPolicy: 'Observe' });
  await settle();
  expect(asked).toHaveLength(before);
  await end();
});
