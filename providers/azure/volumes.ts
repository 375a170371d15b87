import { OperatorError } from '../../operator/base/errors';
import { NOT_MADE_YET } from '../in-tree-volume';
import type { JsonObject, VolumePlace, Volumes } from '../provider';
import type { ArmClient } from './client/arm-client';
import { parseResourceID, resourceTypeOf, sameID } from './client/resource-id';
import { locationOf } from './load-balancers/scope';

const DISK_DRIVER = 'disk.csi.azure.com';
const DISK_TYPE = 'Microsoft.Compute/disks';

/** A PersistentVolume's spec, as far as it names a managed disk. */
interface DiskVolume {
  azureDisk?: { diskName?: string; diskURI?: string };
  csi?: { driver?: string; volumeHandle?: string };
}

interface Disk {
  location: string;
  /** Within the region; absent for one that any machine of the region can have. */
  zones?: string[];
}

/** Managed disks, which their CSI driver has or the in-tree plugin had. */
export class AzureVolumes implements Volumes {
  constructor(
    private readonly arm: Pick<ArmClient, 'get'>,
    private readonly subscriptionID: string,
  ) {}

  async place(spec: JsonObject): Promise<VolumePlace | undefined> {
    const { azureDisk: inTree, csi } = spec as DiskVolume;
    if (inTree !== undefined) return this.inTree(inTree);
    const { driver, volumeHandle = '' } = csi ?? {};
    return driver === DISK_DRIVER && this.isOurs(volumeHandle) ? this.placeOf(volumeHandle) : undefined;
  }

  private async inTree({ diskName, diskURI = '' }: NonNullable<DiskVolume['azureDisk']>): Promise<VolumePlace | undefined> {
    if (diskName === NOT_MADE_YET) return undefined;
    if (!isDisk(diskURI)) {
      const form = '/subscriptions/<id>/resourceGroups/<name>/providers/Microsoft.Compute/disks/<name>';
      throw new OperatorError('Invalid', `"${diskURI}" is no managed disk; write ${form}`, { field: 'spec.azureDisk.diskURI' });
    }
    if (!this.isOurs(diskURI)) return undefined;
    const place = await this.placeOf(diskURI);
    if (place === undefined) throw new OperatorError('NotFound', `there is no disk ${diskURI}`);
    return place;
  }

  /** A disk of another subscription may be another CloudProvider's. */
  private isOurs(id: string): boolean {
    return isDisk(id) && sameID(parseResourceID(id).subscription, this.subscriptionID);
  }

  private async placeOf(id: string): Promise<VolumePlace | undefined> {
    const disk = await this.arm.get<Disk>(id);
    if (disk === undefined) return undefined;
    const region = locationOf(disk.location);
    return { zones: (disk.zones ?? []).map((zone) => `${region}-${zone}`), region };
  }
}

function isDisk(id: string): boolean {
  try {
    return sameID(resourceTypeOf(parseResourceID(id)), DISK_TYPE);
  } catch {
    return false;
  }
}
