import type { CloudProviderSpec } from '../../../crds';
import { toOperatorError } from '../../base/errors';
import { failureFields, type Logger } from '../../base/log';
import type { Reflector } from '../../kube/reflector';
import type { StoredProvider } from './provider-reconciler';
import type { CloudRegistry } from './registry';

export interface EarlyProvidersOptions {
  providers: Pick<Reflector<StoredProvider>, 'store' | 'tried'>;
  registry: Pick<CloudRegistry, 'declare' | 'set' | 'remove'>;
  /** The CloudProvider from the flags works before its kind exists in the cluster; once it is an object, that says what holds. */
  fromFlags?: { name: string; spec: CloudProviderSpec };
  logger: Logger;
}

/**
 * Keeps CloudProviders known until their controller begins: that waits for the caches of all kinds, and for the cluster's id. The loops that need
 * nothing but Nodes don't, and what a CloudProvider says of Nodes and of what may be written must hold from their first write on.
 */
export class EarlyProviders {
  private unsubscribe: () => void = () => undefined;

  constructor(private readonly options: EarlyProvidersOptions) {}

  /** Resolves when all CloudProviders are known, and the one from the flags has been tried. */
  async begin(signal: AbortSignal): Promise<void> {
    const { providers, registry, fromFlags } = this.options;
    await providers.tried;
    if (signal.aborted) return;
    this.unsubscribe = providers.store.onChange(({ key, current }) => void this.follow(key, current?.spec));
    const specs = new Map(fromFlags === undefined ? [] : [[fromFlags.name, fromFlags.spec]]);
    for (const { metadata, spec } of providers.store.list()) specs.set(metadata.name, spec);
    // Those that can't be declared say why when they are connected.
    await Promise.allSettled([...specs].map(([name, spec]) => registry.declare(name, spec)));
    const tries = new Map([...specs].map(([name, spec]) => [name, this.follow(name, spec)]));
    if (fromFlags !== undefined) await tries.get(fromFlags.name);
  }

  end(): void {
    this.unsubscribe();
  }

  /** @param spec absent = the object is gone */
  private async follow(name: string, spec: CloudProviderSpec | undefined): Promise<void> {
    const { registry, logger } = this.options;
    const entry = spec === undefined ? registry.remove(name) : registry.set(name, spec);
    const problem = await entry.then((known) => known?.problem, toOperatorError);
    if (problem !== undefined) logger.warn({ provider: name, ...failureFields(problem) }, 'CloudProvider not connected yet');
  }
}
