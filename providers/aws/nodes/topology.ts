import type { Instance, InstanceTopology } from '@aws-sdk/client-ec2';
import { toOperatorError } from '../../../operator/base/errors';
import { AwsError } from '../client/aws-error';
import { chunks } from '../client/chunks';
import type { Ec2 } from '../client/ec2';

/** Those that AWS has it for, by upstream. */
const DEFAULT_TYPES = '^(hpc|trn|p)[0-9]+[a-z]*(-[a-z0-9]+)?(\\.[0-9a-z]*)$';
/** The most instances of one call. */
const BATCH = 100;

/** Labels that say near which others an instance stands in the network, for the types that AWS has it for. They never change. */
export class NetworkTopology {
  private readonly types: RegExp;
  /** By instance id; of those that AWS says nothing of, none. */
  private readonly known = new Map<string, Record<string, string>>();
  /** Ids that were asked for by name since the last listing of all, which may not have them. */
  private readonly named = new Set<string>();
  private unsupported = false;

  /** @param types a regular expression of instance types; absent = upstream's */
  constructor(
    private readonly ec2: Ec2,
    types = DEFAULT_TYPES,
  ) {
    this.types = new RegExp(types);
  }

  /**
   * By instance id. As upstream, a Node never waits for these labels: what AWS refuses to say is asked for again with the next listing, and
   * never again where the region hasn't it.
   * @param of all that there are, so that what is gone can be forgotten, or some that are named
   */
  async labelsOf(instances: readonly Instance[], of: 'All' | 'Named'): Promise<ReadonlyMap<string, Record<string, string>>> {
    if (of === 'All') this.forgetOthers(instances);
    else for (const { InstanceId = '' } of instances) this.named.add(InstanceId);
    const asked = instances.filter(({ InstanceId = '', InstanceType = '', State }) => {
      return this.types.test(InstanceType) && !this.known.has(InstanceId) && State?.Name === 'running';
    });
    for (const batch of chunks(asked, BATCH)) {
      if (this.unsupported) break;
      await this.ask(batch.map(({ InstanceId = '' }) => InstanceId));
    }
    return this.known;
  }

  private forgetOthers(instances: readonly Instance[]): void {
    const there = new Set([...this.named, ...instances.map(({ InstanceId = '' }) => InstanceId)]);
    for (const id of this.known.keys()) if (!there.has(id)) this.known.delete(id);
    this.named.clear();
  }

  private async ask(ids: string[]): Promise<void> {
    try {
      const found = new Map((await this.ec2.instanceTopology(ids)).map((topology) => [topology.InstanceId ?? '', topology]));
      for (const id of ids) this.known.set(id, labelsOf(found.get(id)));
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.unsupported = error instanceof AwsError && error.awsCode === 'UnsupportedOperation';
    }
  }
}

/** One for each layer, from the top. Pure. */
export function labelsOf(topology: Pick<InstanceTopology, 'NetworkNodes'> | undefined): Record<string, string> {
  const layers = topology?.NetworkNodes ?? [];
  return Object.fromEntries(layers.map((node, index): [string, string] => [`topology.k8s.aws/network-node-layer-${index + 1}`, node]));
}
