import { OperatorError, toOperatorError } from '../../operator/base/errors';
import type { JsonObject, VolumePlace, Volumes } from '../provider';
import type { Instance } from './api';
import type { LocalCloudClient } from './client';

const HOSTNAME = 'kubernetes.io/hostname';

/** A PersistentVolume's spec, as far as it says on which machines its data is. */
interface LocalVolume {
  local?: unknown;
  nodeAffinity?: { required?: { nodeSelectorTerms?: { matchExpressions?: { key: string; operator: string; values?: string[] }[] }[] } };
}

/** This cloud has no disks but those of its machines: a volume of type `local` lies where the machine is that its node affinity names. */
export class LocalVolumes implements Volumes {
  constructor(
    private readonly client: Pick<LocalCloudClient, 'list'>,
    private readonly clusterID: string,
  ) {}

  async place(spec: JsonObject): Promise<VolumePlace | undefined> {
    const hosts = hostsOf(spec);
    if (hosts.length === 0) return undefined;
    const listings = await Promise.all(hosts.map((name) => this.machinesNamed(name)));
    const machines = listings.map((found) =>
      found.find(({ power, tags }) => power !== 'terminated' && (tags.clusterID ?? this.clusterID) === this.clusterID),
    );
    const known = machines.filter((machine) => machine !== undefined);
    const [first] = known;
    // A host that is not ours may be another cloud's: then it is not for us to say where the volume may be used.
    if (first === undefined || known.length < machines.length || known.some(({ region }) => region !== first.region)) return undefined;
    return { zones: [...new Set(known.map(({ zone }) => zone))].sort(), region: first.region };
  }

  /** A listing that isn't there says nothing of a volume: it is the cloud that can't be asked. */
  private async machinesNamed(name: string): Promise<Instance[]> {
    try {
      return await this.client.list('instances', { name });
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code !== 'NotFound') throw error;
      throw new OperatorError('Transient', `machines named ${name} can't be listed: ${error.message}`, { cause: error });
    }
  }
}

/** Empty unless every term names its hosts: the volume could be elsewhere too. */
function hostsOf({ local, nodeAffinity }: LocalVolume): string[] {
  if (local === undefined) return [];
  const terms = nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const named = terms.map(
    ({ matchExpressions = [] }) => matchExpressions.find(({ key, operator }) => key === HOSTNAME && operator === 'In')?.values ?? [],
  );
  return named.some((hosts) => hosts.length === 0) ? [] : [...new Set(named.flat())];
}
