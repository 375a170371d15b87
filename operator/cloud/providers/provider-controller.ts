import { KindController, type KindControllerOptions } from '../../kube/controller';
import type { ProviderReconciler, StoredProvider } from './provider-reconciler';

/** Controller of CloudProviders. */
export class ProviderController extends KindController<StoredProvider> {
  constructor(
    options: KindControllerOptions<StoredProvider>,
    private readonly reconciler: ProviderReconciler,
  ) {
    super(options);
  }

  protected override reconcile(key: string): Promise<void> {
    return this.reconciler.reconcile(key);
  }
}
