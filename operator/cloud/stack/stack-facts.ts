import type { DiscoveredResource } from '../../../providers/provider';
import { parseDuration } from '../../base/duration';
import { toOperatorError } from '../../base/errors';
import type { StackState } from '../../updates/update';
import { verdictOfError } from '../conditions';
import { hasBegun } from './adoptions';
import { versionOf, type CandidateHolds } from './candidate-holds';
import { inCloudOf, isOrphaned, leverOf, leverOn, type WideLevers } from '../levers';
import type { MemberReports } from './member-reports';
import { nextOf, type Before } from './next-input';
import { replacing } from '../plan/generation';
import type { Retirements } from '../plan/retirements';
import type { ConnectedCloud } from '../providers/registry';
import type { Member } from './stack-kind';
import type { Whereabouts } from './stack-moves';
import type { AcceptedInputs, MemberFacts, StackFacts } from './stack-plan';
import type { StackReconcilerOptions } from './stack-reconciler-options';
import type { Takeovers } from './takeovers';
import { windowProblems } from '../windows/windows-of';

/** What a pass knows of its stack. */
export interface Known {
  cloud: ConnectedCloud | undefined;
  state: StackState | undefined;
  /** What its members take over. */
  takeovers?: Takeovers | undefined;
  /** What the cloud has of it, where the state says nothing of members that were there before. */
  found?: readonly DiscoveredResource[] | undefined;
}

/** What a member's spec asks for, and what speaks against it. */
type Asked = Pick<MemberFacts<Member>, 'input' | 'problems' | 'waiting' | 'replacement'>;

/** Puts together what the plan of a stack is made from. */
export class StackFactsOf<O extends Member> {
  constructor(
    private readonly options: Pick<StackReconcilerOptions<O>, 'kind' | 'registry' | 'record' | 'clock'>,
    private readonly reports: Pick<MemberReports<O>, 'serving'>,
    private readonly holds: Pick<CandidateHolds, 'of'>,
    private readonly retirements: Retirements,
  ) {}

  of(
    stack: string,
    members: O[],
    { cloud, state, takeovers, found = [] }: Known,
    { wide, ...whereabouts }: Whereabouts & { wide: WideLevers },
  ): StackFacts<O> {
    const { kind, record } = this.options;
    const { origins, elsewhere, departing } = whereabouts;
    const accepted = state?.accepted as unknown as AcceptedInputs | undefined;
    const released = record.released(stack);
    const leftover = record.leftover(stack);
    return {
      members: members.map((object) => {
        const { uid } = object.metadata;
        const facts = this.memberFacts(stack, object, cloud, {
          accepted: accepted?.[uid],
          origin: origins.get(uid),
          adopted: takeovers?.taken.get(uid)?.kept,
          found: cloud === undefined ? undefined : kind.inputFound?.(object, found, cloud),
        });
        return { ...facts, ...takingOver(object, takeovers) };
      }),
      known: state !== undefined,
      accepted,
      elsewhere,
      departing,
      released: (uid) => released.has(uid),
      leftover: leftover !== undefined,
      abandoned: whereabouts.abandoned || leftover === 'Released' || (state !== undefined && released.has(state.incarnation)),
      lever: leverOf(wide),
      claims: (input) => {
        const before = accepted?.[input.uid];
        return kind.claims(input, cloud, before && { input: before, outputs: state?.outputs ?? {} });
      },
      conflict: (claim) => kind.conflict(claim),
    };
  }

  private memberFacts(stack: string, object: O, cloud: ConnectedCloud | undefined, before: Before): MemberFacts<O> {
    const { uid, creationTimestamp, deletionTimestamp } = object.metadata;
    const { registry } = this.options;
    const here = inCloudOf(cloud?.name, object);
    const serving = this.reports.serving(stack, object);
    const asked = here === object ? this.askedFor(object, cloud, before) : this.askedElsewhere(object, serving);
    return {
      object,
      ...asked,
      createdAt: creationTimestamp,
      deleting: deletionTimestamp !== undefined,
      lever: leverOn(here, registry),
      orphan: isOrphaned(here, registry),
      serving,
      held: this.holds.of(uid, versionOf(asked.input, object, cloud)),
      moving: before.origin !== undefined,
    };
  }

  private askedFor(object: O, cloud: ConnectedCloud | undefined, before: Before): Asked {
    const { kind, clock } = this.options;
    const left = this.retirements.within(cloud === undefined ? Infinity : parseDuration(cloud.spec.retireAfter));
    const { input, waitsUntil, replacement, obstacle } = nextOf(kind, object, cloud, { ...before, left });
    return {
      input,
      problems: cloud === undefined ? [] : [...kind.problems(object, cloud), ...windowProblems(object, cloud, clock.now())],
      waiting: kind.waiting?.(object) ?? (waitsUntil === undefined ? obstacle : replacing(waitsUntil)),
      replacement,
    };
  }

  /** It stays here while no stack can be found for it in the cloud that it names, and nothing of its spec is for this one. */
  private askedElsewhere(object: O, serving: boolean): Asked {
    const { kind, registry } = this.options;
    const asked = { input: kind.inputOf(object), problems: [] };
    try {
      const cloud = registry.connected(object.spec.provider);
      kind.problems(object, cloud);
      return {
        ...asked,
        waiting: { state: 'Reconciling', reason: 'Updating', message: `it goes to CloudProvider ${cloud.name}`, serving },
      };
    } catch (thrown) {
      return { ...asked, waiting: verdictOfError(toOperatorError(thrown), serving) };
    }
  }
}

/** What the plan must know of one that takes something over. Pure. */
function takingOver(object: Member, takeovers: Takeovers | undefined): Pick<MemberFacts<Member>, 'takesOver' | 'held'> {
  const { uid } = object.metadata;
  const error = takeovers?.refused.get(uid);
  const takesOver = takeovers?.taken.has(uid) === true;
  return {
    ...(error !== undefined && { held: { error } }),
    ...(hasBegun(object) ? { takesOver: 'Begun' as const } : takesOver && { takesOver: 'Now' as const }),
  };
}
