import { CreateVolumeCommand, EC2Client } from '@aws-sdk/client-ec2';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { AwsVolumes } from '../../../providers/aws/volumes';
import type { JsonObject } from '../../../providers/provider';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { MotoAccount, REGION } from './moto-account';

describeWithMoto('zones of volumes, against a simulated API', () => {
  const zone = `${REGION}b`;
  let moto: Moto;
  let account: MotoAccount;
  let ec2: Ec2;
  let volumes: AwsVolumes;
  let id: string;

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    const admin = new EC2Client({ region: REGION, endpoint: moto.url, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } });
    id = (await admin.send(new CreateVolumeCommand({ AvailabilityZone: zone, Size: 1 }))).VolumeId ?? '';
    admin.destroy();
    ec2 = new Ec2(account.clientOptions());
    volumes = new AwsVolumes(ec2, REGION);
  }, 120_000);

  afterAll(async () => {
    [ec2, account].forEach((client) => client.close());
    await moto.stop();
  });

  const inTree = (volumeID: string): JsonObject => ({ awsElasticBlockStore: { volumeID } });
  const csi = (volumeHandle: string, driver = 'ebs.csi.aws.com'): JsonObject => ({ csi: { driver, volumeHandle } });

  test('a volume of EBS lies where AWS says, however it is named', async () => {
    for (const spec of [inTree(id), inTree(`aws://${zone}/${id}`), inTree(`aws:///${id}`), csi(id)])
      expect(await volumes.place(spec)).toEqual({ zones: [zone], region: REGION });
  });

  test('others, and one that is not made yet, are none of ours; a CSI volume that is not here may be another account’s', async () => {
    const none = [
      csi('fs-1', 'efs.csi.aws.com'),
      csi('vol-1'),
      csi('other'),
      { local: { path: '/data' } },
      inTree('placeholder-for-provisioning'),
    ];
    for (const spec of none) expect(await volumes.place(spec)).toBeUndefined();
  });

  test('an in-tree one that is not there, or can’t be one, is refused, as upstream’s plugin did', async () => {
    await expect(volumes.place(inTree('vol-0123456789abcdef0'))).rejects.toMatchObject({ code: 'NotFound' });
    await expect(volumes.place(inTree('disk-1'))).rejects.toMatchObject({ code: 'Invalid', field: 'spec.awsElasticBlockStore.volumeID' });
  });
});
