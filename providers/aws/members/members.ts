import type { TargetHealthDescription } from '@aws-sdk/client-elastic-load-balancing-v2';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { LooksInTurn } from '../../../operator/base/looks-in-turn';
import type { LeftOut, Members, Problem, Target, TargetGroup } from '../../provider';
import { assertMayWrite } from '../../member-writes';
import { digestOfPort, instanceSet, targetsDigest, type InstanceSet, type SetMember } from '../../target-digest';
import { AwsError } from '../client/aws-error';
import { chunks } from '../client/chunks';
import type { ElbV2 } from '../client/elbv2';
import type { AwsInstances } from '../nodes/instances';
import { instanceIDOf, isFargate } from '../nodes/provider-id';
import { holderOf, TAG, type Tags } from '../tags';
import { exchange } from './exchange';
import { tellLeftOut } from './left-out';
import { othersOf, registerTakeable } from './takeable';

/** The most targets of one call; upstream's figure. */
const BATCH = 100;
/** Target groups that are looked at side by side; the account's limits hold besides. */
const LOOKS_AT_ONCE = 8;
/** No glance tells of what is registered. */
const SEEN = '';

/** What is known of a target group from the last look at it. */
interface KnownGroup {
  port: number;
  /** Registered with that port; equal sets are one object, since a thousand groups may have the same thousands of Nodes. */
  set: InstanceSet;
  /** Registered with another port, by somebody else. */
  strays: readonly SetMember[];
  /** Of all of them; a hint that saves reads, never a reason to leave a write out. */
  hash: string;
}

/** Asked as the last statement before each write. */
type AssertValid = () => void;

/**
 * Target sets of the target groups of one cluster: the whole set in, RegisterTargets and DeregisterTargets of the difference out. What is
 * draining counts as gone. A group that bears the mark of another cluster or stack is not written to, wherever its ARN came from.
 */
export class AwsMembers implements Members {
  private readonly known = new Map<string, KnownGroup>();
  /** By group, the newest look that may still tell what is known of it: a write since it began has made it old. */
  private readonly looks = new Map<string, object>();
  /** Sets of `known` by their hash. */
  private readonly sets = new Map<string, InstanceSet>();
  /** Tags by ARN: whose a group is was decided when it was made. */
  private readonly tags = new Map<string, Tags>();
  /** Groups whose owner needs no look: an earlier process of this cluster wrote to them after such a look, or an update has just made them. */
  private readonly assumed = new Set<string>();
  private readonly turns = new LooksInTurn();
  /** By list of targets, which is never changed. */
  private readonly instances = new WeakMap<readonly Target[], InstanceSet>();

  constructor(
    private readonly elb: ElbV2,
    private readonly ec2: AwsInstances,
    private readonly clusterID: string,
  ) {}

  async sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, leftOut?: LeftOut): Promise<number> {
    const wanted = this.instancesOf(targets);
    const hash = digestOfPort(wanted, group.port);
    if (group.fresh === true) this.begin(group);
    if (!this.assumed.has(group.id)) await this.assertOurs(group);
    const known = this.known.get(group.id);
    // With the wanted hash there is no reason to write, so somebody else must have: but for a group that is empty because it is new.
    const stale = known === undefined || (known.hash === hash && group.fresh !== true) || known.port !== group.port;
    const current = stale ? await this.look(group) : known;
    if (current.hash === hash) return 0;
    // Until all is written, nothing is known.
    this.forget(group.id);
    const assertValid = (): void => assertMayWrite(signalValid, group);
    const [has, wants] = [new Set(current.set.ids), new Set(wanted.ids)];
    const missing = wanted.ids.filter((id) => !has.has(id));
    const left = current.set.ids.filter((id) => !wants.has(id)).map((instanceID) => ({ instanceID, port: group.port }));
    const [registered, deregistrations] = await exchange(
      () => this.register(group, missing, assertValid),
      () => this.deregister(group, [...left, ...current.strays], assertValid),
    ).finally(() => this.forget(group.id));
    const dead = new Set(registered.dead);
    tellLeftOut(targets, dead, leftOut);
    const set = dead.size === 0 ? wanted : instanceSet(wanted.ids.filter((id) => !dead.has(id)));
    this.remember(group.id, { port: group.port, set, strays: [], hash: digestOfPort(set, group.port) });
    if (set.ids.length === 0 && lacksIPv6(registered.refused)) throw unreachable(group.id, registered.refused);
    return registered.writes + deregistrations;
  }

  /** A group that was just made is empty; what an interrupted update left in one of that name, the drift pass takes out. */
  private begin({ id, port }: TargetGroup): void {
    const set = instanceSet([]);
    this.assumed.add(id);
    this.remember(id, { port, set, strays: [], hash: digestOfPort(set, port) });
  }

  hash({ port }: TargetGroup, targets: Target[]): string {
    return digestOfPort(this.instancesOf(targets), port);
  }

  /** There is no bulk call for registered targets: it takes one call for each target group that is read. What a process has neither read nor written itself always is. */
  async observe(inTurn = false): Promise<Map<string, string>> {
    const { ours, tags } = await this.list();
    const marks = new Map(ours.map(({ id }) => [id, this.known.has(id) && !this.assumed.has(id) ? SEEN : undefined]));
    this.turns.keep(new Set(marks.keys()));
    const due = new Set(inTurn ? this.turns.due(marks) : marks.keys());
    const before = new Map([...this.known].filter(([id]) => marks.has(id)));
    this.keep(new Map([...before].filter(([id]) => !due.has(id))));
    for (const { id } of ours) this.tags.set(id, tags.get(id) ?? {});
    const observed = new Map([...this.known].map(([id, { hash }]) => [id, hash]));
    const read = ours.filter(({ id }) => due.has(id));
    for (const batch of chunks(read, LOOKS_AT_ONCE)) {
      await Promise.all(
        batch.map(async (group) => {
          const look = await this.look(group).catch(undefinedWhenGone);
          if (look === undefined) return;
          observed.set(group.id, look.hash);
          if (look.hash === (before.get(group.id)?.hash ?? look.hash)) this.turns.noted(group.id, SEEN);
          else this.turns.forget(group.id);
        }),
      );
    }
    return observed;
  }

  /** All else is forgotten, also of groups that are gone. */
  private keep(known: ReadonlyMap<string, KnownGroup>): void {
    for (const facts of [this.known, this.sets, this.tags, this.assumed]) facts.clear();
    for (const [id, group] of known) {
      this.known.set(id, group);
      this.sets.set(group.set.hash, group.set);
    }
  }

  private async list(): Promise<{ ours: { id: string; port: number }[]; tags: Map<string, Tags> }> {
    const groups = (await this.elb.targetGroups()).map(({ TargetGroupArn: id = '', Port: port = 0 }) => ({ id, port }));
    const tags = await this.elb.presentTags(groups.map(({ id }) => id));
    return { ours: groups.filter(({ id }) => this.isOurs(tags.get(id) ?? {})), tags };
  }

  assume({ id, port }: TargetGroup, targets: Target[]): void {
    const set = this.instancesOf(targets);
    this.assumed.add(id);
    this.remember(id, { port, set, strays: [], hash: digestOfPort(set, port) });
  }

  skipped(targets: Target[]): Problem[] {
    return targets
      .filter(({ providerID }) => instanceIDOf(providerID) === undefined)
      .map(({ nodeName, providerID }) => ({
        severity: 'Warning',
        field: 'spec.providerID',
        value: providerID,
        message: whyNot(nodeName, providerID),
      }));
  }

  /** One write for each batch of which anything can be registered. */
  private async register(
    { id, port }: TargetGroup,
    missing: readonly string[],
    assertValid: AssertValid,
  ): Promise<{ writes: number; dead: string[]; refused: unknown }> {
    const send = (ids: readonly string[]): Promise<void> =>
      this.elb.registerTargets({ TargetGroupArn: id, Targets: ids.map((Id) => ({ Id, Port: port })) }, { assertValid });
    let writes = 0;
    let refused: unknown;
    const dead: string[] = [];
    const without = (ids: readonly string[], refusal: unknown): Promise<string[]> => {
      refused = refusal;
      return this.living(id, ids, refusal);
    };
    for (const batch of chunks(missing, BATCH)) {
      const living = await registerTakeable(batch, { send, without });
      writes += Number(living.length > 0);
      dead.push(...batch.filter((instanceID) => !living.includes(instanceID)));
    }
    return { writes, dead, refused };
  }

  private async deregister(group: TargetGroup, extra: readonly SetMember[], assertValid: AssertValid): Promise<number> {
    const send = (targets: readonly SetMember[]): Promise<void> => {
      const Targets = targets.map(({ instanceID, port }) => ({ Id: instanceID, Port: port }));
      return this.elb.deregisterTargets({ TargetGroupArn: group.id, Targets }, { assertValid });
    };
    let writes = 0;
    for (const batch of chunks(extra, BATCH)) {
      try {
        await send(batch);
        writes++;
      } catch (refusal) {
        if (!isInvalidTarget(refusal)) throw goneOr(refusal, group.id);
        const there = new Set((await this.registered(group.id)).map(keyOf));
        const left = batch.filter((member) => there.has(keyOf(member)));
        if (left.length === batch.length) throw refusal;
        if (left.length === 0) continue;
        await send(left);
        writes++;
      }
    }
    return writes;
  }

  /** @throws `refusal` when it has another cause than instances that can't be targets */
  private async living(groupID: string, batch: readonly string[], refusal: unknown): Promise<string[]> {
    if (!isInvalidTarget(refusal)) throw goneOr(refusal, groupID);
    const [group] = await this.elb
      .targetGroups({ TargetGroupArns: [groupID] })
      .catch((error: unknown) => Promise.reject(goneOr(error, groupID)));
    const family = group?.IpAddressType === 'ipv6' ? 'IPv6' : 'IPv4';
    return othersOf(batch, refusal, await this.ec2.takeable(batch, group?.VpcId, family));
  }

  /** @throws OperatorError NotFound when the group is gone */
  private async look({ id, port }: Pick<TargetGroup, 'id' | 'port'>): Promise<KnownGroup> {
    this.forget(id);
    this.assumed.delete(id);
    const look = {};
    this.looks.set(id, look);
    const all = await this.registered(id).catch((error: unknown) => {
      if (this.looks.get(id) === look) this.looks.delete(id);
      throw error;
    });
    const found = instanceSet(all.filter((member) => member.port === port).map(({ instanceID }) => instanceID));
    const set = this.sets.get(found.hash) ?? found;
    this.sets.set(found.hash, set);
    const seen = { port, set, strays: all.filter((member) => member.port !== port), hash: targetsDigest(all) };
    return this.looks.get(id) === look ? this.remember(id, seen) : seen;
  }

  /** Also what a look that is on its way is going to find. */
  private forget(id: string): void {
    this.known.delete(id);
    this.looks.delete(id);
  }

  private async registered(id: string): Promise<SetMember[]> {
    return registeredOf(await this.elb.targetHealth(id).catch((error: unknown) => Promise.reject(goneOr(error, id))));
  }

  private remember(id: string, known: KnownGroup): KnownGroup {
    this.looks.delete(id);
    this.known.set(id, known);
    return known;
  }

  /** @throws OperatorError Conflict naming the holder, NotFound when the group is gone */
  private async assertOurs({ id, stack }: TargetGroup): Promise<void> {
    const tags =
      this.tags.get(id) ?? (await this.elb.tags([id]).catch((error: unknown) => Promise.reject(goneOr(error, id)))).get(id) ?? {};
    if (!this.isOurs(tags) || (stack !== undefined && tags[TAG.stack] !== stack)) throw foreign(id, holderOf(tags));
    this.tags.set(id, tags);
  }

  private isOurs(tags: Tags): boolean {
    return tags[TAG.clusterID] === this.clusterID && tags[TAG.released] === undefined;
  }

  /** One for each instance; Nodes without one are left out (`skipped` tells which). The same list is not looked through twice. */
  private instancesOf(targets: Target[]): InstanceSet {
    const known =
      this.instances.get(targets) ??
      instanceSet(targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined));
    this.instances.set(targets, known);
    return known;
  }
}

/** What is registered, by what AWS says of its health: a draining target is on its way out. Pure. */
export function registeredOf(health: readonly TargetHealthDescription[]): SetMember[] {
  return health
    .filter(({ TargetHealth }) => TargetHealth?.State !== 'draining')
    .map(({ Target: { Id = '', Port = 0 } = { Id: '' } }) => ({ instanceID: Id, port: Port }));
}

function keyOf({ instanceID, port }: SetMember): string {
  return `${instanceID} ${port}`;
}

function whyNot(nodeName: string, providerID: string): string {
  const why = isFargate(providerID)
    ? 'it is a Fargate Node, which has no instance'
    : `its providerID "${providerID}" names no instance of EC2. It must be aws:///<zone>/<instance id>`;
  return `Node ${nodeName} gets no traffic: ${why}.`;
}

function isInvalidTarget(error: unknown): error is AwsError {
  return error instanceof AwsError && error.awsCode === 'InvalidTarget';
}

/** In AWS's words (kubernetes-sigs/aws-load-balancer-controller#3692). */
function lacksIPv6(refusal: unknown): boolean {
  return isInvalidTarget(refusal) && /primary IPv6 address/i.test(refusal.message);
}

/** Where some Nodes can be targets, the others are left out; where none can, nobody would be told otherwise. */
function unreachable(id: string, cause: unknown): OperatorError {
  const remedy = 'Give them one (EnablePrimaryIpv6 of the interface, PrimaryIpv6 of a launch template), or give the Service both families';
  const message = `no Node is behind target group ${id}: AWS reaches an instance by IPv6 only at the primary IPv6 address of its network interface, and none has one. ${remedy}.`;
  return new OperatorError('Invalid', message, { resource: id, remedy, cause });
}

function undefinedWhenGone(error: unknown): undefined {
  if (error instanceof OperatorError && error.code === 'NotFound') return undefined;
  throw error;
}

/** A group that is gone, in words; anything else as it is. */
function goneOr(thrown: unknown, id: string): OperatorError {
  const error = toOperatorError(thrown);
  if (error.code !== 'NotFound') return error;
  const message = `target group ${id} is not in AWS any more; the drift pass makes it again`;
  return new OperatorError('NotFound', message, { resource: id, cause: error });
}

function foreign(id: string, holder: string): OperatorError {
  return new OperatorError('Conflict', `target group ${id} is not written to: by its tags it belongs to ${holder}`, {
    resource: id,
    remedy: `Restore its tags ${TAG.clusterID} and ${TAG.stack} if it is ours.`,
  });
}
