import { Registry } from 'prom-client';
import { DriftMetrics, type JudgedStack } from '../../../operator/server/drift-metrics';

const stack = (provider: string, types: string[], kind: JudgedStack['spec']['kind'] = 'LoadBalancer'): JudgedStack => ({
  apiVersion: 'cloud-operator.dev/v1',
  kind: 'CloudStack',
  metadata: { name: 'lb-a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { provider, kind },
  status: { conditions: types.map((type) => ({ type, status: 'True', reason: 'CloudChanged' })) },
});

test('stacks that are left as they differ are counted for as long as they say so, also by a process that has not found it itself', async () => {
  const registry = new Registry();
  const metrics = new DriftMetrics([registry]);
  let stacks = [
    stack('aws', ['Ready', 'Drifted']),
    stack('aws', ['Ready', 'Drifted']),
    stack('aws', ['Ready', 'Drifted'], 'Routes'),
    stack('azure', ['Ready']),
    { ...stack('azure', []), status: undefined },
  ];
  metrics.follow({ list: () => stacks });
  const shown = async (): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => line.includes('drifted_stacks{'));
  expect(await shown()).toEqual([
    'cloud_operator_drifted_stacks{provider="aws",kind="LoadBalancer"} 2',
    'cloud_operator_drifted_stacks{provider="aws",kind="Routes"} 1',
  ]);
  stacks = [stack('aws', ['Ready'])];
  expect(await shown()).toEqual([]);
});
