import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { AwsLoadBalancers } from '../../../providers/aws/load-balancers/load-balancers';
import { release } from '../../../providers/aws/release';
import { TAG } from '../../../providers/aws/tags';
import type { LoadBalancerInput } from '../../../providers/provider';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { CLUSTER, SCOPE, Scene } from './model-scene';
import { MotoAccount, REGION } from './moto-account';

const LISTENERS: CloudLoadBalancerSpecInput['listeners'] = [
  { name: 'https', port: 443, nodePort: 30_443 },
  { name: 'http', port: 80, nodePort: 30_080 },
];

describeWithMoto('several certificates of a listener, against a simulated API', () => {
  let moto: Moto;
  let account: MotoAccount;
  let scene: Scene;
  let loadBalancers: AwsLoadBalancers;
  let certificates: string[];
  let serial = 0;

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    const model = new AwsModel(moto.url, REGION);
    await model.start();
    scene = new Scene(model);
    const { vpcID, subnetIDs } = account;
    loadBalancers = new AwsLoadBalancers({ clusterID: CLUSTER, legacyClusterTag: false, vpcID, subnetIDs, nodeRules: 'None' });
    certificates = [];
    for (const name of ['one', 'two', 'three', 'foreign']) certificates.push(await account.uploadCertificate(name));
  }, 120_000);
  afterAll(async () => {
    await scene.end();
    account.close();
    await moto.stop();
  });

  async function standing(certificateARNs: string[]) {
    const uid = `${String(++serial).padStart(8, '0')}-0000-4000-8000-888888888888`;
    const stack = `certificates-${serial}`;
    const run = scene.runner(stack);
    const up = async (arns: string[] | undefined): Promise<void> => {
      const tls = arns && { certificateARNs: arns, ports: ['https'] };
      const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: LISTENERS, aws: tls === undefined ? {} : { tls } });
      const of: LoadBalancerInput = { uid, ownerUID: uid, namespace: 'shop', name: `web-${serial}`, spec };
      await run.up(loadBalancers.render(stack, [of]));
    };
    await up(certificateARNs);
    const listener = run.checkpoint().find(({ type, inputs }) => type.endsWith(':Listener') && inputs.port === 443)!.id;
    return { run, stack, up, listener };
  }

  /** The default one first; the others in the order in which the account has got them, whichever was added first. */
  async function certificatesOf(ListenerArn: string): Promise<string[]> {
    const { Certificates = [] } = await scene.elb.describeListenerCertificates({ ListenerArn });
    const [first = '', ...others] = Certificates.map(({ CertificateArn = '' }) => CertificateArn);
    return [first, ...others.sort((a, b) => certificates.indexOf(a) - certificates.indexOf(b))];
  }

  const pair = (ListenerArn: string, CertificateArn: string) => ({ ListenerArn, Certificates: [{ CertificateArn }] });

  test('the model: each is there once, only on TLS listeners, and they outlive a change of the default one', async () => {
    const [one, two, three] = certificates as [string, string, string];
    const { run, listener } = await standing([one, two]);
    await scene.elb.addListenerCertificates(pair(listener, two));
    expect(await certificatesOf(listener)).toEqual([one, two]);
    await scene.elb.modifyListener({ ...pair(listener, three), Protocol: 'TLS' });
    expect(await certificatesOf(listener)).toEqual([three, two]);
    const plain = run.checkpoint().find(({ type, inputs }) => type.endsWith(':Listener') && inputs.port === 80)!.id;
    await expect(scene.elb.addListenerCertificates(pair(plain, two))).rejects.toMatchObject({ name: 'UnsupportedProtocolException' });
    await run.destroy();
  });

  test('the first is the default one, the others are beside it; each changes alone, and nothing is asked for an unchanged list', async () => {
    const [one, two, three] = certificates as [string, string, string];
    const { run, up, listener } = await standing([one, two, three]);
    expect(await certificatesOf(listener)).toEqual([one, two, three]);
    scene.model.calls.length = 0;
    await up([one, two, three]);
    expect(scene.model.calls).toEqual([]);
    await up([one, three]);
    expect(await certificatesOf(listener)).toEqual([one, three]);
    await up([two, three]);
    expect(await certificatesOf(listener)).toEqual([two, three]);
    expect(run.checkpoint().filter(({ type }) => type.endsWith(':ListenerCertificate'))).toHaveLength(1);
    await run.destroy();
  });

  test('a lost answer adds none twice; discovery tells what is there, and leaves out what went', async () => {
    const [one, two, three, foreign] = certificates as [string, string, string, string];
    scene.model.lost = { verb: 'update', times: 2 };
    const { run, stack, listener } = await standing([one, two, three]);
    scene.model.lost = undefined;
    expect(await certificatesOf(listener)).toEqual([one, two, three]);
    const stored = run.checkpoint().filter(({ type }) => type.endsWith(':ListenerCertificate'));
    const found = async () => (await scene.found(stack)).filter(({ type }) => type.endsWith(':ListenerCertificate'));
    const named = (all: { name: string }[]): string[] => all.map(({ name }) => name).sort();
    expect(named(await found())).toEqual(named(stored));
    await scene.elb.removeListenerCertificates(pair(listener, two));
    expect(await found()).toEqual([expect.objectContaining({ unmarked: true, inputs: { listenerArn: listener, certificateArn: three } })]);
    // What somebody else has added bears no mark of ours, and stays.
    await scene.elb.addListenerCertificates(pair(listener, foreign));
    for (const { type: token, name, id, outputs } of stored) {
      const { type, context } = run.resource(token, name);
      await type.delete(id, context, outputs);
      expect(await type.read(id, context)).toBeUndefined();
    }
    expect(await certificatesOf(listener)).toEqual([one, foreign]);
    await run.destroy();
  });

  test('nothing is taken from a listener that is somebody else’s, and nothing from one that speaks no TLS any more or is gone', async () => {
    const [one, two] = certificates as [string, string];
    const { run, listener, up } = await standing([one, two]);
    const { type: token, name, id, outputs } = run.checkpoint().find(({ type }) => type.endsWith(':ListenerCertificate'))!;
    const { type, context } = run.resource(token, name);
    const mark = async (Value: string): Promise<void> => {
      await scene.elb.addTags({ ResourceArns: [listener], Tags: [{ Key: TAG.clusterID, Value }] });
    };
    await mark('somebody-else');
    await expect(type.delete(id, context, outputs)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await certificatesOf(listener)).toEqual([one, two]);
    await mark(CLUSTER);
    await up(undefined);
    expect(run.checkpoint().some((resource) => resource.id === id)).toBe(false);
    await run.destroy();
    await type.delete(id, context, outputs);
  });

  test('all of a stack are released beside them: they bear no mark that could be taken', async () => {
    const [one, two] = certificates as [string, string];
    const { stack, listener } = await standing([one, two]);
    await release(scene.clients, { scope: SCOPE, stack }, () => true);
    expect(await scene.found(stack)).toEqual([]);
    expect(await certificatesOf(listener)).toEqual([one, two]);
  });
});
