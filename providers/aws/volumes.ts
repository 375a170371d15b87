import { OperatorError } from '../../operator/base/errors';
import { NOT_MADE_YET } from '../in-tree-volume';
import type { JsonObject, VolumePlace, Volumes } from '../provider';
import type { Ec2 } from './client/ec2';

const EBS_DRIVER = 'ebs.csi.aws.com';

/** A PersistentVolume's spec, as far as it names a volume of EBS. */
interface EBSVolume {
  awsElasticBlockStore?: { volumeID?: string };
  csi?: { driver?: string; volumeHandle?: string };
}

/** Volumes of EBS, which their CSI driver has or the in-tree plugin had. */
export class AwsVolumes implements Volumes {
  constructor(
    private readonly ec2: Pick<Ec2, 'volumes'>,
    private readonly region: string,
  ) {}

  async place(spec: JsonObject): Promise<VolumePlace | undefined> {
    const { awsElasticBlockStore: inTree, csi } = spec as EBSVolume;
    if (inTree !== undefined) return this.inTree(inTree.volumeID ?? '');
    const { driver, volumeHandle = '' } = csi ?? {};
    return driver === EBS_DRIVER && isVolumeID(volumeHandle) ? this.placeOf(volumeHandle) : undefined;
  }

  private async inTree(volumeID: string): Promise<VolumePlace | undefined> {
    if (volumeID === NOT_MADE_YET) return undefined;
    const id = volumeID.replace(/^aws:\/\/[^/]*\//, '');
    if (!isVolumeID(id)) {
      throw new OperatorError('Invalid', `"${volumeID}" is no volume of EBS; write vol-…, or aws://<zone>/vol-…`, {
        field: 'spec.awsElasticBlockStore.volumeID',
      });
    }
    const place = await this.placeOf(id);
    if (place === undefined) throw new OperatorError('NotFound', `there is no volume ${id} in ${this.region}`);
    return place;
  }

  /** Asked for by a filter, which passes over one that is not there; naming it would fail the call. */
  private async placeOf(id: string): Promise<VolumePlace | undefined> {
    const [volume] = await this.ec2.volumes([{ Name: 'volume-id', Values: [id] }]);
    const zone = volume?.AvailabilityZone;
    return zone === undefined ? undefined : { zones: [zone], region: this.region };
  }
}

function isVolumeID(id: string): boolean {
  return /^vol-[^/]+$/.test(id);
}
