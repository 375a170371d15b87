import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { AzureVolumes } from '../../../providers/azure/volumes';
import type { JsonObject } from '../../../providers/provider';
import type { ArmServer } from '../../harness/arm/arm-server';
import { clientOf, computeID, LOCATION, startScene, SUBSCRIPTION } from '../../harness/arm/scene';

describe('zones of disks, against a simulated Azure', () => {
  const zonal = computeID('disks', 'zonal');
  const regional = computeID('disks', 'regional');
  let server: ArmServer;
  let arm: ArmClient;
  let volumes: AzureVolumes;

  beforeAll(async () => {
    server = await startScene();
    server.cloud.seed(zonal, { location: 'West Europe', zones: ['2'], properties: {} });
    server.cloud.seed(regional, { location: LOCATION, properties: {} });
    arm = clientOf(server);
    volumes = new AzureVolumes(arm, SUBSCRIPTION);
  });
  afterAll(async () => {
    await arm.close();
    await server.stop();
  });

  const inTree = (diskURI: string, diskName = 'disk'): JsonObject => ({ azureDisk: { diskName, diskURI } });
  const csi = (volumeHandle: string, driver = 'disk.csi.azure.com'): JsonObject => ({ csi: { driver, volumeHandle } });

  test('a managed disk lies where Azure says, however it is named; one without a zone anywhere in its region', async () => {
    for (const spec of [inTree(zonal), csi(zonal), csi(zonal.toLowerCase())])
      expect(await volumes.place(spec)).toEqual({ zones: [`${LOCATION}-2`], region: LOCATION });
    expect(await volumes.place(csi(regional))).toEqual({ zones: [], region: LOCATION });
  });

  test('others, another subscription’s, and one that is not made yet, are none of ours; a CSI volume that is not here may be another cloud’s', async () => {
    const none = [
      csi('share#1', 'file.csi.azure.com'),
      csi('other'),
      csi(computeID('disks', 'gone')),
      csi(zonal.replace(SUBSCRIPTION, '99999999-2222-4333-8444-555555555555')),
      inTree('', 'placeholder-for-provisioning'),
      { local: { path: '/data' } },
    ];
    for (const spec of none) expect(await volumes.place(spec)).toBeUndefined();
  });

  test('an in-tree one that is not there, or can’t be one, is refused', async () => {
    await expect(volumes.place(inTree(computeID('disks', 'gone')))).rejects.toMatchObject({ code: 'NotFound' });
    await expect(volumes.place(inTree('https://x.blob.core.windows.net/vhds/x.vhd'))).rejects.toMatchObject({
      code: 'Invalid',
      field: 'spec.azureDisk.diskURI',
    });
  });
});
