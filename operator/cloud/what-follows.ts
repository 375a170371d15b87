import { ANNOTATIONS } from '../../crds';
import type { Store, StoreChange } from '../kube/api';
import type { KeyedQueue } from '../kube/queue';
import type { CloudControllersOptions } from './controllers-options';
import type { Sweep } from './drift/sweep';
import type { InstanceMirror } from './instances/instance-mirror';
import type { StoredProvider } from './providers/provider-reconciler';
import type { StoredLoadBalancer } from './stack/load-balancer-stacks';
import type { StoredRoute } from './stack/route-stacks';
import type { StackController } from './stack/stack-controller';
import type { Member } from './stack/stack-kind';
import type { StackRecord, StoredStack } from './stack/stack-record';
import type { MemberKeeper } from './targets/member-keeper';
import { TargetWatch } from './targets/target-watch';

export interface WhatFollowsOptions extends Pick<
  CloudControllersOptions,
  'stores' | 'registry' | 'promptNodeRemoval' | 'onNodeSync' | 'clock'
> {
  members: MemberKeeper;
  loadBalancers: StackController<StoredLoadBalancer>;
  routes: StackController<StoredRoute>;
  record: StackRecord;
  mirror: InstanceMirror;
  sweep: Sweep;
  providerQueue: Pick<KeyedQueue, 'add'>;
}

/** What is looked at again when an object that it depends on, but isn't about, has changed. */
export class WhatFollows {
  private readonly stops: (() => void)[] = [];

  constructor(private readonly options: WhatFollowsOptions) {}

  start(): void {
    const { stores, registry } = this.options;
    this.followNodes();
    const users: Pick<Store<Member>, 'onChange'>[] = [stores.loadBalancers, stores.routes];
    this.stops.push(...users.map((store) => store.onChange((change) => this.onUser(change))));
    this.stops.push(stores.stacks.onChange((change) => this.onRecord(change)));
    // Another one may claim the same as they do, or no longer.
    this.stops.push(registry.onChange(() => registry.list().forEach(({ name }) => this.options.providerQueue.add(name))));
    stores.providers.list().forEach((provider) => this.askForSweep(provider));
    this.stops.push(stores.providers.onChange(({ key, current }) => this.onProvider(key, current)));
  }

  stop(): void {
    this.stops.splice(0).forEach((stop) => stop());
  }

  /** A provider's set of eligible Nodes has changed: its load balancers are looked at, all at once a moment later. */
  private followNodes(): void {
    const { stores, members, registry, clock, promptNodeRemoval, loadBalancers, mirror, onNodeSync, providerQueue } = this.options;
    const targets = new TargetWatch({
      ...{ members, registry, clock },
      promptRemoval: promptNodeRemoval,
      changed: (provider) => {
        const startedAt = clock.monotonic();
        void loadBalancers.requeue(provider).then(() => onNodeSync(clock.monotonic() - startedAt));
        providerQueue.add(provider);
      },
    });
    const unsubscribe = stores.nodes.onChange((change) => {
      const { key, previous, current } = change;
      if (previous?.spec.providerID !== current?.spec.providerID || previous?.metadata.uid !== current?.metadata.uid)
        this.lookAtRoutesTo(key);
      if (current === undefined) registry.owners.forget(key);
      mirror.onNode(change);
      targets.onNode(change);
    });
    this.stops.push(unsubscribe, () => targets.stop());
  }

  /** A CloudProvider's users are counted. */
  private onUser({ previous, current }: StoreChange<Member>): void {
    if (previous === undefined || current === undefined) this.options.providerQueue.add((current ?? previous)?.spec.provider ?? '');
    if (previous !== undefined && previous.metadata.uid !== current?.metadata.uid) this.options.members.forget(previous.metadata.uid);
  }

  /** A CloudStack that somebody deletes is written anew, and the next pass over its stack says whether that is still there. */
  private onRecord({ previous, current }: StoreChange<StoredStack>): void {
    const { record, providerQueue } = this.options;
    if (current !== undefined) {
      record.noticed(current);
      if (releaseOf(current) !== releaseOf(previous)) this.lookAt(current);
    } else if (previous !== undefined) {
      providerQueue.add(previous.spec.provider);
      if (record.deleted(previous)) this.lookAt(previous);
    }
  }

  /** What an extension has made beside a stack is no controller's. */
  private lookAt({ metadata, spec }: StoredStack): void {
    const { loadBalancers, routes } = this.options;
    if (spec.kind === 'LoadBalancer') loadBalancers.look(metadata.name);
    if (spec.kind === 'Routes') routes.look(metadata.name);
  }

  /** Its controller may be at a connection that does not come about: levers don't wait for that. */
  private onProvider(name: string, provider: StoredProvider | undefined): void {
    if (provider === undefined) return this.options.sweep.forget(name);
    const { metadata, spec } = provider;
    this.options.registry.hold(metadata.name, spec);
    this.options.registry.pauseBy(metadata.name, metadata.annotations?.[ANNOTATIONS.pause]);
    this.askForSweep(provider);
  }

  private askForSweep(provider: StoredProvider | undefined): void {
    const token = provider?.metadata.annotations?.[ANNOTATIONS.sweep];
    if (provider !== undefined && token !== undefined && token !== provider.status?.sweep?.handled)
      this.options.sweep.ask(provider.metadata.name, token);
  }

  /** Where a CloudRoute's spec does not name the instance, the Node does. */
  private lookAtRoutesTo(node: string): void {
    for (const { metadata, spec } of this.options.stores.routes.list())
      if (spec.nodeName === node && spec.providerID === undefined) this.options.routes.recheck(metadata.name);
  }
}

function releaseOf(stack: StoredStack | undefined): string | undefined {
  return stack?.metadata.annotations?.[ANNOTATIONS.release];
}
