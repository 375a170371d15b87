import type { Members, Target, TargetGroup } from '../../../providers/provider';
import { hashJson } from '../../base/json';
import type { Logger } from '../../base/log';
import { OperatorError } from '../../base/errors';
import type { LabelSelector } from '../../base/label-selector';
import { Turns } from '../../base/turns';
import type { Store, StoreChange } from '../../kube/api';
import { atPriority } from '../../updates/limits/call-priority';
import { isReady } from '../../kube/node';
import type { Node } from '../../kube/object';
import { EligibleTargets } from './eligible-targets';
import type { StoredLoadBalancer } from '../stack/load-balancer-stacks';
import { digestOf, type RegisteredTargets } from './registered-targets';
import { selectorOf } from './target-selections';
import { TargetUses } from './target-uses';
import type { CloudRegistry } from '../providers/registry';

/** Stands for a hash: a write has begun, and what it registered is not known. It equals none, and nothing may be assumed of the group. */
const UNKNOWN = '';

export interface MemberKeeperOptions {
  nodes: Store<Node>;
  registry: CloudRegistry;
  /** False once the lease is lost: asked before every cloud write. */
  isValid: () => boolean;
  /** What a restart goes by where reading it from the cloud takes a call for each group; absent = nothing. */
  remembered?: RegisteredTargets;
  logger: Logger;
}

/** What is registered by what a connection has told: another connection has to look for itself. */
interface Registered {
  members: Members;
  hashes: Promise<Map<string, string>>;
}

/**
 * Keeps the targets of every target group equal to the eligible Nodes of its provider, by the providers' batch calls and without an engine run
 * (design: Members). What is registered is known from one bulk read per provider, or where there is none, from what was remembered; so a restart
 * costs no writes.
 */
export class MemberKeeper {
  /** provider → group id → hash of what is registered. */
  private readonly registered = new Map<string, Registered>();
  /** One write at a time per group. */
  private readonly writing = new Turns();
  /** Groups of which a write has begun and not ended. */
  private readonly underway = new Set<string>();
  /** For each look that is under way: the groups that are written meanwhile. */
  private readonly lookedAt = new Set<Set<string>>();

  /** provider → names of Nodes that could not become targets of some group, since their machines did not run. */
  private readonly leftOut = new Map<string, Set<string>>();
  /** Groups that lack such a Node. */
  private readonly incomplete = new Set<string>();
  private readonly eligible: EligibleTargets;
  private readonly uses = new TargetUses();
  /** Hashes of sets of targets, which are never changed. */
  private readonly hashes = new WeakMap<readonly Target[], string>();

  constructor(private readonly options: MemberKeeperOptions) {
    this.eligible = new EligibleTargets(options.nodes, options.registry);
  }

  /** Eligible Nodes of a provider, in the order of their names. @param selector only those that it takes */
  targets(provider: string, selector?: LabelSelector): Target[] {
    return this.eligible.of(provider, selector);
  }

  /** The same, for who writes them. @throws OperatorError Transient while a Node may be the provider's or not */
  decidedTargets(provider: string, selector?: LabelSelector): Target[] {
    this.assertDecided(provider);
    return this.usedTargets(provider, selector);
  }

  /** A stack itself depends on which Nodes these selectors take: a change of their labels counts. @param selectors instead of those that it had */
  hold(stack: string, selectors: readonly (LabelSelector | undefined)[]): void {
    this.eligible.selections.hold(stack, selectors);
  }

  /** Of some Node it is not known yet whether it is the provider's: its targets can't be written. */
  isUndecided(provider: string): boolean {
    return this.eligible.undecidedOf(provider).length > 0;
  }

  /** A change of a Node after which targets may be others. */
  mayBeChangedBy(change: StoreChange<Node>, promptRemoval: boolean): boolean {
    return this.eligible.mayBeChangedBy(change, promptRemoval);
  }

  /** Providers that left a Node out which is ready now. Each is told once: a Node that can't be a target even so is left out again. */
  missedBy(node: Node): string[] {
    if (!isReady(node)) return [];
    const providers = [...this.leftOut].filter(([, names]) => names.has(node.metadata.name)).map(([provider]) => provider);
    for (const provider of providers) this.leftOut.delete(provider);
    return providers;
  }

  /** Hash of a provider's target sets: while it stays, no group needs a look. */
  targetsHash(provider: string): string {
    return hashJson(this.eligible.setsOf(provider).map((targets) => this.hashOf(targets)));
  }

  /** True when, since this was last asked, somebody has acted on other targets than the provider has now. */
  hasUsedOthers(provider: string): boolean {
    return this.uses.take(provider).some(({ selector, hash }) => hash !== this.hashOf(this.targets(provider, selector)));
  }

  /**
   * Brings the given groups to the provider's targets.
   * @param load the load balancer whose groups they all are, as it is in Kubernetes; absent = there is none
   * @returns how many cloud writes that took
   */
  async sync(provider: string, groups: TargetGroup[], load?: StoredLoadBalancer): Promise<number> {
    const { members } = this.options.registry.connected(provider).cloud;
    if (members === undefined || groups.length === 0) return 0;
    this.select(groups, load);
    const hash = this.hashOf(this.targets(provider));
    const isVouched = (): boolean => load !== undefined && this.isRemembered(provider, load, groups);
    const sync = (group: TargetGroup): Promise<number> =>
      this.writing.run(group.id, () => atPriority('First', () => this.syncGroup(provider, members, group, isVouched)));
    const writes = await Promise.all(groups.map(sync));
    const stayed = this.areComplete(provider, groups) && hash === this.hashOf(this.targets(provider));
    if (members.assume !== undefined && load !== undefined && stayed) this.options.remembered?.converged(provider, load.metadata.uid, hash);
    return writes.reduce((sum, count) => sum + count, 0);
  }

  /** The load balancer is no more: nobody follows the labels by which its groups had their Nodes. @param uid of the object */
  forget(uid: string): void {
    this.eligible.selections.drop(uid);
    this.options.remembered?.forget(uid);
  }

  /** What the status of a load balancer says while its groups have their members; undefined where nobody would read it. */
  claimOf(provider: string, groups: readonly TargetGroup[]): string | undefined {
    const assumes = this.options.registry.get(provider)?.cloud?.members?.assume !== undefined;
    return assumes && this.options.remembered !== undefined && this.areComplete(provider, groups) ? digestOf(groups) : undefined;
  }

  /** Why not all eligible Nodes are members of these groups: their cloud has no room for all. In words, with the figures. */
  limitsOf(provider: string, groups: readonly TargetGroup[]): string[] {
    const members = this.options.registry.get(provider)?.cloud?.members;
    const limits = groups.flatMap((group) => members?.limits?.(group, this.targets(provider, selectorOf(group.nodeLabels))) ?? []);
    return [...new Set(limits)];
  }

  /**
   * Reads anew what is registered, and compares it with what was before. Nobody who writes waits for that.
   * @param inTurn as Members.observe
   * @returns true when somebody else has changed it: the provider's groups need a look
   */
  async drifted(provider: string, inTurn: boolean): Promise<boolean> {
    const { members } = this.options.registry.connected(provider).cloud;
    const before = this.registered.get(provider);
    if (members === undefined || before?.members !== members) return false;
    const known = await before.hashes;
    // What is written from now on goes on meanwhile: a look may have shown such a group before or after that.
    const written = new Set(this.underway);
    this.lookedAt.add(written);
    const seen = await members.observe(inTurn).finally(() => this.lookedAt.delete(written));
    const differing = [...known].filter(([group, hash]) => seen.has(group) && seen.get(group) !== hash && !written.has(group));
    for (const group of [...known.keys()]) if (!seen.has(group) && !written.has(group)) known.delete(group);
    for (const [group, hash] of seen) if (!written.has(group)) known.set(group, hash);
    return differing.length > 0;
  }

  private usedTargets(provider: string, selector: LabelSelector | undefined): Target[] {
    const targets = this.targets(provider, selector);
    this.uses.note(provider, { selector, hash: this.hashOf(targets) });
    return targets;
  }

  private async syncGroup(provider: string, members: Members, group: TargetGroup, isVouched: () => boolean): Promise<number> {
    const registered = await this.registeredOf(provider, members);
    this.assertDecided(provider);
    const targets = this.usedTargets(provider, selectorOf(group.nodeLabels));
    const wanted = members.hash(group, targets);
    if (registered.get(group.id) === wanted) return 0;
    if (!registered.has(group.id) && group.nodeLabels === undefined && isVouched()) {
      members.assume?.(group, targets);
      registered.set(group.id, wanted);
      return 0;
    }
    const isValid = (): boolean => this.options.isValid() && !this.options.registry.isFrozen(provider);
    if (!isValid()) throw new OperatorError('Canceled', 'no targets are written: the lease was lost, or the CloudProvider is frozen');
    const leftOut = new Set<string>();
    const write = async (): Promise<number> => {
      if (members.assume !== undefined) await this.options.remembered?.begin(provider, this.hashOf(this.targets(provider)));
      // A write whose answer is lost was made all the same: the set before it must not pass for what is registered.
      registered.set(group.id, UNKNOWN);
      return members.sync(group, targets, isValid, (nodeName) => leftOut.add(nodeName));
    };
    // Before anything is awaited: who reads from now on can't know what the write leaves.
    this.underway.add(group.id);
    this.lookedAt.forEach((written) => written.add(group.id));
    const writes = await write().finally(() => this.underway.delete(group.id));
    this.remember(provider, group, leftOut);
    if (leftOut.size === 0) registered.set(group.id, wanted);
    this.options.logger.info(
      { provider, group: group.id, targets: targets.length, writes, ...(leftOut.size > 0 && { leftOut: leftOut.size }) },
      'members registered',
    );
    return writes;
  }

  /** A group that comes in the course of an update is its load balancer's after it. */
  private select(groups: readonly TargetGroup[], load: StoredLoadBalancer | undefined): void {
    const { selections } = this.eligible;
    for (const { id, nodeLabels } of groups) selections.hold(id, load === undefined ? [selectorOf(nodeLabels)] : []);
    if (load !== undefined)
      selections.hold(
        load.metadata.uid,
        groups.map(({ nodeLabels }) => selectorOf(nodeLabels)),
      );
  }

  private remember(provider: string, { id }: TargetGroup, leftOut: ReadonlySet<string>): void {
    if (leftOut.size === 0) return void this.incomplete.delete(id);
    this.incomplete.add(id);
    this.leftOut.set(provider, new Set([...(this.leftOut.get(provider) ?? []), ...leftOut]));
  }

  private areComplete(provider: string, groups: readonly TargetGroup[]): boolean {
    return groups.every(({ id }) => !this.incomplete.has(id)) && this.limitsOf(provider, groups).length === 0;
  }

  private isRemembered(provider: string, load: StoredLoadBalancer, groups: readonly TargetGroup[]): boolean {
    const vouches = this.options.remembered?.vouches(provider, load, groups, this.hashOf(this.targets(provider))) === true;
    // For how many there was room when that was written, it does not say.
    return vouches && this.limitsOf(provider, groups).length === 0;
  }

  /** Where reading takes a call for each group, a restart goes without: what isn't remembered is read when it is written. */
  private registeredOf(provider: string, members: Members): Promise<Map<string, string>> {
    const known = this.registered.get(provider);
    if (known?.members === members) return known.hashes;
    if (members.assume === undefined) return this.observe(provider, members);
    const hashes = Promise.resolve(new Map<string, string>());
    this.registered.set(provider, { members, hashes });
    return hashes;
  }

  private hashOf(targets: readonly Target[]): string {
    const hash = this.hashes.get(targets) ?? hashJson(targets);
    this.hashes.set(targets, hash);
    return hash;
  }

  private observe(provider: string, members: Members): Promise<Map<string, string>> {
    // Read while it was being written, a group may have shown the set before or the one after.
    const doubtful = [...this.underway];
    const hashes = members.observe().then((seen) => {
      doubtful.filter((group) => seen.has(group)).forEach((group) => seen.set(group, UNKNOWN));
      return seen;
    });
    const registered = { members, hashes };
    this.registered.set(provider, registered);
    hashes.catch(() => this.registered.get(provider) === registered && this.registered.delete(provider));
    return hashes;
  }

  /** @throws OperatorError Transient while a Node may be the provider's or not: what is registered stays until that is known */
  private assertDecided(provider: string): void {
    const [undecided] = this.eligible.undecidedOf(provider);
    if (undecided === undefined) return;
    const message = `which CloudProvider has Node ${undecided} is not known yet; the targets stay as they are until then`;
    throw new OperatorError('Transient', message, { reason: 'NodeUndecided' });
  }
}
