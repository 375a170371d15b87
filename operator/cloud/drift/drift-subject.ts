import type { CloudStackSpec, Drift } from '../../../crds';
import type { Logger } from '../../base/log';
import type { DriftSubject } from './drift-loop';
import { intervalOfStack } from './drift-schedule';
import type { StackController } from '../stack/stack-controller';
import type { Member } from '../stack/stack-kind';
import { stackSpec, type StackRecord } from '../stack/stack-record';

type StackKindName = CloudStackSpec['kind'];

export interface DriftSubjectOptions {
  /** How often what says nothing of it is compared, in milliseconds. */
  intervalMs: (provider: string) => number;
  record: StackRecord;
  /** Told of each stack that was found changed in the cloud. */
  onDrift: (provider: string, kind: StackKindName, policy: 'Heal' | 'Report') => void;
  logger: Logger;
}

/** What is done about the drift of a controller's stacks: it is recorded, counted, and healed or shown. */
export function driftSubject<O extends Member>(
  controller: StackController<O>,
  kind: 'LoadBalancer' | 'Routes',
  { intervalMs, record, onDrift, logger }: DriftSubjectOptions,
): DriftSubject {
  return {
    kind,
    intervalMs,
    intervals: (provider) => {
      const own = (stack: string): number => intervalOfStack(controller.driftIntervalsOf(stack), intervalMs(provider));
      return new Map(controller.stacksOf(provider).map((stack) => [stack, own(stack)]));
    },
    isHeld: (stack) => controller.isHeld(stack),
    found: (stack, provider, drift) => {
      logger.info({ stack, drift }, 'the cloud was changed behind our back; healing');
      onDrift(provider, kind, 'Heal');
      record.drifted(stack, stackSpec(provider, kind), drift);
      controller.heal(stack, drift);
    },
    reported: (stack, provider, drift) => {
      if (reportDrift({ stack, provider, kind, drift }, { record, onDrift, logger })) controller.refresh(stack);
    },
  };
}

/** Records and counts what differs and is left as it is. @returns true when that is another finding than before */
export function reportDrift(
  { stack, provider, kind, drift }: { stack: string; provider: string; kind: StackKindName; drift: Drift[] },
  { record, onDrift, logger }: Pick<DriftSubjectOptions, 'record' | 'onDrift' | 'logger'>,
): boolean {
  if (!record.reported(stack, stackSpec(provider, kind), drift)) return false;
  // The end of a difference is another finding, too, and nothing that was found to differ.
  if (drift.length === 0) return true;
  onDrift(provider, kind, 'Report');
  logger.info({ stack, drift }, 'the cloud differs from what is wanted; it is left as it is');
  return true;
}
