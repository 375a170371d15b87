import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import { AwsMembers } from '../../../providers/aws/members/members';
import { AwsInstances } from '../../../providers/aws/nodes/instances';
import { NODE_TAGS } from '../../../providers/aws/nodes/node-tags';
import { fromAwsTags, TAG } from '../../../providers/aws/tags';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { MotoAccount, REGION } from './moto-account';

describeWithMoto('Nodes of AWS, against a simulated API', () => {
  let moto: Moto;
  let account: MotoAccount;
  let ec2: Ec2;
  let calls: string[] = [];

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    ec2 = new Ec2({ ...account.clientOptions(), onCall: (verb) => calls.push(verb) });
  }, 120_000);

  beforeEach(() => {
    calls = [];
  });

  afterAll(async () => {
    [ec2, account].forEach((client) => client.close());
    await moto.stop();
  });

  test('with the tag of old clusters an instance with either tag is the cluster’s, once', async () => {
    const [both = '', modern = '', old = ''] = (await account.makeInstances(3, 'aged')).map(
      ({ providerID }) => providerID.split('/').at(-1) ?? '',
    );
    for (const id of [both, old]) await account.tag(id, 'KubernetesCluster', 'aged');
    await ec2.deleteTags([old], ['kubernetes.io/cluster/aged'], {});
    const scope = { region: REGION, clusterName: 'aged', nodeIPFamilies: ['IPv4' as const] };
    const listed = async (legacyClusterTag: boolean): Promise<string[]> =>
      (await new AwsInstances(ec2, { ...scope, legacyClusterTag }).list()).map(({ id }) => id).sort();
    expect(await listed(true)).toEqual([both, modern, old].sort());
    expect(await listed(false)).toEqual([both, modern].sort());
  });

  test('P-41: Nodes’ instances get the tags that are asked for in one write, lose them with their Nodes, and one that is gone fails nobody', async () => {
    const scope = { region: REGION, clusterName: 'tagged', nodeIPFamilies: ['IPv4' as const] };
    const tags = { clusterID: 'c', nodeTags: { team: 'blue' } };
    const { tagNodes } = new AwsInstances(ec2, scope, tags);
    const ids = (await account.makeInstances(3, 'tagged')).map(({ providerID }) => providerID);
    const always = (): boolean => true;
    const gone = 'aws:///eu-central-1a/i-0123456789abcdef0';
    calls = [];
    expect(await tagNodes!({ own: [...ids, gone], all: [...ids, gone] }, always)).toBe(1);
    expect(calls).toEqual(['list', 'list', 'update']);
    const teams = async (): Promise<string[]> => {
      const found = await ec2.instances([{ Name: 'instance-id', Values: ids.map((id) => id.split('/').at(-1) ?? '') }]);
      return found.map(({ Tags }) => `${fromAwsTags(Tags).team ?? 'none'} ${fromAwsTags(Tags)[NODE_TAGS] ?? 'none'}`).sort();
    };
    expect(await teams()).toEqual(Array.from({ length: 3 }, () => 'blue c team'));
    calls = [];
    expect(await tagNodes!({ own: ids, all: ids }, always)).toBe(0);
    expect(calls).toEqual(['list']);
    await expect(tagNodes!({ own: ids.slice(1), all: ids.slice(1) }, () => false)).rejects.toMatchObject({ code: 'Canceled' });
    expect(await tagNodes!({ own: ids.slice(1), all: ids.slice(1) }, always)).toBe(1);
    expect(await teams()).toEqual(['blue c team', 'blue c team', 'none none']);
    const none = new AwsInstances(ec2, scope, { ...tags, nodeTags: {} });
    expect(await none.tagNodes!({ own: ids, all: ids }, always)).toBe(1);
    expect(await teams()).toEqual(Array.from({ length: 3 }, () => 'none none'));
    expect(new AwsInstances(ec2, scope).tagNodes).toBeUndefined();
  });

  test('members that are assumed cost no call; another set is written by its difference alone, and observe tells the truth', async () => {
    const elb = new ElbV2({ ...account.clientOptions(), onCall: (verb) => calls.push(verb) });
    const instances = new AwsInstances(ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    const [cluster, stack, port] = ['0a1b2c3d-1111-4222-8333-444455556666', 's', 30_080];
    const made = await elb.createTargetGroup(
      {
        ...{ Name: 'assumed', Protocol: 'TCP', Port: port, VpcId: account.vpcID },
        Tags: [
          { Key: TAG.clusterID, Value: cluster },
          { Key: TAG.stack, Value: stack },
        ],
      },
      {},
    );
    const group = { id: made.TargetGroupArn ?? '', port, stack };
    const [one, two, three] = await account.makeInstances(3, 'prod');
    const always = (): boolean => true;
    await new AwsMembers(elb, instances, cluster).sync(group, [one!, two!], always);
    const restarted = new AwsMembers(elb, instances, cluster);
    calls = [];
    restarted.assume(group, [one!, two!]);
    expect(calls).toEqual([]);
    expect(await restarted.sync(group, [one!, two!, three!], always)).toBe(1);
    expect(calls).toEqual(['targets']);
    expect((await restarted.observe()).get(group.id)).toBe(restarted.hash(group, [one!, two!, three!]));
    // What was assumed wrongly ends right: what isn't there can't be taken away.
    restarted.assume(group, [one!]);
    expect((await restarted.observe()).get(group.id)).toBe(restarted.hash(group, [one!, two!, three!]));
    await restarted.sync(group, [two!], always);
    expect((await restarted.observe()).get(group.id)).toBe(restarted.hash(group, [two!]));
    elb.close();
  });

  const idOf = (providerID: string): string => providerID.split('/').at(-1) ?? '';

  describe('instances', () => {
    let instances: AwsInstances;

    beforeEach(() => {
      instances = new AwsInstances(ec2, { region: REGION, clusterName: 'prod', vpcID: account.vpcID, nodeIPFamilies: ['IPv4'] });
    });

    test('a machine without the cluster’s tag is found by name, in every form of providerID; one that is gone fails nobody', async () => {
      const [ours, untagged] = [await account.makeInstances(1, 'prod'), await account.makeInstances(3, 'other')];
      const [first, second, third] = untagged.map(({ providerID }) => providerID);
      const listed = (await instances.list()).map(({ providerID }) => providerID);
      expect(listed).toContain(ours[0]?.providerID);
      for (const { providerID } of untagged) expect(listed).not.toContain(providerID);
      const forms = [first!, `aws:////${idOf(second!)}`, idOf(third!), `aws:///${REGION}a/i-0123456789abcdef0`];
      calls = [];
      const named = await instances.named(forms);
      expect(named.map(({ providerID }) => providerID).sort()).toEqual([first, second, third].sort());
      expect(named.map(({ state }) => state)).toEqual(['Running', 'Running', 'Running']);
      expect(calls).toHaveLength(1);
      expect(new Set(named.map(({ providerID }) => instances.identify(providerID))).size).toBe(3);
    });

    test('a Fargate Node lives as long as its network interface, and is looked up in one call with all others', async () => {
      const [host] = await account.makeInstances(1, 'other');
      const [zone, address] = [host!.providerID.split('/')[3], '10.0.200.10'];
      const interfaceID = await account.attachInterface(idOf(host!.providerID), address);
      const fargate = (ip: string): string => `aws:///${REGION}a/1a2b3c/fargate-ip-${ip.replaceAll('.', '-')}.${REGION}.compute.internal`;
      const providerIDs = [fargate(address), fargate('10.0.200.11')];
      const [first] = await instances.named(providerIDs);
      expect(first).toMatchObject({ id: interfaceID, providerID: providerIDs[0], state: 'Running', zone, region: REGION });
      expect(first?.addresses[0]).toEqual({ type: 'InternalIP', address });
      expect(first?.additionalLabels?.['topology.k8s.aws/zone-id']).toBeTruthy();
      calls = [];
      expect(await instances.named(providerIDs)).toHaveLength(1);
      expect(calls).toHaveLength(1);
      await account.detachInterface(interfaceID);
      expect(await instances.named(providerIDs)).toEqual([]);
    });
  });
});
