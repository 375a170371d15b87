import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, CLOUD_PROVIDERS, FIELD_MANAGERS, type CloudProviderSpec } from '../crds';
import { missingRules } from './access-check';
import { sleep, type Clock } from './base/clock';
import { toOperatorError } from './base/errors';
import type { Logger } from './base/log';
import { CRDInstaller } from './crd-installer';
import type { KubeClient } from './kube/client';
import { tellWaiting, waitingProblem } from './loops/service/waiting';
import type { Permission } from './permissions';
import type { StaleCollection, Stores } from './stores';

const LOOK_AGAIN_MS = 2_000;
const RETRY_MS = 10_000;
const STALE_LOOK_MS = 5_000;
/** While a right is missing, and while none is: one that is taken away later is to be named, too. */
const CHECK_AGAIN_MS = { missing: 15_000, complete: 300_000 };
/** The check must not take the requests that the work needs. */
const CHECK_LIMITS = { qps: 20, burst: 5 };

/** One identity, and its rows of the table. */
export interface IdentityRights {
  /** Whose they are, in words; absent = the operator's own identity. */
  holder?: string;
  api: KubeClient;
  permissions: readonly Permission[];
}

export interface BootstrapOptions {
  api: KubeClient;
  stores: Pick<Stores, 'blocked' | 'stale' | 'retryNow' | 'providers' | 'services'>;
  /** The service loop's client. */
  servicesApi: KubeClient;
  /** What each identity of the operator needs to be allowed. */
  rights: readonly IdentityRights[];
  /** Whether the leader brings the CRDs. */
  installCRDs: boolean;
  /** The CloudProvider from the flags. */
  defaultProvider?: { name: string; spec: CloudProviderSpec };
  /** Told what is missing, in words, whenever that is something else than before. */
  onMissingRights: (rules: readonly string[]) => void;
  /** Told which collections are out of date, and why, whenever that is something else than before. */
  onStale: (stale: readonly StaleCollection[]) => void;
  /** Resolves once everything works that waits for our kinds. */
  begun: Promise<void>;
  /** Whether Services are our business at all. */
  watchesServices: boolean;
  clock: Clock;
  logger: Logger;
}

/**
 * What a leader does beside its work: brings the CRDs, names rights that it lacks and what it no longer sees, tells Services why nothing happens yet, applies
 * the CloudProvider of the flags.
 */
export class Bootstrap {
  private missing: readonly string[] = [];

  constructor(private readonly options: BootstrapOptions) {}

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const works = [
      ...[this.installCRDs(signal), this.applyDefaultProvider(signal), this.checkRights(signal), this.tellServices(signal)],
      this.tellStale(signal),
    ];
    await Promise.all(works.map((work) => work.catch((thrown: unknown) => this.unlessAborted(thrown, signal))));
  }

  private async installCRDs(signal: AbortSignal): Promise<void> {
    const { installCRDs, api, stores, clock, logger } = this.options;
    if (installCRDs) await new CRDInstaller({ api, onInstalled: () => stores.retryNow(), clock, logger }).run(signal);
  }

  /** Where the cluster has none of that name, once it has the kind. */
  private async applyDefaultProvider(signal: AbortSignal): Promise<void> {
    const { defaultProvider, stores, api, clock, logger } = this.options;
    if (defaultProvider === undefined) return;
    const { name, spec } = defaultProvider;
    await stores.providers.store.whenSynced(signal);
    const body = { apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name }, spec };
    while (!signal.aborted) {
      try {
        if ((await api.get(CLOUD_PROVIDERS, name)) === undefined)
          await api.apply(CLOUD_PROVIDERS, name, body, { fieldManager: FIELD_MANAGERS.cloud });
        return;
      } catch (thrown) {
        logger.warn({ provider: name, err: thrown }, 'the CloudProvider from the flags could not be applied');
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }

  private async checkRights(signal: AbortSignal): Promise<void> {
    const { rights, clock, logger } = this.options;
    const asked = rights.map(({ api, ...more }) => ({ ...more, api: api.withOptions(CHECK_LIMITS) }));
    while (!signal.aborted) {
      try {
        this.found((await Promise.all(asked.map(missingOf))).flat());
      } catch (thrown) {
        logger.debug({ err: thrown }, 'the operator’s own rights could not be asked for');
      }
      await sleep(clock, CHECK_AGAIN_MS[this.missing.length > 0 ? 'missing' : 'complete'], signal);
    }
  }

  private found(missing: readonly string[]): void {
    const { logger, stores, onMissingRights } = this.options;
    const before = this.missing;
    this.missing = missing;
    for (const rule of missing.filter((one) => !before.includes(one))) logger.warn({ rule }, `missing RBAC rule: ${rule}`);
    if (missing.length === 0 && before.length > 0) logger.info('no RBAC rule is missing any more');
    if (missing.length < before.length) stores.retryNow();
    if (!isDeepStrictEqual(missing, before)) onMissingRights(missing);
  }

  private async tellStale(signal: AbortSignal): Promise<void> {
    const { stores, clock, onStale, logger } = this.options;
    let before: readonly StaleCollection[] = [];
    while (!signal.aborted) {
      await sleep(clock, STALE_LOOK_MS, signal);
      const stale = stores.stale();
      if (isDeepStrictEqual(stale, before)) continue;
      if (stale.length === 0) logger.info('changes of every collection come in again');
      before = stale;
      onStale(stale);
    }
  }

  /** A condition of every Service that waits for us, while something that nobody repairs by waiting is in the way. */
  private async tellServices(signal: AbortSignal): Promise<void> {
    const { begun, watchesServices, stores, servicesApi: api, clock, logger } = this.options;
    let waiting = watchesServices;
    // It doesn't come when the operator ends before.
    begun.then(() => (waiting = false)).catch(() => undefined);
    while (waiting && !signal.aborted) {
      await sleep(clock, LOOK_AGAIN_MS, signal);
      const problem = waiting ? waitingProblem(stores.blocked(), this.missing) : undefined;
      if (problem !== undefined) await tellWaiting({ api, services: stores.services.store, clock, logger }, problem);
    }
  }

  private unlessAborted(thrown: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.options.logger.error({ err: toOperatorError(thrown) }, 'the leader’s own checks have ended');
  }
}

async function missingOf({ holder, api, permissions }: IdentityRights): Promise<string[]> {
  const missing = await missingRules(api, permissions);
  return holder === undefined ? missing : missing.map((rule) => `${rule} for ${holder}`);
}
