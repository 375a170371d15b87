import type { CloudProviderSpec } from '../../../crds';
import type { JsonObject, VolumePlace } from '../../../providers/provider';
import { OperatorError } from '../../base/errors';
import type { CloudRegistry } from './registry';

export interface VolumeCloudsOptions {
  /** Of this alone: replicas that don't lead are asked too, and connect nothing else. */
  registry: CloudRegistry;
  /** The CloudProviders of now. */
  providers: () => ReadonlyMap<string, CloudProviderSpec>;
}

/** Finds in which cloud a volume lies, and where. Connects to the clouds when it is asked. */
export class VolumeClouds {
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly options: VolumeCloudsOptions) {}

  /**
   * @returns undefined when no cloud has it
   * @throws OperatorError when a cloud can't be asked and no other has it, or when several have it
   */
  async place(spec: JsonObject): Promise<VolumePlace | undefined> {
    await this.inTurn(() => this.connect());
    const answers = await Promise.allSettled(this.options.registry.list().map((cloud) => askOne(this.options.registry, cloud.name, spec)));
    const places = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value !== undefined ? [answer.value] : []));
    const failure = answers.find((answer) => answer.status === 'rejected');
    const [only, another] = places;
    if (only === undefined && failure !== undefined) throw failure.reason;
    if (only === undefined || another === undefined) return only?.place;
    const names = places.map(({ name }) => name).join(', ');
    throw new OperatorError('Conflict', `CloudProviders ${names} all have this volume; its zone can't be told`);
  }

  /** The cluster's id can be read now. */
  know(clusterID: string): void {
    this.inTurn(() => this.options.registry.know(clusterID)).catch(() => undefined); // who asks next is told
  }

  close(): Promise<void> {
    return this.options.registry.close();
  }

  /** One after the other: two at once would connect twice. */
  private inTurn(step: () => Promise<void>): Promise<void> {
    const next = this.turn.then(step);
    this.turn = next.catch(() => undefined); // said to who has asked
    return next;
  }

  private async connect(): Promise<void> {
    const { registry, providers } = this.options;
    const wanted = providers();
    for (const { name } of registry.list()) if (!wanted.has(name)) await registry.remove(name);
    for (const [name, spec] of wanted) await registry.set(name, spec);
  }
}

async function askOne(registry: CloudRegistry, name: string, spec: JsonObject): Promise<{ name: string; place: VolumePlace } | undefined> {
  const place = await registry.connected(name).cloud.volumes?.place(spec);
  return place === undefined ? undefined : { name, place };
}
