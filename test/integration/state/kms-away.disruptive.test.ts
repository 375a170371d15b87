import { CreateAliasCommand, CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { kstatusOf } from '../../harness/kstatus';
import { awsEnvironment, describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, Scene, serviceOf } from '../operator/scene';
import { KmsProxy } from './kms-proxy';

const REGION = 'eu-central-1';
const KEY = `awskms://alias/cloud-operator?region=${REGION}`;
jest.setTimeout(180_000);

describeWithMoto('an operator that starts while the KMS does not unwrap its data keys', () => {
  let moto: Moto;
  let kms: KmsProxy;
  let cluster: OperatorCluster;
  let scene: Scene;

  beforeAll(async () => {
    moto = await startMoto();
    kms = new KmsProxy(moto.url);
    await kms.start();
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = new KMSClient({ region: REGION, endpoint: kms.url, credentials });
    const { KeyMetadata } = await client.send(new CreateKeyCommand({}));
    await client.send(new CreateAliasCommand({ AliasName: 'alias/cloud-operator', TargetKeyId: KeyMetadata?.KeyId }));
    client.destroy();
    const environment = { ...minimalEnvironment(), ...awsEnvironment(kms.url, REGION) };
    cluster = await OperatorCluster.start({ flags: [`--secrets-provider=${KEY}`], environment });
    scene = new Scene(cluster);
    await scene.addNode('n1');
    await scene.initialized('n1');
  }, 60_000 + OPERATOR_CLUSTER_START_MS);

  afterAll(async () => {
    await cluster?.stop();
    await kms?.stop();
    await moto?.stop();
  });

  test('what is unchanged stays Ready and its targets follow; what has a change says which key, what to do and until when; all goes on by itself', async () => {
    await cluster.apply(serviceOf('web'), serviceOf('other'));
    const address = await scene.published('web');
    await scene.published('other');
    await scene.settled();
    await cluster.stopOperator();
    kms.fault = () => 'DisabledException';
    await cluster.apply(serviceOf('other', { spec: { loadBalancerSourceRanges: ['10.7.0.0/16'] } }));
    await cluster.startOperator();

    const waits = await scene.condition('other', 'Stalled', 'StateKeyUnavailable');
    expect(waits.message).toMatch(/kms:Decrypt with the key of the state, arn:aws:kms:\S+ \(awskms:.*the key is disabled/);
    expect(waits.message).toMatch(/enable it: aws kms enable-key .*keeps serving\. Next try at [0-9T:-]+Z\.$/);
    expect((await scene.condition('web', 'StateUnavailable', 'StateKeyUnavailable')).message).toMatch(/kms:Decrypt.*enable it/);
    const web = await scene.loadBalancer('web');
    expect(web?.status?.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'Ready' });
    expect(web && kstatusOf(web)).toBe('Current');
    expect(addressOf(await scene.service('web'))).toBe(address);

    await scene.addNode('n2');
    for (const name of ['web', 'other'])
      await scene.until(`both Nodes as targets of ${name}`, async () => (await scene.targets(name, 'http')).length === 2, 60_000);

    kms.fault = () => undefined;
    await cluster.kubectl(['annotate', 'clb', 'other', 'cloud-operator.dev/reconcile=now']);
    await scene.until('the change to be made', async () => (await scene.inCloud('other')).sourceRanges.includes('10.7.0.0/16'), 60_000);
    await scene.until('no word of it any more', async () => (await scene.loadBalancer('web'))?.status?.conditions?.length === 1, 60_000);
    await scene.deleteServices('web', 'other');
  });
});
