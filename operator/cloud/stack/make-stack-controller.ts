import type { Store } from '../../kube/api';
import { CRDS, keyOf, type ResourcePath } from '../../kube/object';
import type { StackUpdate, Updates } from '../../updates/update';
import type { Warning } from '../conditions';
import { controllerOptionsOf, RETRY, writerOf, type CloudControllersOptions } from '../controllers-options';
import { reportDrift } from '../drift/drift-subject';
import { ApprovalGuard } from '../plan/approval-guard';
import { formerCloudsKept } from './former-clouds';
import { retryAfterFailure, type RetryPlan } from './retry-delay';
import { StackController } from './stack-controller';
import { StackIndex } from './stack-index';
import type { Member, StackKind } from './stack-kind';
import { StackReconciler } from './stack-reconciler';
import type { StackRecord } from './stack-record';
import { StackRetries } from './stack-retries';
import type { UpgradeRollout } from './upgrade-rollout';

/** What is one kind's own. */
export interface OwnOfKind<O extends Member> {
  resource: ResourcePath;
  store: Store<O>;
  kind: StackKind<O>;
  updates: Updates;
  /** Puts an extension's part into an update; absent = there is none. */
  extend?: (update: StackUpdate) => StackUpdate;
  warningsOf: (object: O) => Warning[];
  /** Has a stack compared with the cloud at once. */
  compare: (provider: string, stack: string) => void;
}

/** What both kinds share. */
export interface SharedByKinds {
  record: StackRecord;
  rollout: UpgradeRollout;
}

/** The controller of CloudLoadBalancers or CloudRoutes, with all that brings their stacks to what they ask for. */
export function makeStackController<O extends Member>(
  options: CloudControllersOptions,
  { resource, store, kind, updates, extend = (update) => update, warningsOf, compare }: OwnOfKind<O>,
  { record, rollout }: SharedByKinds,
): StackController<O> {
  const { api, stores, registry, events, changes, clusterID, isValid, onUpdate, onDrift, makeQueue, retryBudget, random, clock, logger } =
    options;
  const index = new StackIndex();
  const retryPlan: RetryPlan = (error, streak) => retryAfterFailure(error, streak, retryBudget, random());
  const retries = new StackRetries(clock, retryPlan);
  const writer = writerOf(options, resource, (object) => [
    ...warningsOf(object as O),
    ...formerCloudsKept(keyOf(object.metadata), { index, record, registry }),
  ]);
  const stacks = makeQueue(`${resource.plural}-stacks`, RETRY, (stack) => retries.of(stack)?.delayMs);
  const reconciler = new StackReconciler<O>({
    ...{ kind, store, index, registry, updates, extend, writer, events, changes, record, retries, retryPlan, rollout },
    ...{ clusterID, isValid, onUpdate, clock },
    guard: new ApprovalGuard(api, resource),
    isKindDeleted: async () => {
      const crd = await api.get(CRDS, kind.crd);
      return crd === undefined || crd.metadata.deletionTimestamp !== undefined;
    },
    reported: (stack, provider, drift) => reportDrift({ stack, provider, kind: kind.kind, drift }, { record, onDrift, logger }),
    again: (stack, afterMs) => stacks.addAfter(stack, afterMs),
    logger: logger.child({ kind: resource.kind }),
  });
  return new StackController<O>({
    ...controllerOptionsOf(options, { resource, store, queue: makeQueue(resource.plural, RETRY) }),
    ...{ kind, index, registry, reconciler, retries, writer, events, stacks, compare },
    records: () => stores.stacks.list(),
    providerOf: (name) => record.providerOf(name),
  });
}
