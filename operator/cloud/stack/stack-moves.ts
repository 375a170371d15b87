import { parseDuration } from '../../base/duration';
import type { Store } from '../../kube/api';
import { keyOf } from '../../kube/object';
import type { StackState, Updates } from '../../updates/update';
import { generationOf, isOver, type GenerationalInput, type Holding } from '../plan/generation';
import { givenUpBy, isPromised } from '../plan/promise';
import type { Retirements, TimeLeft } from '../plan/retirements';
import { isConnected, type CloudRegistry, type ConnectedCloud } from '../providers/registry';
import type { StackIndex } from './stack-index';
import { inCloudOf, isOrphaned, keepsCloud, leverOn } from '../levers';
import type { Knowledge, Member } from './stack-kind';
import type { StackRecord } from './stack-record';

/** Where a member's traffic is, while its own stack has not taken it over. */
export type Origin = Holding & {
  knowledge: Knowledge;
  /** What the stack has of others. */
  others: readonly GenerationalInput[];
  state: StackState | undefined;
  /** Value of the annotation `cloud-operator.dev/pause` of its CloudProvider. */
  pause?: string | undefined;
};

/** What other stacks have of a stack's members, and what the stack has of other stacks' members. */
export interface Whereabouts {
  /** By UID of a member: another stack has the newest generation of it. */
  origins: Map<string, Origin>;
  /** UIDs of accepted inputs that stay although their object is no member: it is in no stack now, or its own has not taken over, or not long ago. */
  elsewhere: ReadonlySet<string>;
  /** UIDs of accepted inputs that may go: their own stack has them long enough, or they are being deleted. */
  departing: ReadonlySet<string>;
  /** Nobody was ever accepted here, and all who were tried here have gone to stacks of their own. */
  abandoned: boolean;
}

export interface StackMovesOptions<O extends Member> {
  index: StackIndex;
  store: Store<O>;
  updates: Pick<Updates, 'state'>;
  registry: Pick<CloudRegistry, 'get' | 'isFrozen' | 'observes' | 'pauseOf' | 'deletionPolicyOf'>;
  record: Pick<StackRecord, 'providerOf'>;
  /** Asks for another pass over a stack after so many milliseconds. */
  again: (stack: string, afterMs: number) => void;
  retirements: Retirements;
}

type Inputs = Readonly<Record<string, GenerationalInput>> | undefined;

/**
 * Members that go from one stack to another, after a change of provider or placement. Both stacks serve: the new one takes over with its first
 * successful update, the old one gives up what it has some time later (design: Replacing what carries traffic). What is decided rests on
 * the stacks' stored state alone.
 */
export class StackMoves<O extends Member> {
  constructor(private readonly options: StackMovesOptions<O>) {}

  /** Asks for another pass when there will be something to do. */
  async gather(stack: string, members: readonly O[], state: StackState | undefined): Promise<Whereabouts> {
    this.releaseFormers(stack, members, state);
    const accepted = acceptedOf(state);
    const origins = new Map<string, Origin>();
    for (const { metadata } of members) {
      const origin = await this.originOf(stack, keyOf(metadata), metadata.uid, accepted?.[metadata.uid]);
      if (origin !== undefined) origins.set(metadata.uid, origin);
    }
    return { origins, ...(await this.others(stack, members, accepted ?? {})), abandoned: await this.isAbandoned(stack, state) };
  }

  /**
   * What stands in the index is what may be; the state knows. An object that waited for this with its deletion, or to be made anew, goes on. One that has
   * left while this pass began is made by it all the same: the next pass tells.
   */
  private releaseFormers(stack: string, members: readonly O[], state: StackState | undefined): void {
    const { index, store, again } = this.options;
    const passing = new Set(members.map(({ metadata }) => keyOf(metadata)));
    for (const key of index.formersIn(stack)) {
      if (passing.has(key)) continue;
      const object = store.get(key);
      const unknown = state !== undefined && state.accepted === undefined;
      const isHere = object !== undefined && (unknown || acceptedOf(state)?.[object.metadata.uid] !== undefined);
      if (isHere && !this.stays(stack, object)) continue;
      index.release(key, stack);
      const home = index.stackOf(key);
      if (home !== undefined && object !== undefined) again(home, 0);
    }
  }

  /** It is being deleted, and what the stack has of it stays: nothing may be written there, or that CloudProvider's policy says so (design section 4, Levers). */
  private stays(stack: string, object: O): boolean {
    if (object.metadata.deletionTimestamp === undefined) return false;
    const { registry, record } = this.options;
    const here = inCloudOf(record.providerOf(stack), object);
    const waits = leverOn(here, registry)?.deletion === 'Waits';
    return this.isObserved(stack) || (isOrphaned(here, registry) && !waits);
  }

  private async originOf(stack: string, key: string, uid: string, own: GenerationalInput | undefined): Promise<Origin | undefined> {
    let newest: Origin | undefined;
    const giving = givenUpBy(own);
    const made = giving === undefined ? own : undefined;
    // A destroy of the old stack that was interrupted has no members in its record any more.
    if (giving !== undefined) this.options.index.remember(key, giving);
    for (const former of this.options.index.formersOf(key)) {
      const found = await this.heldBy(former, uid);
      if (found !== undefined && isNewer(found, newest ?? { stack, input: made })) newest = found;
    }
    this.waitFor(stack, newest?.input, this.leftFor(this.options.store.get(key)));
    if (newest !== undefined && giving !== undefined) this.options.again(newest.stack, 0);
    return newest;
  }

  /** What a stack has made of a member. */
  private async heldBy(stack: string, uid: string): Promise<Origin | undefined> {
    const state = await this.options.updates.state(stack);
    const { [uid]: input, ...others } = acceptedOf(state) ?? {};
    if (input === undefined || isPromised(input)) return undefined;
    const cloud = this.cloudOf(stack);
    const pause = cloud === undefined ? undefined : this.options.registry.pauseOf(cloud.name);
    return { stack, input, others: Object.values(others), state, knowledge: { stack, cloud, state }, pause };
  }

  private async others(
    stack: string,
    members: readonly O[],
    accepted: NonNullable<Inputs>,
  ): Promise<Pick<Whereabouts, 'elsewhere' | 'departing'>> {
    const present = new Set(members.map(({ metadata }) => metadata.uid));
    const absent = Object.values(accepted).filter(({ uid }) => !present.has(uid));
    const [elsewhere, departing] = [new Set<string>(), new Set<string>()];
    if (absent.length === 0) return { elsewhere, departing };
    const objects = new Map(this.options.store.list().map((object) => [object.metadata.uid, object]));
    for (const input of absent) {
      const object = objects.get(input.uid);
      if (object !== undefined) ((await this.mayGo(stack, object, input)) ? departing : elsewhere).add(input.uid);
    }
    return { elsewhere, departing };
  }

  private async mayGo(stack: string, object: O, input: GenerationalInput): Promise<boolean> {
    const { metadata } = object;
    if (this.isObserved(stack)) return false;
    if (isPromised(input)) return this.isTakenBack(stack, object);
    if (keepsCloud(inCloudOf(this.options.record.providerOf(stack), object), this.options.registry)) return false;
    if (metadata.deletionTimestamp !== undefined) return true;
    const taken = await this.takenOver(keyOf(metadata), input);
    if (taken === undefined) return false;
    if (isPromised(taken) && !this.canMake(object)) return false;
    // Both were made at the same time, neither for the other.
    if (taken.movedFrom === undefined) return true;
    const left = this.leftFor(object);
    this.waitFor(stack, taken, left);
    return isOver(taken.movedFrom.until, left);
  }

  /** Whatever its members ask for by now, the stack's own cloud is only observed. */
  private isObserved(stack: string): boolean {
    const provider = this.options.record.providerOf(stack);
    return provider !== undefined && this.options.registry.observes(provider);
  }

  /** Nothing was made of it here, and it asks for another stack by now, or is being deleted. */
  private isTakenBack(stack: string, { metadata }: O): boolean {
    const home = this.options.index.stackOf(keyOf(metadata));
    return metadata.deletionTimestamp !== undefined || (home !== undefined && home !== stack);
  }

  /** No gap is begun whose end can be foreseen not to come. */
  private canMake(object: O): boolean {
    const { provider } = object.spec;
    const { registry } = this.options;
    return isConnected(registry.get(provider)) && !registry.isFrozen(provider) && leverOn(object, registry) === undefined;
  }

  /** What the object's own stack has of it, where that is no older generation: both have the same when it moved on while it was replaced here. */
  private async takenOver(key: string, input: GenerationalInput): Promise<GenerationalInput | undefined> {
    const home = this.options.index.stackOf(key);
    const taken = home === undefined ? undefined : acceptedOf(await this.options.updates.state(home))?.[input.uid];
    return generationOf(taken) >= generationOf(input) ? taken : undefined;
  }

  /** Its first update never succeeded, and its members went elsewhere; where what it has may serve, they must be served there. */
  private async isAbandoned(stack: string, state: StackState | undefined): Promise<boolean> {
    const { index, store, updates } = this.options;
    const formers = index.formersIn(stack);
    if (state === undefined || state.accepted !== undefined || formers.length === 0) return false;
    for (const key of formers) {
      const home = index.stackOf(key);
      const uid = store.get(key)?.metadata.uid ?? '';
      if (home === undefined) return false;
      if (state.neverMade !== true && acceptedOf(await updates.state(home))?.[uid] === undefined) return false;
    }
    return true;
  }

  private waitFor(stack: string, moved: GenerationalInput | undefined, left: TimeLeft): void {
    const until = moved?.movedFrom?.until;
    if (until !== undefined && !isOver(until, left)) this.options.again(stack, left(until));
  }

  private leftFor(object: O | undefined): TimeLeft {
    const retireAfter = this.options.registry.get(object?.spec.provider ?? '')?.spec.retireAfter;
    return this.options.retirements.within(retireAfter === undefined ? Infinity : parseDuration(retireAfter));
  }

  private cloudOf(stack: string): ConnectedCloud | undefined {
    const found = this.options.registry.get(this.options.record.providerOf(stack) ?? '');
    return isConnected(found) ? found : undefined;
  }
}

/** Of two stacks' generations with one number, the newer was made of what the other stack had before its own was done. */
function isNewer(one: Holding, than: { stack: string; input: GenerationalInput | undefined }): boolean {
  const ahead = generationOf(one.input) - generationOf(than.input);
  return ahead > 0 || (ahead === 0 && one.input.movedFrom?.stack === than.stack && than.input?.movedFrom?.stack !== one.stack);
}

function acceptedOf(state: StackState | undefined): Inputs {
  return state?.accepted as unknown as Inputs;
}
