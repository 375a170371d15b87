import { ANNOTATIONS, type DeletionPolicy } from '../../crds';
import type { Member } from './stack/stack-kind';

/** What holds whole stacks. */
export interface WideLevers {
  /** The lease allows cloud writes. */
  leading: boolean;
  /** Name of the CRD of the members' kind, where that is being deleted and all objects with it. */
  kindDeleted?: string | undefined;
  /** Name of the CloudProvider, where its `spec.freeze` is set. */
  frozen?: string | undefined;
  /** Name of the CloudProvider, where that is only observed and no member says so. */
  observed?: string | undefined;
  /** Its annotation `cloud-operator.dev/pause`, where no member says so. */
  providerPause?: { provider: string; value: string } | undefined;
}

/** What a person has set on a member. */
export interface MemberLevers {
  managementPolicy?: string | undefined;
  /** Name of its CloudProvider, where that is only observed. */
  observed?: string | undefined;
  /** Value of the annotation `cloud-operator.dev/pause`. */
  pause?: string | undefined;
  /** The same of its CloudProvider. */
  providerPause?: { provider: string; value: string } | undefined;
}

/** What keeps a member's changes, and the healing of what somebody else has changed, out of the cloud. */
export interface Lever {
  kind: 'NoLease' | 'KindDeleted' | 'Frozen' | 'Observe' | 'Released' | 'PauseAll' | 'PauseUpdates';
  /** Of its condition. */
  reason: string;
  why: string;
  /** Its targets go on following the Nodes. */
  members: boolean;
  /** Its value can't be read: a person must correct it. */
  mistaken?: true;
  /** What becomes of its deletion: it waits, or the object goes and the cloud stays as it is. */
  deletion: 'Waits' | 'Releases';
}

/** The lever that is in force, in the design's order: the first match wins (section 4, Levers). Windows and approval come after these. Pure. */
export function leverOf({
  leading,
  kindDeleted,
  frozen,
  observed,
  managementPolicy,
  ...pauses
}: WideLevers & MemberLevers): Lever | undefined {
  if (!leading) return waits('NoLease', 'NoLease', 'this operator does not hold the lease');
  if (kindDeleted !== undefined) {
    const why = `CustomResourceDefinition ${kindDeleted} is being deleted, which deletes every object of the kind: nothing is done in the cloud`;
    return waits('KindDeleted', 'KindDeleted', why);
  }
  if (frozen !== undefined)
    return waits('Frozen', 'Frozen', `CloudProvider ${frozen} is frozen (spec.freeze): nothing is written to the cloud`);
  if (observed !== undefined || managementPolicy === 'Observe') {
    const where = observed === undefined ? 'spec.managementPolicy' : `spec.managementPolicy of CloudProvider ${observed}`;
    const why = `only observed (${where}): nothing of it is written to the cloud`;
    return { ...waits('Observe', 'Observed', why), deletion: 'Releases' };
  }
  if (managementPolicy === 'Released') {
    const why = 'given up (spec.managementPolicy): nobody looks after it here, and another object or cluster may take it over';
    return { ...waits('Released', 'Released', why), deletion: 'Releases' };
  }
  return pauseOf(pauses);
}

/** Of two pauses the one that holds more is in force, else the object's own. */
function pauseOf({ pause, providerPause }: Pick<MemberLevers, 'pause' | 'providerPause'>): Lever | undefined {
  const both = [
    ...(pause === undefined ? [] : [paused(pause)]),
    ...(providerPause === undefined ? [] : [paused(providerPause.value, ` of CloudProvider ${providerPause.provider}`)]),
  ];
  return both.find(({ kind }) => kind === 'PauseAll') ?? both[0];
}

/** The levers on CloudProviders that hold all of their objects. */
export interface ProviderLevers {
  /** It is only observed. */
  observes(provider: string): boolean;
  /** Value of its annotation `cloud-operator.dev/pause`. */
  pauseOf(provider: string): string | undefined;
  /** Of its objects that have none of their own. */
  deletionPolicyOf(provider: string): DeletionPolicy | undefined;
}

/** The object as one of a stack's cloud: that one's levers count for what it has there, whichever it names by now. Pure. @param provider undefined = not known */
export function inCloudOf<O extends Pick<Member, 'spec'>>(provider: string | undefined, object: O): O {
  if (provider === undefined || provider === object.spec.provider) return object;
  return { ...object, spec: { ...object.spec, provider } };
}

/** The lever on one object. Pure. */
export function leverOn(
  { metadata, spec }: Pick<Member, 'metadata' | 'spec'>,
  registry: Pick<ProviderLevers, 'observes' | 'pauseOf'>,
  wide: WideLevers = { leading: true },
): Lever | undefined {
  const { provider, managementPolicy } = spec;
  const observed = registry.observes(provider) ? provider : undefined;
  const pause = metadata.annotations?.[ANNOTATIONS.pause];
  return leverOf({ ...wide, observed, managementPolicy, pause, providerPause: providerPauseOf(provider, registry) });
}

/** The pause of a CloudProvider as its objects have it; undefined = it has none. Pure. */
export function providerPauseOf(provider: string, registry: Pick<ProviderLevers, 'pauseOf'>): MemberLevers['providerPause'] {
  const value = registry.pauseOf(provider);
  return value === undefined ? undefined : { provider, value };
}

/** What it has in the cloud is kept, also by a stack that it has left. Pure. */
export function keepsCloud(object: Pick<Member, 'metadata' | 'spec'>, registry: ProviderLevers): boolean {
  return leverOn(object, registry) !== undefined || (object.metadata.deletionTimestamp !== undefined && isOrphaned(object, registry));
}

/** What it has in the cloud stays there when it is deleted: by its own word, or where it has none by its CloudProvider's. Pure. */
export function isOrphaned({ spec }: Pick<Member, 'spec'>, registry: Pick<ProviderLevers, 'deletionPolicyOf'>): boolean {
  return (spec.deletionPolicy ?? registry.deletionPolicyOf(spec.provider)) === 'Orphan';
}

/** Whoever writes anything wants things to stand still. @param whose words for what has the annotation, where that is not the object itself */
function paused(value: string, whose = ''): Lever {
  const text = value.trim();
  if (text === 'Updates') {
    const why = `paused by annotation ${ANNOTATIONS.pause}${whose}: Updates, so that only its targets are kept`;
    return { ...waits('PauseUpdates', 'Paused', why), members: true };
  }
  const why = `paused by annotation ${ANNOTATIONS.pause}${whose}: All, so that nothing of it is written to the cloud`;
  if (text === 'All') return waits('PauseAll', 'Paused', why);
  const instead = `paused by annotation ${ANNOTATIONS.pause}${whose}, whose value "${text.slice(0, 63)}" is unknown and counts as All`;
  const message = `${instead}; write All (nothing is written to the cloud) or Updates (only its targets are), or remove it`;
  return { ...waits('PauseAll', 'Paused', message), mistaken: true };
}

function waits(kind: Lever['kind'], reason: Lever['reason'], why: string): Lever {
  return { kind, reason, why, members: false, deletion: 'Waits' };
}
