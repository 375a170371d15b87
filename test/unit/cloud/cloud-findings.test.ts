import { CloudFindings } from '../../../operator/cloud/drift/cloud-findings';
import type { ConnectedCloud } from '../../../operator/cloud/providers/registry';
import type { DiscoveredResource } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';

const pool = (id: string): DiscoveredResource => ({ type: 'pool', name: id, id, inputs: {}, outputs: {} });

test('many stacks that can not be read cost one bulk read, and nothing again until one is forgotten', async () => {
  const asked: (string[] | undefined)[] = [];
  const content = new Map([
    ['a', [pool('1')]],
    ['b', [pool('2')]],
  ]);
  const discover = (stacks?: string[]): Promise<Map<string, DiscoveredResource[]>> => {
    asked.push(stacks);
    return Promise.resolve(new Map([...content].filter(([stack]) => stacks?.includes(stack) ?? true)));
  };
  const cloud = { name: 'home', cloud: { discover } } as unknown as ConnectedCloud;
  const clock = new FakeClock();
  const findings = new CloudFindings(clock);
  const ids = async (stack: string, all: boolean): Promise<string[]> => (await findings.of(stack, cloud, all)).map(({ id }) => id);
  expect(await Promise.all([ids('a', true), ids('b', true), ids('none', true)])).toEqual([['1'], ['2'], []]);
  expect(asked).toEqual([undefined]);

  findings.forget('a');
  content.set('a', [pool('3')]);
  expect(await ids('a', false)).toEqual(['3']);
  expect(await ids('a', false)).toEqual(['3']);
  expect(asked).toEqual([undefined, ['a']]);

  content.set('none', [pool('4')]);
  expect(await ids('none', true)).toEqual([]);
  await clock.advance(10_000);
  expect(await ids('none', true)).toEqual(['4']);
  expect(asked).toEqual([undefined, ['a'], undefined]);
});

test('a cloud that can not discover has nothing; one that fails is asked again', async () => {
  const findings = new CloudFindings(new FakeClock());
  expect(await findings.of('a', { name: 'poor', cloud: {} } as ConnectedCloud, true)).toEqual([]);
  let fails = true;
  const discover = (): Promise<Map<string, DiscoveredResource[]>> =>
    fails ? Promise.reject(new Error('not now')) : Promise.resolve(new Map([['a', [pool('1')]]]));
  const cloud = { name: 'home', cloud: { discover } } as unknown as ConnectedCloud;
  await expect(findings.of('a', cloud, true)).rejects.toThrow('not now');
  fails = false;
  expect(await findings.of('a', cloud, true)).toEqual([pool('1')]);
});
