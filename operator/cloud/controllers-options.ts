import { FIELD_MANAGERS } from '../../crds';
import type { ChangeBook } from '../base/change-book';
import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import type { EventRecorder, KubeApi, Store } from '../kube/api';
import type { BackOffLimits } from '../kube/back-off';
import type { KindControllerOptions } from '../kube/controller';
import type { KubeConfig } from '../kube/kube-config';
import type { KubeObject, Node, ResourcePath } from '../kube/object';
import type { KeyedQueue, KeyedQueueOptions } from '../kube/queue';
import type { ExtensionModule } from '../updates/extension-module';
import type { Updates } from '../updates/update';
import type { Warning } from './conditions';
import type { InstanceDirectory } from './instances/instance-directory';
import type { StoredInstance } from './instances/instance-mirror';
import { ObjectWriter } from './object-writer';
import type { StoredProvider } from './providers/provider-reconciler';
import type { CloudRegistry } from './providers/registry';
import type { StoredLoadBalancer } from './stack/load-balancer-stacks';
import type { RetryBudget } from './stack/retry-delay';
import type { StoredRoute } from './stack/route-stacks';
import type { StoredStack } from './stack/stack-record';

/** A failed pass is tried again after 1 s, doubling up to 5 minutes; stacks by the class of their failure. */
export const RETRY: BackOffLimits = { baseMs: 1_000, maxMs: 300_000 };

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
  /** `--update-deadline`, in milliseconds. */
  updateDeadlineMs: number;
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

/** What every controller of a Cloud* kind is made with. */
export function controllerOptionsOf<O extends KubeObject>(
  { kubeConfig, api, logger, workers }: Pick<CloudControllersOptions, 'kubeConfig' | 'api' | 'logger' | 'workers'>,
  own: { resource: ResourcePath; store: Store<O>; queue: KeyedQueue },
): KindControllerOptions<O> {
  return { kubeConfig, api, logger, workers, fieldManager: FIELD_MANAGERS.cloud, ...own };
}

/** Writes the objects of one kind. @param warningsOf what is said of an object beside its verdict */
export function writerOf(
  { api, clock }: Pick<CloudControllersOptions, 'api' | 'clock'>,
  resource: ResourcePath,
  warningsOf: (object: KubeObject) => Warning[],
): ObjectWriter {
  return new ObjectWriter(api, resource, () => clock.now(), warningsOf);
}
