import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS } from '../../../crds';
import { LABEL_EXCLUDE_FROM_LOAD_BALANCERS } from '../../../operator/kube/well-known';
import { describeWithMoto } from '../../harness/moto';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { type Scene, serviceOf } from '../operator/scene';
import { type AwsOperatorScene, NETWORK, withAwsScene } from './operator-scene';

const NAMES = ['one', 'two'];
const SLOW_MS = 60_000;
jest.setTimeout(180_000);

/** Where reading what is registered takes a call for each target group, a restart goes by CloudProvider.status.registeredTargets. */
describeWithMoto('AWS: a record of registered targets that was forged while no operator ran', () => {
  let aws: AwsOperatorScene;
  let cluster: OperatorCluster;
  let scene: Scene;
  let second: { name: string; id: string };

  withAwsScene(async (made) => {
    aws = made;
    ({ cluster, scene } = made);
    second = await aws.addNode();
    await scene.initialized(second.name);
    await cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type', 'merge', '-p', '{"spec":{"driftInterval":"2s"}}']);
    await cluster.apply(...NAMES.map((name) => serviceOf(name, { annotations: NETWORK })));
    for (const name of NAMES) await scene.ready(name, { timeoutMs: SLOW_MS });
  });

  /** Every target group has the second Node, or none has it. */
  function secondIsTarget(wanted: boolean): Promise<true> {
    return scene.until(
      `the second Node ${wanted ? 'behind all' : 'behind none'}`,
      async () => {
        const balancers = await aws.account.loadBalancers();
        const targets = await Promise.all(balancers.map(({ LoadBalancerArn = '' }) => aws.account.targetsOf(LoadBalancerArn)));
        return targets.every(({ 80: ids = [] }) => ids.includes(second.id) === wanted && ids.length === (wanted ? 2 : 1)) || undefined;
      },
      SLOW_MS,
    );
  }

  function recorded(isWanted: (record: string) => boolean): Promise<string> {
    return scene.until('what is registered to be remembered', async () => {
      const record = (await scene.provider('aws'))?.status?.registeredTargets;
      return record !== undefined && isWanted(record) && record;
    });
  }

  const exclude = (excluded: boolean): Promise<string> =>
    cluster.kubectl(['label', 'node', second.name, `${LABEL_EXCLUDE_FROM_LOAD_BALANCERS}${excluded ? '=true' : '-'}`]);
  const forge = (registeredTargets: string): Promise<unknown> =>
    cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { status: { registeredTargets } }, { subresource: 'status' });

  test('in words that mean nothing: what is registered is read, nothing is written to AWS, and the record is put right', async () => {
    const before = await recorded(() => true);
    const claim = async (): Promise<unknown> => (await scene.loadBalancer('one'))?.status?.targetGroups;
    const claimed = await claim();
    await scene.settled();
    await cluster.stopOperator();
    await forge('deadbeef');
    await cluster.kube.patch(
      CLOUD_LOAD_BALANCERS,
      'default/one',
      'merge',
      { status: { targetGroups: 'deadbeef' } },
      { subresource: 'status' },
    );
    aws.model.calls.length = 0;
    await cluster.startOperator();
    expect(await recorded((record) => record !== 'deadbeef')).toBe(before);
    await scene.settled();
    expect(await claim()).toBe(claimed);
    expect(aws.model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
  });

  test('as it was once, for what is wanted again: it holds until the next comparison, which puts the targets right', async () => {
    const both = await recorded(() => true);
    await exclude(true);
    await secondIsTarget(false);
    const first = await recorded((record) => record !== both);
    await exclude(false);
    await secondIsTarget(true);
    await recorded((record) => record === both);

    await cluster.stopOperator();
    await exclude(true);
    await forge(first);
    await cluster.startOperator();
    await secondIsTarget(false);
    for (const name of NAMES) await scene.ready(name);
    await scene.deleteServices(...NAMES);
  });
});
