import { sleep, type Clock } from '../../base/clock';
import { toOperatorError, type OperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import { exponentialDelay } from '../../kube/back-off';
import { SecretMissing } from './provider-secrets';
import type { CloudRegistry } from './registry';

const LOOK_MS = 1_000;
/** A person has to make it, and it is seen at once then: to connect again and again would only fill the log. */
const RETRY = { baseMs: 1_000, maxMs: 300_000 };

/** When to connect again after so many failures, where a Secret is missing; undefined = as after any failure. Pure. */
export function retryOfMissing(failure: OperatorError, failures: number): number | undefined {
  return failure instanceof SecretMissing ? exponentialDelay(failures, RETRY) : undefined;
}

export interface SecretWatchOptions {
  registry: Pick<CloudRegistry, 'get' | 'readSecret'>;
  /** The Secret that a CloudProvider waits for has come. */
  found: (provider: string) => void;
  clock: Clock;
  logger: Logger;
}

/** Looks for Secrets that CloudProviders wait for, once a second and without a word: the right to follow them is not asked for. */
export class SecretWatch {
  private readonly waiting = new Set<string>();
  private readonly ended = new AbortController();

  constructor(private readonly options: SecretWatchOptions) {}

  /** Looks until the CloudProvider lacks no Secret any more. */
  await(provider: string): void {
    if (this.waiting.has(provider) || this.ended.signal.aborted) return;
    this.waiting.add(provider);
    void this.follow(provider).finally(() => this.waiting.delete(provider));
  }

  stop(): void {
    this.ended.abort();
  }

  private async follow(provider: string): Promise<void> {
    const { registry, clock, found } = this.options;
    const { signal } = this.ended;
    while (!signal.aborted) {
      const problem = registry.get(provider)?.problem;
      if (!(problem instanceof SecretMissing)) return;
      if (await this.isThere(problem)) found(provider);
      await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    }
  }

  private async isThere({ secret, keys }: SecretMissing): Promise<boolean> {
    try {
      await this.options.registry.readSecret(secret, keys);
      return true;
    } catch (thrown) {
      this.options.logger.trace({ secret, error: toOperatorError(thrown).message }, 'the Secret is not there yet');
      return false;
    }
  }
}
