import type { Drift } from '../../../crds';
import type { ChangeBook } from '../../base/change-book';
import type { Clock } from '../../base/clock';
import type { Logger } from '../../base/log';
import type { EventRecorder, Store } from '../../kube/api';
import type { StackUpdate, Updates } from '../../updates/update';
import type { ObjectWriter } from '../object-writer';
import type { ApprovalGuard } from '../plan/approval-guard';
import type { CloudRegistry } from '../providers/registry';
import type { RetryPlan } from './retry-delay';
import type { StackIndex } from './stack-index';
import type { Member, StackKind } from './stack-kind';
import type { StackRecord } from './stack-record';
import type { StackRetries } from './stack-retries';
import type { UpgradeRollout } from './upgrade-rollout';

export interface StackReconcilerOptions<O extends Member> {
  kind: StackKind<O>;
  store: Store<O>;
  index: StackIndex;
  registry: CloudRegistry;
  updates: Updates;
  /** Puts an extension's part into an update, before anything is decided about it. Pure. */
  extend: (update: StackUpdate) => StackUpdate;
  writer: ObjectWriter;
  /** Which changes are behind its members. */
  changes: ChangeBook;
  record: StackRecord;
  events: EventRecorder;
  retries: StackRetries;
  clusterID: string;
  isValid: () => boolean;
  /** The CRD of the kind is being deleted, or gone: asked before anything is deleted in the cloud. */
  isKindDeleted: () => Promise<boolean>;
  /** Told how each update ended: `Updated`, `Destroyed`, or the code of the OperatorError. */
  onUpdate: (provider: string, result: string, tookMs: number) => void;
  /** Who keeps approvals to those who may give them. */
  guard: Pick<ApprovalGuard, 'problem'>;
  /** Says of a stack how its cloud differs and is left. */
  reported: (stack: string, provider: string, drift: Drift[]) => void;
  /** Asks for another pass over a stack after so many milliseconds. */
  again: (stack: string, afterMs: number) => void;
  /** When what failed is tried again. */
  retryPlan: RetryPlan;
  /** When it is a stack's turn to be brought to a newer program. */
  rollout: UpgradeRollout;
  clock: Clock;
  logger: Logger;
}
