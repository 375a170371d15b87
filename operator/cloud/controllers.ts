import { FIELD_MANAGERS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../crds';
import type { ChangeBook } from '../base/change-book';
import type { Clock } from '../base/clock';
import { toOperatorError } from '../base/errors';
import { failureFields, type Logger } from '../base/log';
import type { EventRecorder, KubeApi, Store } from '../kube/api';
import type { KubeConfig } from '../kube/kube-config';
import type { KindControllerOptions } from '../kube/controller';
import { CRDS, keyOf, type KubeObject, type Node, type ResourcePath } from '../kube/object';
import type { BackOffLimits } from '../kube/back-off';
import type { KeyedQueue, KeyedQueueOptions } from '../kube/queue';
import { exportsOf } from '../updates/extension-exports';
import type { ExtensionModule } from '../updates/extension-module';
import type { StackUpdate, Updates } from '../updates/update';
import type { Warning } from './conditions';
import { CredentialWatch } from './providers/credential-watch';
import { DriftLoop } from './drift/drift-loop';
import { driftSubject } from './drift/drift-subject';
import { ExtendedUpdates } from './stack/extended-updates';
import { formerCloudsKept } from './stack/former-clouds';
import { ExtraStacks, extraStackOf } from './stack/extra-stacks';
import { HostEvents } from './targets/host-events';
import type { InstanceDirectory } from './instances/instance-directory';
import { NodeTagging } from './instances/node-tagging';
import { InstanceMirror, type StoredInstance } from './instances/instance-mirror';
import { LoadBalancerStacks, type StoredLoadBalancer } from './stack/load-balancer-stacks';
import { MemberKeeper } from './targets/member-keeper';
import { ObjectWriter } from './object-writer';
import { ApprovalGuard } from './plan/approval-guard';
import { ProviderController } from './providers/provider-controller';
import { RegisteredTargets } from './targets/registered-targets';
import { ProviderWarnings } from './providers/provider-warnings';
import { ProviderReconciler, type ProviderUse, type StoredProvider } from './providers/provider-reconciler';
import { ReconcileRequests } from './providers/reconcile-requests';
import type { CloudRegistry } from './providers/registry';
import { overlapWarnings } from './stack/route-overlaps';
import { RouteStacks, type StoredRoute } from './stack/route-stacks';
import { isLeftover } from './drift/leftovers';
import { LeftoverRecords } from './drift/leftover-records';
import { intervalOf } from './providers/provider-timer';
import { retryOfMissing, SecretWatch } from './providers/secret-watch';
import { StackController } from './stack/stack-controller';
import { StackIndex } from './stack/stack-index';
import type { Member, StackKind } from './stack/stack-kind';
import { StackReconciler } from './stack/stack-reconciler';
import { StackRecord, type StoredStack } from './stack/stack-record';
import { Sweep } from './drift/sweep';
import { VouchedLoadBalancers, Vouchers } from './vouchers';
import { WhatFollows } from './what-follows';
import { retryAfterFailure, type RetryBudget, type RetryPlan } from './stack/retry-delay';
import { StackRetries } from './stack/stack-retries';
import { UpgradeRollout } from './stack/upgrade-rollout';

const MIRROR_MAX_AGE_MS = 60_000;
/** A failed pass is tried again after 1 s, doubling up to 5 minutes; stacks by the class of their failure. */
const RETRY = { baseMs: 1_000, maxMs: 300_000 };
/** To connect makes no cloud call. */
const CONNECT_RETRY = { baseMs: 1_000, maxMs: 10_000 };

export interface CloudControllersOptions {
  kubeConfig: KubeConfig;
  api: KubeApi;
  stores: {
    nodes: Store<Node>;
    providers: Store<StoredProvider>;
    loadBalancers: Store<StoredLoadBalancer>;
    routes: Store<StoredRoute>;
    stacks: Store<StoredStack>;
    instances: Store<StoredInstance>;
  };
  registry: CloudRegistry;
  directory: InstanceDirectory;
  updates: Updates;
  /** What `--extension` names. */
  extension?: ExtensionModule;
  events: EventRecorder;
  /** Which changes of the loops are behind the objects. */
  changes: ChangeBook;
  /** For Events on Services, with the source component `service-controller`. */
  serviceEvents: EventRecorder;
  clusterID: string;
  /** Who we are, for CloudStack.status.holder. */
  identity: string;
  /** Passes over stacks at the same time. */
  workers: number;
  isValid: () => boolean;
  /** After how many failures, or how long, a stack that fails is Stalled. */
  retryBudget: RetryBudget;
  /** Makes a work queue whose failed keys wait within the limits, or as `delayOf` says (milliseconds). */
  makeQueue: (name: string, backOff: BackOffLimits, delayOf?: KeyedQueueOptions['delayOf']) => KeyedQueue;
  /** A Node that gained the autoscaler's taint or a deletion timestamp leaves the load balancers at once. */
  promptNodeRemoval: boolean;
  /** `--cluster-cidr`, in which routes must lead; empty = anywhere. */
  clusterCIDRs: readonly string[];
  /** Told how long it took to bring the targets of a load balancer in use to other Nodes, in milliseconds. */
  onHostsSynced: (tookMs: number, failed: boolean) => void;
  /** Told how long it took until all load balancers of a provider had been looked at after a change of Nodes, in milliseconds. */
  onNodeSync: (tookMs: number) => void;
  /** Told how each update ended: `Updated`, `Destroyed`, or the code of the OperatorError. */
  onUpdate: (provider: string, result: string, tookMs: number) => void;
  /** Told how many stacks a search of a provider's account has found that nothing accounts for. */
  onSwept: (provider: string, leftovers: number) => void;
  /** Told of each stack that was found changed in the cloud. */
  onDrift: (provider: string, kind: StoredStack['spec']['kind'], policy: 'Heal' | 'Report') => void;
  clock: Clock;
  random: () => number;
  logger: Logger;
}

/** Everything of operator/cloud/ that runs: the controllers of the Cloud* kinds, members, drift, the mirror of instances. */
export class CloudControllers {
  /** For the loops: they believe no status that we don't vouch for. */
  readonly vouchedLoadBalancers: Store<StoredLoadBalancer>;
  private readonly record: StackRecord;
  private readonly rollout: UpgradeRollout;
  private readonly members: MemberKeeper;
  private readonly providers: ProviderController;
  private readonly loadBalancers: StackController<StoredLoadBalancer>;
  private readonly routes: StackController<StoredRoute>;
  private readonly extras: ExtraStacks;
  private readonly providerQueue: KeyedQueue;
  private readonly secrets: SecretWatch;
  private readonly warnings: ProviderWarnings;
  private readonly mirror: InstanceMirror;
  private readonly tagging: NodeTagging;
  private readonly sweep: Sweep;
  private readonly drift: Readonly<Record<'loadBalancers' | 'routes', DriftLoop>>;
  private readonly requests: ReconcileRequests;
  private markConnected: () => void = () => undefined;
  /** Resolves once every CloudProvider that is there has been tried: until then, a provider that isn't known may still come. */
  readonly connected = new Promise<void>((resolve) => (this.markConnected = resolve));

  constructor(private readonly options: CloudControllersOptions) {
    const { stores, registry, logger, isValid, clusterID, clock } = options;
    this.record = new StackRecord({ api: options.api, store: stores.stacks, holder: options.identity, clock, logger });
    this.rollout = new UpgradeRollout(clock, options.random);
    const remembered = new RegisteredTargets({ ...stores, api: options.api, clusterID, isValid, logger });
    this.members = new MemberKeeper({ nodes: stores.nodes, registry, isValid, remembered, logger });
    this.providerQueue = this.options.makeQueue('cloudproviders', CONNECT_RETRY, (provider, failure) =>
      retryOfMissing(failure, this.providerQueue.failuresOf(provider)),
    );
    this.secrets = new SecretWatch({ registry, found: (provider) => this.providerQueue.add(provider), clock, logger });
    const handled = (provider: string): void => this.providerQueue.add(provider);
    this.warnings = new ProviderWarnings({ store: stores.providers, registry, events: options.events, again: handled });
    this.mirror = new InstanceMirror({
      ...{ api: options.api, nodes: stores.nodes, store: stores.instances, directory: options.directory, clock },
      ...{ queue: this.queue('cloudinstances'), maxAgeMs: MIRROR_MAX_AGE_MS },
    });
    this.tagging = new NodeTagging({ ...options, nodes: stores.nodes, told: handled });
    this.sweep = this.makeSweep();
    this.requests = new ReconcileRequests({ providers: stores.providers, look: (provider) => this.lookAtAll(provider), handled });
    this.providers = this.providerController();
    const vouchers = new Vouchers();
    this.vouchedLoadBalancers = new VouchedLoadBalancers(stores.loadBalancers, vouchers);
    const stacks = new LoadBalancerStacks(
      this.members,
      vouchers,
      new HostEvents({ events: options.serviceEvents, clock, onSynced: options.onHostsSynced }),
      clusterID,
    );
    this.extras = this.extraStacks();
    const updates = new ExtendedUpdates(options.updates, options.extension, this.extras);
    this.loadBalancers = this.stackController(CLOUD_LOAD_BALANCERS, stores.loadBalancers, stacks, {
      updates,
      extend: (update) => updates.extend(update),
      warningsOf: (object) => {
        const cloud = registry.get(object.spec.provider);
        const extra = this.extras.warningOf(stacks.stackOf(object, cloud));
        return [...stacks.warningsOf(object, cloud), ...(extra === undefined ? [] : [extra])];
      },
    });
    const routes = new RouteStacks(stores.nodes, options.clock, this.options.clusterCIDRs);
    this.routes = this.stackController(CLOUD_ROUTES, stores.routes, routes, {
      warningsOf: (object) => overlapWarnings(object, stores.routes.list()),
    });
    this.drift = { loadBalancers: this.loadBalancerDrift(), routes: this.routeDrift() };
  }

  /** Runs until the signal is aborted; resolves when everything has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { stores } = this.options;
    await Promise.all(Object.values(stores).map((store: { whenSynced(signal: AbortSignal): Promise<void> }) => store.whenSynced(signal)));
    const { loadBalancers, routes, members, record, mirror, sweep, providerQueue } = this;
    const following = new WhatFollows({ ...this.options, loadBalancers, routes, members, record, mirror, sweep, providerQueue });
    following.start();
    await this.connectAll();
    this.markConnected();
    await Promise.all([this.providers.start(), this.loadBalancers.start(), this.routes.start()]);
    this.sweepRecords();
    const drift = Object.values(this.drift).map((loop) => loop.run(signal));
    const endRequests = this.requests.start();
    const others = [this.mirror, this.tagging, this.extras, this.sweep].map((loop) => loop.run(signal));
    others.push(this.watchCredentials(signal));
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    following.stop();
    endRequests();
    this.secrets.stop();
    const controllers = [this.providers, this.loadBalancers, this.routes];
    controllers.forEach((controller) => controller.stop());
    await Promise.all([...controllers.map((controller) => controller.ended()), ...others, ...drift]);
    await this.record.flush();
  }

  /** Everything of a provider once: its connection, its machines, every stack and its targets; the queues and the account's limits pace it. */
  private async lookAtAll(provider: string): Promise<void> {
    this.providerQueue.add(provider);
    this.options.directory.ask(provider);
    const passes = [this.loadBalancers.retry(provider), this.routes.retry(provider)];
    await Promise.all([...passes, ...Object.values(this.drift).map((loop) => loop.ask(provider))]);
  }

  /** Says on CloudProviders what the operator may not do; empty = it may do all. */
  lacksRights(rules: readonly string[]): void {
    this.warnings.lacksRights(rules);
  }

  /** Says on CloudProviders of which collections no changes come in; empty = of none. */
  missesChanges(stale: readonly { collection: string; why: string }[]): void {
    this.warnings.missesChanges(stale);
  }

  /** Says that a cloud answered, or why it did not; shown as the CloudProvider's condition. */
  providerHealthChanged(provider: string): void {
    this.providerQueue.add(provider);
  }

  /** Before the first pass over stacks every known CloudProvider has been tried once, so that objects find their stacks. */
  private async connectAll(): Promise<void> {
    for (const { metadata, spec } of this.options.stores.providers.list()) {
      if (metadata.deletionTimestamp !== undefined) this.options.registry.retire(metadata.name);
      await this.options.registry.set(metadata.name, spec).catch((thrown: unknown) => {
        this.options.logger.warn({ provider: metadata.name, ...failureFields(toOperatorError(thrown)) }, 'CloudProvider not connected yet');
      });
    }
  }

  private makeSweep(): Sweep {
    const { api, stores, clock, onSwept } = this.options;
    return new Sweep({
      ...this.options,
      records: new LeftoverRecords({ api, store: stores.stacks, clock }),
      stacks: () => {
        const recorded = stores.stacks.list().filter((record) => !isLeftover(record));
        const known = [...recorded.map(({ metadata }) => metadata.name), ...this.loadBalancers.stacks(), ...this.routes.stacks()];
        return known.flatMap((stack) => [stack, extraStackOf(stack)]);
      },
      serves: (stack) => this.serves(stack),
      swept: (provider, leftovers) => {
        onSwept(provider, leftovers.length);
        this.providerQueue.add(provider);
      },
    });
  }

  /** A state that can't be read may be anybody's. */
  private async serves(stack: string): Promise<boolean> {
    const { updates, stores, logger } = this.options;
    try {
      const accepted = (await updates.state(stack))?.accepted ?? {};
      return [...stores.loadBalancers.list(), ...stores.routes.list()].some(({ metadata }) => accepted[metadata.uid] !== undefined);
    } catch (thrown) {
      logger.warn(
        { stack, error: toOperatorError(thrown).message },
        'whether the stack is a leftover can not be said: its state can not be read',
      );
      return true;
    }
  }

  private sweepRecords(): void {
    const records = this.options.stores.stacks.list();
    const named = (kind: string): string[] => records.filter(({ spec }) => spec.kind === kind).map(({ metadata }) => metadata.name);
    this.loadBalancers.sweep(named('LoadBalancer'));
    this.routes.sweep(named('Routes'));
  }

  private loadBalancerDrift(): DriftLoop {
    const { registry } = this.options;
    return new DriftLoop(this.options, {
      ...driftSubject(this.loadBalancers, 'LoadBalancer', {
        ...this.options,
        record: this.record,
        intervalMs: (provider) => intervalOf(registry, provider, 'driftInterval'),
      }),
      alsoCheck: async (provider) => {
        if (await this.members.drifted(provider)) void this.loadBalancers.requeue(provider);
      },
    });
  }

  private routeDrift(): DriftLoop {
    const { registry } = this.options;
    const intervalMs = (provider: string): number => intervalOf(registry, provider, 'routePeriod');
    return new DriftLoop(this.options, driftSubject(this.routes, 'Routes', { ...this.options, record: this.record, intervalMs }));
  }

  /** Whether a cloud can be used is said by its CloudProvider and by every object that it carries. */
  private watchCredentials(signal: AbortSignal): Promise<void> {
    const onChange = (provider: string): void => {
      this.providerQueue.add(provider);
      void this.loadBalancers.retry(provider);
      void this.routes.retry(provider);
    };
    return new CredentialWatch({ ...this.options, onChange }).run(signal);
  }

  private providerController(): ProviderController {
    const { stores, registry, clusterID, clock, logger, directory } = this.options;
    const writer = this.writer(CLOUD_PROVIDERS, (object) => [...this.warnings.of(object), ...this.tagging.warnings(object.metadata.name)]);
    const use = (provider: string): ProviderUse => ({
      nodes: this.members.targets(provider).length,
      loadBalancers: usersOf(stores.loadBalancers, provider),
      routes: usersOf(stores.routes, provider),
      stacks: usersOf(stores.stacks, provider),
    });
    const health = (provider: string): ReturnType<InstanceDirectory['problem']> =>
      registry.accounts.refusal(provider) ?? directory.problem(provider) ?? registry.accounts.outage(provider);
    const reconciler = new ProviderReconciler({
      ...{ store: stores.providers, registry, writer, clusterID, use, health, clock, logger },
      hasAnswered: (provider) => directory.hasAnswered(provider),
      ask: (provider) => directory.ask(provider),
      awaitSecret: (provider) => this.secrets.await(provider),
      sweep: (provider) => this.sweep.result(provider),
      handledReconcile: (provider) => this.requests.handled(provider),
    });
    return new ProviderController(this.controllerOptions(CLOUD_PROVIDERS, stores.providers, this.providerQueue), reconciler);
  }

  private extraStacks(): ExtraStacks {
    const { stores, registry, updates, extension, events, isValid, clock, logger } = this.options;
    return new ExtraStacks({
      ...{
        registry,
        updates,
        events,
        isValid,
        clock,
        exportsOf,
        module: extension,
        store: stores.loadBalancers,
        record: this.record,
        rollout: this.rollout,
        guard: new ApprovalGuard(this.options.api, CLOUD_LOAD_BALANCERS),
      },
      queue: this.queue('extra-stacks'),
      changed: (stack) => this.loadBalancers.refresh(stack),
      logger: logger.child({ part: 'extension' }),
    });
  }

  private stackController<O extends Member>(
    resource: ResourcePath,
    store: Store<O>,
    kind: StackKind<O>,
    own: { updates?: Updates; extend?: (update: StackUpdate) => StackUpdate; warningsOf?: (object: O) => Warning[] } = {},
  ): StackController<O> {
    const { registry, events, clusterID, isValid, onUpdate, clock, logger } = this.options;
    const { updates = this.options.updates, extend = (update: StackUpdate) => update, warningsOf = () => [] } = own;
    const index = new StackIndex();
    const retryPlan: RetryPlan = (error, streak) => retryAfterFailure(error, streak, this.options.retryBudget, this.options.random());
    const retries = new StackRetries(clock, retryPlan);
    const writer = this.writer(resource, (object) => [
      ...warningsOf(object as O),
      ...formerCloudsKept(keyOf(object.metadata), { index, record: this.record, registry }),
    ]);
    const stacks = this.options.makeQueue(`${resource.plural}-stacks`, RETRY, (stack) => retries.of(stack)?.delayMs);
    const reconciler = new StackReconciler<O>({
      ...{ kind, store, index, registry, updates, extend, writer, events, retries, clusterID, isValid, onUpdate, clock },
      guard: new ApprovalGuard(this.options.api, resource),
      isKindDeleted: async () => {
        const crd = await this.options.api.get(CRDS, kind.crd);
        return crd === undefined || crd.metadata.deletionTimestamp !== undefined;
      },
      again: (stack, afterMs) => stacks.addAfter(stack, afterMs),
      retryPlan,
      rollout: this.rollout,
      record: this.record,
      changes: this.options.changes,
      logger: logger.child({ kind: resource.kind }),
    });
    const options = this.controllerOptions(resource, store, this.queue(resource.plural));
    return new StackController<O>({
      ...options,
      records: () => this.options.stores.stacks.list(),
      compare: (provider, stack) => void this.drift[kind.kind === 'Routes' ? 'routes' : 'loadBalancers'].ask(provider, [stack]),
      providerOf: (name) => this.record.providerOf(name),
      kind,
      index,
      registry,
      reconciler,
      writer,
      retries,
      events,
      stacks,
    });
  }

  private controllerOptions<O extends KubeObject>(resource: ResourcePath, store: Store<O>, queue: KeyedQueue): KindControllerOptions<O> {
    const { kubeConfig, api, logger, workers } = this.options;
    return { kubeConfig, api, logger, resource, store, queue, workers, fieldManager: FIELD_MANAGERS.cloud };
  }

  private writer(resource: ResourcePath, warningsOf?: (object: KubeObject) => Warning[]): ObjectWriter {
    return new ObjectWriter(this.options.api, resource, () => this.options.clock.now(), warningsOf);
  }

  private queue(name: string): KeyedQueue {
    return this.options.makeQueue(name, RETRY);
  }
}

/** Keys of the objects of a provider. */
function usersOf<O extends KubeObject & { spec: { provider: string } }>(store: Pick<Store<O>, 'list'>, provider: string): string[] {
  return store.list().flatMap(({ metadata, spec }) => (spec.provider === provider ? keyOf(metadata) : []));
}
