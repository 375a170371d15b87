import type { CloudProviderSpec } from '../../../crds';
import type { JsonObject, VolumePlace } from '../../../providers/provider';
import { sleep, type Clock } from '../../base/clock';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { CloudRegistry } from './registry';

/** In milliseconds. Then the cloud that has the volume is enough: the API server waits ten seconds for the webhook, and some may not answer at all. */
const PATIENCE_MS = 2_000;

export interface VolumeCloudsOptions {
  /** Of this alone: replicas that don't lead are asked too, and connect nothing else. */
  registry: CloudRegistry;
  /** The CloudProviders of now. */
  providers: () => ReadonlyMap<string, CloudProviderSpec>;
  clock: Clock;
}

/** What the clouds have said so far. */
interface Answers {
  places: { name: string; place: VolumePlace }[];
  failures: OperatorError[];
}

/** Finds in which cloud a volume lies, and where. Connects to the clouds when it is asked. */
export class VolumeClouds {
  /** By name: tries to connect that have not ended, which all share that ask meanwhile. */
  private readonly tries = new Map<string, Promise<unknown>>();

  constructor(private readonly options: VolumeCloudsOptions) {}

  /**
   * @returns undefined when no cloud has it
   * @throws OperatorError when a cloud can't be asked and no other has it, or when several have it
   */
  async place(spec: JsonObject): Promise<VolumePlace | undefined> {
    const { places, failures } = await this.answers(spec);
    const [only, another] = places;
    const [failure] = failures;
    if (only === undefined && failure !== undefined) throw failure;
    if (only === undefined || another === undefined) return only?.place;
    const names = places.map(({ name }) => name).sort();
    throw new OperatorError('Conflict', `CloudProviders ${names.join(', ')} all have this volume; its zone can't be told`);
  }

  /** The cluster's id can be read now. */
  know(clusterID: string): void {
    this.options.registry.know(clusterID).catch(() => undefined); // who asks next is told
  }

  close(): Promise<void> {
    return this.options.registry.close();
  }

  /** Of all clouds; after a while, of those that have answered, where one of them has it. */
  private async answers(spec: JsonObject): Promise<Answers> {
    const { registry, clock } = this.options;
    const wanted = this.options.providers();
    for (const name of registry.providers()) if (!wanted.has(name)) registry.remove(name).catch(() => undefined); // nobody asks it any more
    const answers: Answers = { places: [], failures: [] };
    let markFound = (): void => undefined;
    const found = new Promise<void>((resolve) => (markFound = resolve));
    const ask = async ([name, provider]: [string, CloudProviderSpec]): Promise<void> => {
      try {
        await this.connect(name, provider);
        const place = await registry.connected(name).cloud.volumes?.place(spec);
        if (place === undefined) return;
        answers.places.push({ name, place });
        markFound();
      } catch (thrown) {
        answers.failures.push(toOperatorError(thrown));
      }
    };
    const over = new AbortController();
    const patience = sleep(clock, PATIENCE_MS, over.signal).catch(() => undefined); // all have answered
    await Promise.race([Promise.all([...wanted].map(ask)), Promise.all([patience, found])]);
    over.abort();
    return answers;
  }

  private connect(name: string, spec: CloudProviderSpec): Promise<unknown> {
    const running = this.tries.get(name) ?? this.options.registry.set(name, spec).finally(() => this.tries.delete(name));
    this.tries.set(name, running);
    return running;
  }
}
