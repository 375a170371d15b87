import type { DiscoveredResource } from '../../../providers/provider';
import type { Clock } from '../../base/clock';
import { atPriority } from '../../updates/limits/call-priority';
import type { ConnectedCloud } from '../providers/registry';

/** Where a stack was not found, the cloud is asked again after this long. */
const ASK_AGAIN_MS = 10_000;

/**
 * What the clouds have of stacks whose state can't be read, by our tags. No update of such a stack can run, so what was found once is kept until
 * the state can be read again.
 */
export class CloudFindings {
  /** By stack. */
  private readonly found = new Map<string, readonly DiscoveredResource[]>();
  /** By CloudProvider, of bulk reads. */
  private readonly asked = new Map<string, { at: number; reading: Promise<void> }>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /**
   * @param all whether the cloud's other stacks will be asked for too: then one bulk read is for all
   * @returns nothing where the provider can't discover, or has nothing
   */
  async of(stack: string, { name, cloud }: ConnectedCloud, all: boolean): Promise<readonly DiscoveredResource[]> {
    if (!this.found.has(stack)) await (all ? this.askForAll(name, cloud) : this.ask([stack], cloud));
    return this.found.get(stack) ?? [];
  }

  /** What was found before; undefined = it was not looked for. */
  known(stack: string): readonly DiscoveredResource[] | undefined {
    return this.found.get(stack);
  }

  /** Its state can be read, or what was found is no longer so. */
  forget(stack: string): void {
    this.found.delete(stack);
  }

  private askForAll(name: string, cloud: ConnectedCloud['cloud']): Promise<void> {
    const before = this.asked.get(name);
    if (before !== undefined && this.clock.monotonic() - before.at < ASK_AGAIN_MS) return before.reading;
    const reading = this.ask(undefined, cloud);
    this.asked.set(name, { at: this.clock.monotonic(), reading });
    reading.catch(() => this.asked.delete(name));
    return reading;
  }

  /** Members follow from it, so it goes before everything else. */
  private async ask(stacks: string[] | undefined, cloud: ConnectedCloud['cloud']): Promise<void> {
    const found = await atPriority('First', async () => cloud.discover?.(stacks));
    found?.forEach((resources, stack) => this.found.set(stack, resources));
  }
}
