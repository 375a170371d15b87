import type { Instance, InstanceTopology } from '@aws-sdk/client-ec2';
import { OperatorError } from '../../../operator/base/errors';
import { AwsError } from '../../../providers/aws/client/aws-error';
import type { Ec2 } from '../../../providers/aws/client/ec2';
import { NetworkTopology } from '../../../providers/aws/nodes/topology';

const LAYER = 'topology.k8s.aws/network-node-layer-1';
const refused = (awsCode: string): AwsError => new AwsError('Invalid', awsCode, awsCode, {});

/** The question for the topology, which is answered with one layer, or refused. */
class FakeEc2 {
  readonly asked: string[][] = [];
  refusal: OperatorError | undefined;

  readonly api = {
    instanceTopology: (ids: string[]): Promise<InstanceTopology[]> => {
      this.asked.push(ids);
      if (this.refusal !== undefined) return Promise.reject(this.refusal);
      return Promise.resolve(
        ids.filter((id) => id !== 'i-silent').map((InstanceId) => ({ InstanceId, NetworkNodes: [`nn-${InstanceId}`] })),
      );
    },
  } as unknown as Ec2;
}

function instances(types: Record<string, string>, state: 'running' | 'pending' = 'running'): Instance[] {
  return Object.entries(types).map(([InstanceId, InstanceType]) => ({
    InstanceId,
    InstanceType: InstanceType as Instance['InstanceType'],
    State: { Name: state },
  }));
}

const many = (count: number): Instance[] =>
  instances(Object.fromEntries(Array.from({ length: count }, (_, at) => [`i-${at}`, 'p5.48xlarge'])));

describe('the network topology of instances', () => {
  let ec2: FakeEc2;

  beforeEach(() => {
    ec2 = new FakeEc2();
  });

  test.each([
    ['upstream’s types', undefined, ['i-hpc', 'i-p4', 'i-p6', 'i-trn']],
    ['the types that are named', '^t3\\.', ['i-t3']],
  ])('is asked for of %s alone', async (_what, types, expected) => {
    const all = {
      'i-hpc': 'hpc7g.16xlarge',
      'i-p4': 'p4d.24xlarge',
      'i-p6': 'p6-b200.48xlarge',
      'i-trn': 'trn1n.32xlarge',
      'i-t3': 't3.large',
    };
    const labels = await new NetworkTopology(ec2.api, types).labelsOf(
      instances({ ...all, 'i-pc': 'm7g.large', 'i-gp': 'gp3.large' }),
      'All',
    );
    expect(ec2.asked).toEqual([expected]);
    expect([...labels]).toEqual(expected.map((id) => [id, { [LAYER]: `nn-${id}` }]));
  });

  test('is asked for in batches of a hundred, once of each instance that runs, also of one of which AWS says nothing', async () => {
    const topology = new NetworkTopology(ec2.api);
    await topology.labelsOf(many(250), 'All');
    expect(ec2.asked.map(({ length }) => length)).toEqual([100, 100, 50]);
    const later = [...many(250), ...instances({ 'i-silent': 'p5.48xlarge' }), ...instances({ 'i-new': 'p5.48xlarge' }, 'pending')];
    expect((await topology.labelsOf(later, 'All')).get('i-silent')).toEqual({});
    await topology.labelsOf(later, 'All');
    expect(ec2.asked.slice(3)).toEqual([['i-silent']]);
  });

  test('is forgotten of instances that a listing of all has no more, and that nobody has named since the one before', async () => {
    const topology = new NetworkTopology(ec2.api);
    const [first, named, second] = ['i-first', 'i-named', 'i-second'].map((id) => instances({ [id]: 'p5.48xlarge' }));
    await topology.labelsOf(first!, 'All');
    expect([...(await topology.labelsOf(named!, 'Named')).keys()]).toEqual(['i-first', 'i-named']);
    expect([...(await topology.labelsOf(second!, 'All')).keys()]).toEqual(['i-named', 'i-second']);
    expect([...(await topology.labelsOf(second!, 'All')).keys()]).toEqual(['i-second']);
    expect(ec2.asked).toHaveLength(3);
  });

  test('is never asked for again where the region hasn’t it, not even for the next batch', async () => {
    const topology = new NetworkTopology(ec2.api);
    ec2.refusal = refused('UnsupportedOperation');
    expect([...(await topology.labelsOf(many(150), 'All'))]).toEqual([]);
    ec2.refusal = undefined;
    expect([...(await topology.labelsOf(many(150), 'All'))]).toEqual([]);
    expect(ec2.asked).toHaveLength(1);
  });

  test.each([
    ['a missing permission', refused('UnauthorizedOperation')],
    ['throttling', refused('RequestLimitExceeded')],
    ['no answer', new OperatorError('Transient', 'cut')],
  ])('holds nobody up where AWS answers %s, and is asked for again with the next listing', async (_what, refusal) => {
    const topology = new NetworkTopology(ec2.api);
    ec2.refusal = refusal;
    expect([...(await topology.labelsOf(many(101), 'All'))]).toEqual([]);
    ec2.refusal = undefined;
    expect((await topology.labelsOf(many(101), 'All')).size).toBe(101);
    expect(ec2.asked.map(({ length }) => length)).toEqual([100, 1, 100, 1]);
  });
});
