import { placeLabels, labelVolume, trustedLabels, type NewVolume, type PatchOperation, type VolumePlace } from './labels';

/** Asks the clouds where a volume lies; undefined = none of them has it. */
export type FindVolume = (spec: NewVolume['spec']) => Promise<VolumePlace | undefined>;

/** What an admission webhook is asked, as far as this one reads it. */
export interface VolumeRequest {
  operation: string;
  resource: { group: string; resource: string };
  object?: unknown;
}

/** The webhook `persistent-volume-label`: changes for a volume that is being created. */
export class VolumeAdmission {
  constructor(private readonly find: FindVolume) {}

  /**
   * @returns the changes; none for everything that is no new volume, or lies in no cloud of ours
   * @throws OperatorError Invalid for a zone label that can't be read; another when a cloud can't say it: whether the volume is then made without
   *   labels is the webhook configuration's choice
   */
  async review({ operation, resource, object }: VolumeRequest): Promise<PatchOperation[]> {
    if (operation !== 'CREATE' || resource.group !== '' || resource.resource !== 'persistentvolumes') return [];
    const volume = object as NewVolume;
    const labels = trustedLabels(volume) ?? placeLabels(await this.find(volume.spec));
    return labels === undefined ? [] : labelVolume(volume, labels);
  }
}
