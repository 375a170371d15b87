import type { ChangeKind } from './world';

/** What goes wrong. */
export const FAULT_KINDS = ['kill', 'freeze', 'disconnect', 'throttle', 'lost-answer', 'server-error', 'full-disk', 'clock'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Whom it hits, for each kind. */
export const TARGETS = {
  kill: ['operator', 'worker', 'engine', 'cloud', 'operator-and-workers'],
  freeze: ['operator', 'worker', 'cloud', 'operator-and-workers'],
  disconnect: ['api-refused', 'api-stalled', 'cloud-refused', 'cloud-stalled'],
  throttle: ['api', 'cloud'],
  'lost-answer': ['api', 'cloud'],
  'server-error': ['api', 'cloud'],
  'full-disk': ['state', 'temporary', 'cloud'],
  clock: ['forward', 'back'],
} as const satisfies Record<FaultKind, readonly string[]>;
export type FaultTarget = (typeof TARGETS)[FaultKind][number];

/** At which moment of a change's way. */
export const PHASES = [
  'queued',
  'started',
  'before-write',
  'after-write',
  'answer',
  'checkpoint',
  'complete',
  'members',
  'status',
  'delete',
] as const;
export type Phase = (typeof PHASES)[number];

/** Pairs of kind and phase that are met in one way only: a Node is gone again while nobody knows whether it has become a target. */
export const ONLY: Partial<Record<`${FaultKind} ${Phase}`, { target: FaultTarget; change: ChangeKind }>> = {
  'lost-answer members': { target: 'cloud', change: 'passNode' },
};

const UPDATES: ChangeKind[] = ['createService', 'changePorts', 'changeRanges', 'createBalancer', 'changeBalancer'];

/** Changes after which a phase comes for certain. */
export const CHANGES_OF: Record<Phase, readonly ChangeKind[]> = {
  queued: [...UPDATES, 'deleteService', 'deleteBalancer', 'addNode'],
  started: [...UPDATES, 'deleteService', 'deleteBalancer'],
  'before-write': UPDATES,
  'after-write': UPDATES,
  answer: UPDATES,
  checkpoint: [...UPDATES, 'deleteService', 'deleteBalancer'],
  complete: UPDATES,
  members: ['createService', 'createBalancer', 'addNode', 'excludeNode'],
  status: ['createService', 'createBalancer'],
  delete: ['deleteService', 'deleteBalancer'],
};
