import type { Store } from '../../kube/api';
import { ANNOTATIONS } from '../../../crds';
import { echoOf } from '../reconcile-token';
import type { StoredProvider } from './provider-reconciler';

export interface ReconcileRequestsOptions {
  providers: Pick<Store<StoredProvider>, 'list' | 'onChange'>;
  /** Looks at everything of a provider once; resolves when that is done, whether or not something of it failed. */
  look(provider: string): Promise<void>;
  /** What was asked for is done: the provider's status is to be written. */
  handled(provider: string): void;
}

/** What people ask for with the annotation `cloud-operator.dev/reconcile` on a CloudProvider: everything of it is looked at once. */
export class ReconcileRequests {
  /** By provider: the token of the newest request. */
  private readonly asked = new Map<string, string>();
  private readonly done = new Map<string, string>();

  constructor(private readonly options: ReconcileRequestsOptions) {}

  /** Also what was asked for while no operator ran. @returns what ends it */
  start(): () => void {
    this.options.providers.list().forEach((provider) => this.notice(provider));
    return this.options.providers.onChange(({ key, current }) => (current === undefined ? this.forget(key) : this.notice(current)));
  }

  /** The echo of the last request that was carried out by this process; undefined = none was. */
  handled(provider: string): string | undefined {
    return this.done.get(provider);
  }

  private notice({ metadata, status }: StoredProvider): void {
    const { name, annotations } = metadata;
    const token = echoOf(annotations?.[ANNOTATIONS.reconcile]);
    if (token === undefined || token === (this.asked.get(name) ?? status?.lastHandledReconcile)) return;
    this.asked.set(name, token);
    void this.carryOut(name, token);
  }

  /** One that is made under the same name is another one. */
  private forget(name: string): void {
    this.asked.delete(name);
    this.done.delete(name);
  }

  private async carryOut(name: string, token: string): Promise<void> {
    await this.options.look(name);
    if (this.asked.get(name) !== token) return; // a newer one answers for both
    this.done.set(name, token);
    this.options.handled(name);
  }
}
