import { cloudLoadBalancerSpec, type CloudLoadBalancerSpec } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { silentLogger } from '../../../operator/base/log';
import { livingSpecs } from '../../../operator/cloud/drift/living-specs';
import type { StackState } from '../../../operator/updates/update';

const specOf = (port: number): CloudLoadBalancerSpec =>
  cloudLoadBalancerSpec.parse({ provider: 'alpha', listeners: [{ name: 'http', port }] });
const object = { metadata: { uid: 'web', name: 'web', resourceVersion: '1', creationTimestamp: '' }, spec: specOf(1) };

/** Ports of what is found. @param accepted by stack; null = it can't be read */
async function ports(accepted: Record<string, Record<string, object> | null>): Promise<(number | undefined)[] | undefined> {
  const state = (stack: string): Promise<StackState | undefined> => {
    const of = accepted[stack];
    if (of === null) return Promise.reject(new Error('it is torn'));
    return Promise.resolve(of === undefined ? undefined : ({ accepted: of as JsonObject } as StackState));
  };
  const stacks = [...Object.keys(accepted), 'lb-new'];
  const found = await livingSpecs([object], stacks, { updates: { state }, logger: silentLogger });
  return found?.map(({ listeners }) => listeners[0]?.port);
}

test('what a load balancer asks for, what was accepted of it, and the generation that retires', async () => {
  const accepted = { uid: 'web', spec: specOf(2), retiring: { input: { uid: 'web', spec: specOf(3) } } };
  expect(await ports({ 'lb-web': { web: accepted }, 'lb-before': { web: { uid: 'web', spec: specOf(4) } } })).toEqual([1, 2, 3, 4]);
});

test('what is accepted of one whose object is gone does not count', async () => {
  expect(await ports({ 'lb-web': { other: { uid: 'other', spec: specOf(2) } } })).toEqual([1]);
});

test('where a state can’t be read nothing is said', async () => {
  expect(await ports({ 'lb-web': null })).toBeUndefined();
});
