import type { Clock } from '../../base/clock';
import { sleep } from '../../base/clock';
import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { Cloud } from '../../../providers/provider';
import type { CloudRegistry } from './registry';

const LOOK_MS = 1_000;

export interface CredentialWatchOptions {
  registry: CloudRegistry;
  /** Told when a provider's credentials were refused, work again, or are tried next at another time. */
  onChange: (provider: string) => void;
  clock: Clock;
  logger: Logger;
}

/**
 * Looks after refused credentials: reads them anew every second, and has them used at once when they are others; where they stay the same, makes
 * the one probe per interval that the circuit breaker allows, with a new session where they are sessions. Idle while all clouds accept theirs.
 */
export class CredentialWatch {
  private readonly watched = new Map<string, Promise<void>>();

  constructor(private readonly options: CredentialWatchOptions) {}

  /** Runs until the signal is aborted; looks after what was refused before, too. */
  async run(signal: AbortSignal): Promise<void> {
    const { registry } = this.options;
    const { accounts } = registry;
    const stop = accounts.onChange((provider) => {
      this.options.onChange(provider);
      if (accounts.refusal(provider) !== undefined) this.watch(provider, signal);
    });
    for (const { name } of registry.list()) if (accounts.refusal(name) !== undefined) this.watch(name, signal);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    stop();
    await Promise.all(this.watched.values());
  }

  private watch(provider: string, signal: AbortSignal): void {
    if (this.watched.has(provider) || signal.aborted) return;
    const message = this.options.registry.accounts.refusal(provider)?.message;
    this.options.logger.warn(
      { provider, error: message },
      'credentials refused; the cloud is left alone until they are repaired or the next try',
    );
    this.watched.set(
      provider,
      this.follow(provider, signal).finally(() => this.watched.delete(provider)),
    );
  }

  private async follow(provider: string, signal: AbortSignal): Promise<void> {
    const { registry, clock, logger } = this.options;
    while (!signal.aborted && registry.accounts.refusal(provider) !== undefined) {
      await this.look(provider).catch((thrown: unknown) => this.notYet(provider, thrown));
      await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    }
    if (!signal.aborted) logger.info({ provider }, 'credentials accepted');
  }

  private async look(provider: string): Promise<void> {
    const { accounts } = this.options.registry;
    const { cloud } = this.options.registry.connected(provider);
    if ((accounts.refusal(provider)?.retryAfterMs ?? 1) <= 0) return this.tryAnew(provider, cloud);
    const renewed = await cloud.renewCredentials?.(false).catch((thrown: unknown) => this.explained(provider, thrown));
    if (renewed === true) accounts.of(provider).repaired();
  }

  /** Whoever makes sessions out of the credentials says what is wrong with them; the cloud, only that it doesn't take the session. */
  private explained(provider: string, thrown: unknown): never {
    const error = toOperatorError(thrown);
    if (error.code === 'Credentials') this.options.registry.accounts.of(provider).explained(error.message);
    throw error;
  }

  /** The probe is made also where no session is to be had: its failure says when the next one is due. */
  private async tryAnew(provider: string, cloud: Cloud): Promise<void> {
    await cloud.renewCredentials?.(true).catch((thrown: unknown) => this.notYet(provider, thrown));
    await probe(cloud);
  }

  private notYet(provider: string, thrown: unknown): void {
    this.options.logger.debug({ provider, error: toOperatorError(thrown).message }, 'the credentials are not repaired yet');
  }
}

/** One cheap read: the account's gate makes it the probe. */
async function probe(cloud: Cloud): Promise<void> {
  if (cloud.instances !== undefined) await cloud.instances.list();
  else if (cloud.members !== undefined) await cloud.members.observe();
  else await cloud.discover?.([]);
}
