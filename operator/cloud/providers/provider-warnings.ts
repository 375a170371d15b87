import type { EventRecorder, Store } from '../../kube/api';
import type { KubeObject } from '../../kube/object';
import { WARNING, type Warning } from '../conditions';
import type { StoredProvider } from './provider-reconciler';
import type { CloudRegistry } from './registry';

export interface ProviderWarningsOptions {
  store: Pick<Store<StoredProvider>, 'list' | 'onChange'>;
  registry: Pick<CloudRegistry, 'get' | 'rivalriesOf'>;
  events: EventRecorder;
  /** Has a CloudProvider's status written again. */
  again: (provider: string) => void;
}

/** What concerns the operator as a whole; of several the first gives the condition its reason. */
const REASONS = ['PermissionMissing', 'CacheStale'] as const;
type Reason = (typeof REASONS)[number];

interface Finding {
  message: string;
  /** It is news, and an Event, when this is another one. */
  about: string;
}

/** What CloudProviders are warned of, beside how they are: rivals, what the operator as a whole lacks, and what they ask for in vain. */
export class ProviderWarnings {
  private readonly findings = new Map<Reason, Finding>();
  /** By UID and reason: what an Event has said. */
  private readonly told = new Map<string, string>();

  constructor(private readonly options: ProviderWarningsOptions) {
    options.store.onChange(({ previous, current }) => {
      if (current !== undefined) return this.tell();
      REASONS.forEach((reason) => this.told.delete(toldKey(previous, reason)));
    });
  }

  /** As the conditions of its status: one, whatever it is that there is to say. */
  of({ metadata }: KubeObject): Warning[] {
    const { registry } = this.options;
    const rivalries = registry.rivalriesOf(metadata.name);
    const found = this.isTold(metadata.name) ? REASONS.filter((reason) => this.findings.has(reason)) : [];
    const inVain = registry.get(metadata.name)?.cloud?.withoutEffect ?? [];
    const reason = rivalries.length > 0 ? 'SeveralProviders' : (found[0] ?? (inVain.length > 0 ? 'NotSupported' : undefined));
    if (reason === undefined) return [];
    const messages = [...rivalries, ...found.map((one) => this.findings.get(one)?.message), ...inVain];
    return [{ type: WARNING, reason, message: messages.join('; ') }];
  }

  /** @param rules rights that the operator lacks, in words; empty = it lacks none any more */
  lacksRights(rules: readonly string[]): void {
    const message = `the operator lacks these rights (RBAC rules): ${rules.join('; ')}`;
    this.found('PermissionMissing', rules.length === 0 ? undefined : { message, about: message });
  }

  /** @param stale collections of which no changes come in, and why; empty = all do again */
  missesChanges(stale: readonly { collection: string; why: string }[]): void {
    const about = stale.map(({ collection }) => collection).join(', ');
    const message = `the operator does not see changes of ${about}, and goes by what it saw last: ${stale[0]?.why}`;
    this.found('CacheStale', stale.length === 0 ? undefined : { message, about });
  }

  private found(reason: Reason, finding: Finding | undefined): void {
    if (finding === undefined) this.findings.delete(reason);
    else this.findings.set(reason, finding);
    this.tell();
    this.options.store.list().forEach(({ metadata }) => this.options.again(metadata.name));
  }

  private tell(): void {
    for (const object of this.options.store.list()) REASONS.forEach((reason) => this.tellOf(object, reason));
  }

  private tellOf(object: StoredProvider, reason: Reason): void {
    const key = toldKey(object, reason);
    const finding = this.findings.get(reason);
    if (finding === undefined) return void this.told.delete(key);
    if (this.told.get(key) === finding.about || !this.isTold(object.metadata.name)) return;
    this.told.set(key, finding.about);
    this.options.events.event(object, 'Warning', reason, finding.message);
  }

  /** The default one, since that is where people look; where there is none, each. */
  private isTold(name: string): boolean {
    const defaults = this.options.store.list().filter(({ spec }) => spec.default);
    return defaults.length === 0 || defaults.some(({ metadata }) => metadata.name === name);
  }
}

function toldKey(object: KubeObject | undefined, reason: Reason): string {
  return `${object?.metadata.uid ?? ''} ${reason}`;
}
