import type { Verdict } from './conditions';
import type { MemberInput } from './member-input';
import { movedInput, nextInput, type NextInput } from './plan/generation';
import type { ConnectedCloud } from './registry';
import type { Member, StackKind } from './stack-kind';
import type { Origin } from './stack-moves';

/** What there is of a member. */
export interface Before {
  /** In its own stack. */
  accepted: MemberInput | undefined;
  /** In another one, where that has a newer generation of it. */
  origin: Origin | undefined;
}

/**
 * What a member's update is to render next, and why it must wait with that. Pure.
 * @param now milliseconds since 1970
 */
export function nextOf<O extends Member>(
  kind: StackKind<O>,
  object: O,
  cloud: ConnectedCloud | undefined,
  { accepted, origin, now }: Before & { now: number },
): NextInput & { obstacle?: Verdict | undefined } {
  const wanted = kind.inputOf(object);
  if (origin !== undefined && cloud !== undefined && kind.move !== undefined) {
    const { why, obstacle } = kind.move({ input: origin.input, cloud: origin.knowledge.cloud }, wanted, cloud);
    return { ...movedInput(origin, wanted, { why, now }), obstacle };
  }
  const replacement: Parameters<typeof nextInput>[2]['replacement'] = (before, after) =>
    cloud === undefined ? undefined : kind.replacement?.(before, after, cloud);
  return nextInput(accepted, wanted, { now, replacement });
}
