import type { JsonObject } from '../../base/json';
import type { Verdict } from '../conditions';
import { gapHeld } from './former-clouds';
import type { MemberInput } from './member-input';
import { movedInput, nextInput, type GenerationalInput, type NextInput } from '../plan/generation';
import { givingUp, isPromised, kept } from '../plan/promise';
import type { TimeLeft } from '../plan/retirements';
import type { ConnectedCloud } from '../providers/registry';
import type { Member, StackKind } from './stack-kind';
import type { Origin } from './stack-moves';

/** What there is of a member. */
export interface Before {
  /** In its own stack. */
  accepted: MemberInput | undefined;
  /** In another one, where that has a newer generation of it. */
  origin: Origin | undefined;
  /** Of others, which it takes over (Adoption.kept). */
  adopted?: JsonObject | undefined;
  /** In the cloud, where no state says it: what the generation that serves was made from. */
  found?: GenerationalInput | undefined;
}

/**
 * What a member's update is to render next, and why it must wait with that. Pure.
 * @param left until old generations go
 */
export function nextOf<O extends Member>(
  kind: StackKind<O>,
  object: O,
  cloud: ConnectedCloud | undefined,
  { accepted, origin, left, ...standing }: Before & { left: TimeLeft },
): NextInput & { obstacle?: Verdict | undefined } {
  const wanted = kind.inputOf(object);
  if (accepted !== undefined && isPromised(accepted))
    return ofPromise(accepted, origin, { wanted, approval: approvalOf(kind, object, cloud) });
  if (origin !== undefined && cloud !== undefined && kind.move !== undefined) {
    const { input, others, knowledge, pause } = origin;
    const { why, gap = false, obstacle } = kind.move({ input, others, cloud: knowledge.cloud }, wanted, cloud);
    return {
      ...movedInput(origin, wanted, { why, gap, left }),
      obstacle: obstacle ?? (gap ? gapHeld(why, knowledge.cloud, pause) : undefined),
    };
  }
  const replacement: Parameters<typeof nextInput>[2]['replacement'] = (before, after) =>
    cloud === undefined ? undefined : kind.replacement?.(before, after, cloud);
  const next = nextInput(accepted ?? madeOf(wanted, standing), wanted, { left, replacement });
  const refused = next.replacement?.refused;
  return refused === undefined ? next : { ...next, obstacle: { state: 'Stalled', reason: 'Invalid', message: refused } };
}

function approvalOf<O extends Member>(kind: StackKind<O>, object: O, cloud: ConnectedCloud | undefined): string | undefined {
  return kind.updatePolicy?.(object, cloud?.spec)?.approval;
}

/** What is there already, though no state says it. What was taken over was never made from any spec: what can't be changed of it is kept. */
function madeOf(wanted: MemberInput, { adopted, found }: Pick<Before, 'adopted' | 'found'>): GenerationalInput | undefined {
  if (adopted === undefined) return found;
  return { ...wanted, adopted, ...(found?.generation !== undefined && { generation: found.generation }) };
}

/** What was approved is what is made, also where the spec has changed since: that is another plan. */
function ofPromise(
  accepted: GenerationalInput,
  origin: Origin | undefined,
  { wanted, approval }: { wanted: GenerationalInput; approval: string | undefined },
): NextInput & { obstacle?: Verdict } {
  if (origin !== undefined) {
    const begun = givingUp(accepted);
    return { input: accepted, obstacle: gapHeld(begun.message, origin.knowledge.cloud, origin.pause) ?? begun };
  }
  const promised = kept(accepted);
  if (approval === 'Manual') return { input: promised };
  const { generation, movedFrom } = promised;
  return { input: { ...wanted, ...(generation === undefined ? {} : { generation }), ...(movedFrom === undefined ? {} : { movedFrom }) } };
}
