import type { NotInService } from '../../../providers/provider';
import { keyOf, type ObjectKey } from '../../kube/object';
import type { Store, StoreChange } from '../../kube/api';
import type { Warning } from '../conditions';
import { jittered, ProviderTimer, type ProviderTimerOptions } from '../providers/provider-timer';
import type { StoredLoadBalancer } from './load-balancer-stacks';

/** Condition type of a CloudLoadBalancer: it is made, and its cloud does not have it in service yet, or not as it should be. */
const NOT_IN_SERVICE = 'NotInService';

/** Time between two looks while something is on its way. */
const LOOK_MS = 30_000;

export interface InServiceOptions extends ProviderTimerOptions {
  loadBalancers: Pick<Store<StoredLoadBalancer>, 'list' | 'onChange'>;
  /** What is to be said of an object has changed. */
  told: (key: ObjectKey) => void;
}

/**
 * Nothing waits for a cloud that takes minutes to bring a new load balancer into service; it is looked at from outside, all of a cloud in one read: now and
 * then while one has just got its point of entry or is on its way, and with each look for drift.
 */
export class InServiceWatch {
  private readonly timer: ProviderTimer;
  /** By provider and point of entry. */
  private readonly found = new Map<string, ReadonlyMap<string, NotInService>>();
  /** Providers of load balancers that got their point of entry after the last look. */
  private readonly fresh = new Set<string>();

  constructor(private readonly options: InServiceOptions) {
    this.timer = new ProviderTimer(options, {
      waitMs: (provider) => (this.isOnTheWay(provider) ? jittered(LOOK_MS, options.random) : 0),
      pass: (provider) => this.look(provider),
      failure: 'which load balancers are in service could not be looked up',
    });
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { loadBalancers } = this.options;
    loadBalancers.list().forEach((object) => {
      if (saidBy(object) !== undefined) this.fresh.add(object.spec.provider);
    });
    const stop = loadBalancers.onChange((change) => this.onChange(change));
    await this.timer.run(signal);
    stop();
  }

  /** One read of a provider's cloud; nothing where that has none. */
  async look(provider: string): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    if (cloud.notInService === undefined) return;
    this.fresh.delete(provider);
    try {
      this.found.set(provider, await cloud.notInService());
    } catch (thrown) {
      this.fresh.add(provider);
      throw thrown;
    }
    const changed = this.options.loadBalancers.list().filter((object) => object.spec.provider === provider && this.saysOther(object));
    changed.forEach(({ metadata }) => this.options.told(keyOf(metadata)));
  }

  /** What an object is to say of it; before the first look, what it says. */
  warningOf(object: StoredLoadBalancer): Warning | undefined {
    const states = this.found.get(object.spec.provider);
    if (states === undefined) return saidBy(object);
    const entries = (object.status?.ingress ?? []).map(({ hostname, ip }) => hostname ?? ip ?? '');
    const found = entries.map((entry) => states.get(entry)).find((state) => state !== undefined);
    return found === undefined ? undefined : { type: NOT_IN_SERVICE, ...found };
  }

  private saysOther(object: StoredLoadBalancer): boolean {
    const [said, now] = [saidBy(object), this.warningOf(object)];
    return said?.reason !== now?.reason || said?.message !== now?.message;
  }

  private isOnTheWay(provider: string): boolean {
    const found = [...(this.found.get(provider)?.values() ?? [])];
    return this.fresh.has(provider) || found.some(({ reason }) => reason === 'Provisioning');
  }

  private onChange({ previous, current }: StoreChange<StoredLoadBalancer>): void {
    const [before, after] = [previous, current].map((object) => object?.status?.ingress?.[0]);
    const entry = after?.hostname ?? after?.ip;
    if (previous === undefined || entry === undefined || entry === (before?.hostname ?? before?.ip)) return;
    this.fresh.add(current?.spec.provider ?? '');
  }
}

function saidBy({ status }: StoredLoadBalancer): Warning | undefined {
  const said = status?.conditions?.find(({ type }) => type === NOT_IN_SERVICE);
  return said === undefined ? undefined : { type: NOT_IN_SERVICE, reason: said.reason, message: said.message };
}
