import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../crds';
import { toOperatorError } from '../base/errors';
import { failureFields } from '../base/log';
import type { Store } from '../kube/api';
import { keyOf, type KubeObject, type ObjectKey } from '../kube/object';
import type { KeyedQueue } from '../kube/queue';
import { exportsOf } from '../updates/extension-exports';
import { controllerOptionsOf, RETRY, writerOf, type CloudControllersOptions } from './controllers-options';
import { DriftLoop } from './drift/drift-loop';
import { driftSubject } from './drift/drift-subject';
import { LeftoverRecords } from './drift/leftover-records';
import { isLeftover } from './drift/leftovers';
import { livingSpecs } from './drift/living-specs';
import { Sweep } from './drift/sweep';
import type { InstanceDirectory } from './instances/instance-directory';
import { InstanceMirror } from './instances/instance-mirror';
import { NodeTagging } from './instances/node-tagging';
import { ApprovalGuard } from './plan/approval-guard';
import { CredentialWatch } from './providers/credential-watch';
import { ProviderController } from './providers/provider-controller';
import { ProviderReconciler, type ProviderUse, type StoredProvider } from './providers/provider-reconciler';
import { intervalOf } from './providers/provider-timer';
import { ProviderWarnings } from './providers/provider-warnings';
import { ReconcileRequests } from './providers/reconcile-requests';
import { retryOfMissing, SecretWatch } from './providers/secret-watch';
import { ExtendedUpdates } from './stack/extended-updates';
import { ExtraStacks, extraStackOf } from './stack/extra-stacks';
import { InServiceWatch } from './stack/in-service-watch';
import { LoadBalancerStacks, ownerUIDOf, type StoredLoadBalancer } from './stack/load-balancer-stacks';
import { makeStackController } from './stack/make-stack-controller';
import { overlapWarnings } from './stack/route-overlaps';
import { RouteStacks, type StoredRoute } from './stack/route-stacks';
import type { StackController } from './stack/stack-controller';
import { StackRecord, stackSpec } from './stack/stack-record';
import { UpgradeRollout } from './stack/upgrade-rollout';
import { HostEvents } from './targets/host-events';
import { MemberKeeper } from './targets/member-keeper';
import { RegisteredTargets } from './targets/registered-targets';
import { VouchedLoadBalancers, Vouchers } from './vouchers';
import { WhatFollows } from './what-follows';

const MIRROR_MAX_AGE_MS = 60_000;
/** To connect makes no cloud call. */
const CONNECT_RETRY = { baseMs: 1_000, maxMs: 10_000 };

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
  private readonly inService: InServiceWatch;
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
      ...{ api: options.api, nodes: stores.nodes, store: stores.instances, directory: options.directory, registry, clock },
      ...{ queue: options.makeQueue('cloudinstances', RETRY), maxAgeMs: MIRROR_MAX_AGE_MS },
    });
    this.tagging = new NodeTagging({ ...options, nodes: stores.nodes, told: handled });
    this.sweep = this.makeSweep();
    const told = (key: ObjectKey): void => this.loadBalancers.recheck(key);
    this.inService = new InServiceWatch({ ...options, loadBalancers: stores.loadBalancers, told });
    this.requests = new ReconcileRequests({ providers: stores.providers, look: (provider) => this.lookAtAll(provider), handled });
    this.providers = this.providerController();
    const vouchers = new Vouchers();
    this.vouchedLoadBalancers = new VouchedLoadBalancers(stores.loadBalancers, vouchers);
    this.extras = this.extraStacks();
    this.loadBalancers = this.loadBalancerController(vouchers);
    this.routes = this.routeController();
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
    const others = [this.mirror, this.tagging, this.extras, this.sweep, this.inService].map((loop) => loop.run(signal));
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

  /** Everything of a provider once: its connection, its machines, every stack and its targets; the queues and the account's limits pace it. Extras may take longer. */
  private async lookAtAll(provider: string): Promise<void> {
    this.providerQueue.add(provider);
    this.options.directory.ask(provider);
    this.extras.ask(provider);
    const passes = [this.loadBalancers.ask(provider), this.routes.ask(provider)];
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
    const { stores, registry, logger } = this.options;
    const objects = stores.providers.list();
    for (const { metadata } of objects) {
      if (metadata.deletionTimestamp !== undefined) registry.retire(metadata.name);
      registry.pauseBy(metadata.name, metadata.annotations?.[ANNOTATIONS.pause]);
    }
    const connect = ({ metadata: { name }, spec }: StoredProvider): Promise<unknown> =>
      registry.set(name, spec).catch((thrown: unknown) => {
        logger.warn({ provider: name, ...failureFields(toOperatorError(thrown)) }, 'CloudProvider not connected yet');
      });
    await Promise.all(objects.map(connect));
  }

  private makeSweep(): Sweep {
    const { api, stores, updates, clock, onSwept, logger } = this.options;
    const recorded = (kind?: string): string[] =>
      stores.stacks.list().flatMap((record) => {
        const counts = !isLeftover(record) && (kind === undefined || record.spec.kind === kind);
        return counts ? [record.metadata.name] : [];
      });
    return new Sweep({
      ...this.options,
      records: new LeftoverRecords({ api, store: stores.stacks, clock }),
      stacks: () => {
        const known = [...recorded(), ...this.loadBalancers.stacks(), ...this.routes.stacks()];
        return known.flatMap((stack) => [stack, extraStackOf(stack)]);
      },
      owners: () => stores.loadBalancers.list().map(ownerUIDOf),
      specs: () =>
        livingSpecs(stores.loadBalancers.list(), [...recorded('LoadBalancer'), ...this.loadBalancers.stacks()], { updates, logger }),
      serves: (stack) => this.serves(stack),
      takeUp: (provider, { stack, kind }) => {
        this.record.restore(stack, stackSpec(provider, kind));
        (kind === 'Routes' ? this.routes : this.loadBalancers).look(stack);
      },
      swept: (provider, leftovers) => {
        onSwept(provider, leftovers.length);
        this.providerQueue.add(provider);
      },
    });
  }

  /** Whether a stack's state speaks of an object that lives; undefined = it can't be read. */
  private async serves(stack: string): Promise<boolean | undefined> {
    const { updates, stores, logger } = this.options;
    try {
      const accepted = (await updates.state(stack))?.accepted ?? {};
      return [...stores.loadBalancers.list(), ...stores.routes.list()].some(({ metadata }) => accepted[metadata.uid] !== undefined);
    } catch (thrown) {
      logger.warn(
        { stack, error: toOperatorError(thrown).message },
        'whether the stack is a leftover can not be said: its state can not be read',
      );
      return undefined;
    }
  }

  private sweepRecords(): void {
    const records = this.options.stores.stacks.list();
    const named = (kind: string): string[] => records.filter(({ spec }) => spec.kind === kind).map(({ metadata }) => metadata.name);
    this.loadBalancers.sweep(named('LoadBalancer'));
    this.routes.sweep(named('Routes'));
  }

  private loadBalancerController(vouchers: Vouchers): StackController<StoredLoadBalancer> {
    const { stores, registry, extension, serviceEvents, clock, clusterID, onHostsSynced } = this.options;
    const hostEvents = new HostEvents({ events: serviceEvents, clock, onSynced: onHostsSynced });
    const kind = new LoadBalancerStacks(this.members, vouchers, hostEvents, clusterID);
    const updates = new ExtendedUpdates(this.options.updates, extension, this.extras);
    const own = {
      ...{ resource: CLOUD_LOAD_BALANCERS, store: stores.loadBalancers, kind, updates },
      extend: updates.extend.bind(updates),
      warningsOf: (object: StoredLoadBalancer) => {
        const cloud = registry.get(object.spec.provider);
        const beside = [this.inService.warningOf(object), this.extras.warningOf(kind.stackOf(object, cloud))];
        return [...kind.warningsOf(object, cloud), ...beside.filter((warning) => warning !== undefined)];
      },
      compare: (provider: string, stack: string) => void this.drift.loadBalancers.ask(provider, [stack]),
    };
    return makeStackController(this.options, own, { record: this.record, rollout: this.rollout });
  }

  private routeController(): StackController<StoredRoute> {
    const { stores, updates, clusterCIDRs, clock } = this.options;
    const own = {
      ...{ resource: CLOUD_ROUTES, store: stores.routes, kind: new RouteStacks(stores.nodes, clock, clusterCIDRs), updates },
      warningsOf: (object: StoredRoute) => overlapWarnings(object, stores.routes.list()),
      compare: (provider: string, stack: string) => void this.drift.routes.ask(provider, [stack]),
    };
    return makeStackController(this.options, own, { record: this.record, rollout: this.rollout });
  }

  private loadBalancerDrift(): DriftLoop {
    const { registry } = this.options;
    return new DriftLoop(this.options, {
      ...driftSubject(this.loadBalancers, 'LoadBalancer', {
        ...this.options,
        record: this.record,
        intervalMs: (provider) => intervalOf(registry, provider, 'driftInterval'),
      }),
      alsoCheck: async (provider, inTurn) => {
        if (await this.members.drifted(provider, inTurn)) void this.loadBalancers.requeue(provider);
        await this.inService.look(provider);
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
    const writer = writerOf(this.options, CLOUD_PROVIDERS, (object) => [
      ...this.warnings.of(object),
      ...this.tagging.warnings(object.metadata.name),
    ]);
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
    const own = { resource: CLOUD_PROVIDERS, store: stores.providers, queue: this.providerQueue };
    return new ProviderController(controllerOptionsOf(this.options, own), reconciler);
  }

  private extraStacks(): ExtraStacks {
    const { stores, registry, updates, updateDeadlineMs, extension, events, isValid, clock, logger } = this.options;
    return new ExtraStacks({
      ...{
        registry,
        updates,
        updateDeadlineMs,
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
      queue: this.options.makeQueue('extra-stacks', RETRY),
      slowQueue: this.options.makeQueue('extra-stacks-slow', RETRY),
      changed: (stack) => this.loadBalancers.refresh(stack),
      logger: logger.child({ part: 'extension' }),
    });
  }
}

/** Keys of the objects of a provider. */
function usersOf<O extends KubeObject & { spec: { provider: string } }>(store: Pick<Store<O>, 'list'>, provider: string): string[] {
  return store.list().flatMap(({ metadata, spec }) => (spec.provider === provider ? keyOf(metadata) : []));
}
