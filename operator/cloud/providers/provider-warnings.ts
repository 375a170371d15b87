import type { EventRecorder, Store } from '../../kube/api';
import type { KubeObject } from '../../kube/object';
import { WARNING, type Warning } from '../conditions';
import type { StoredProvider } from './provider-reconciler';
import type { CloudRegistry } from './registry';

export interface ProviderWarningsOptions {
  store: Pick<Store<StoredProvider>, 'list' | 'onChange'>;
  registry: Pick<CloudRegistry, 'rivalriesOf'>;
  events: EventRecorder;
  /** Has a CloudProvider's status written again. */
  again: (provider: string) => void;
}

/** What CloudProviders are warned of, beside how they are: rivals, and what the operator as a whole lacks. */
export class ProviderWarnings {
  private missing: readonly string[] = [];
  /** By UID: what an Event has said of the operator's rights. */
  private readonly told = new Map<string, string>();

  constructor(private readonly options: ProviderWarningsOptions) {
    options.store.onChange(({ previous, current }) => {
      if (current === undefined) this.told.delete(previous?.metadata.uid ?? '');
      else this.tell();
    });
  }

  /** As the conditions of its status: one, whatever it is that there is to say. */
  of({ metadata }: KubeObject): Warning[] {
    const rivalries = this.options.registry.rivalriesOf(metadata.name);
    const rights = this.isToldOfRights(metadata.name) ? this.rightsMessage() : undefined;
    const messages = [...rivalries, ...(rights === undefined ? [] : [rights])];
    if (messages.length === 0) return [];
    return [{ type: WARNING, reason: rivalries.length > 0 ? 'SeveralProviders' : 'PermissionMissing', message: messages.join('; ') }];
  }

  /** @param rules rights that the operator lacks, in words; empty = it lacks none any more */
  lacksRights(rules: readonly string[]): void {
    this.missing = rules;
    this.tell();
    this.options.store.list().forEach(({ metadata }) => this.options.again(metadata.name));
  }

  private tell(): void {
    const message = this.rightsMessage();
    for (const object of this.options.store.list()) {
      const { name, uid } = object.metadata;
      if (message === undefined) this.told.delete(uid);
      if (message === undefined || this.told.get(uid) === message || !this.isToldOfRights(name)) continue;
      this.told.set(uid, message);
      this.options.events.event(object, 'Warning', 'PermissionMissing', message);
    }
  }

  private rightsMessage(): string | undefined {
    return this.missing.length === 0 ? undefined : `the operator lacks these rights (RBAC rules): ${this.missing.join('; ')}`;
  }

  /** The default one, since that is where people look; where there is none, each. */
  private isToldOfRights(name: string): boolean {
    const defaults = this.options.store.list().filter(({ spec }) => spec.default);
    return defaults.length === 0 || defaults.some(({ metadata }) => metadata.name === name);
  }
}
