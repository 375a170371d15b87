import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { Store } from '../../kube/api';
import { keyOf } from '../../kube/object';
import { resultOf, type StackState } from '../../updates/update';
import type { CloudFindings } from '../drift/cloud-findings';
import { inCloudOf, leverOn } from '../levers';
import { keyOfInput } from '../stack/member-input';
import { isConnected, type CloudRegistry, type ConnectedCloud } from '../providers/registry';
import { membersOf, providerAmong, type StackIndex } from '../stack/stack-index';
import type { Knowledge, Member, StackKind } from '../stack/stack-kind';
import type { AcceptedInputs } from '../stack/stack-plan';
import type { StackRecord } from '../stack/stack-record';
import { isOfTheStore, type StateReads } from '../stack/state-reads';
import { keepsTargets } from './keeps-targets';

export interface TargetFollowerOptions<O extends Member> {
  kind: StackKind<O>;
  store: Store<O>;
  index: StackIndex;
  registry: CloudRegistry;
  record: Pick<StackRecord, 'providerOf'>;
  reads: StateReads;
  findings: CloudFindings;
  logger: Logger;
}

/** A stack that can't be brought to what its members ask for, now. */
interface LeftAlone<O> {
  stack: string;
  members: readonly O[];
  cloud: ConnectedCloud;
}

/**
 * Lets the targets of stacks follow the Nodes whose update fails, waits or is held up, or whose state can't be read: that needs no engine, and traffic
 * must not wait for it (design: Members). What a group is, the state says, else the cloud's tags; a status is not asked.
 */
export class TargetFollower<O extends Member> {
  /** Stacks whose update waits for the state store. */
  private readonly heldUp = new Set<string>();

  constructor(private readonly options: TargetFollowerOptions<O>) {}

  isHeldUp(stack: string): boolean {
    return this.heldUp.has(stack);
  }

  /** The stack's update waits for the state store, or no longer does. */
  holdUp(stack: string, held: boolean): void {
    if (!held) this.heldUp.delete(stack);
    else if (!this.heldUp.has(stack)) {
      this.heldUp.add(stack);
      void this.follow(stack);
    }
  }

  /** What goes wrong is logged: why the stack is left alone is what its members say. */
  async follow(stack: string): Promise<void> {
    const { kind, index, store, registry, record } = this.options;
    const members = membersOf(index, store, stack);
    const provider = record.providerOf(stack) ?? providerAmong(members, registry) ?? '';
    const cloud = registry.get(provider);
    if (kind.follow === undefined || !isConnected(cloud) || registry.accounts.refusal(provider) !== undefined) return;
    await this.bring({ stack, members, cloud }).catch((thrown: unknown) => this.complain(stack, undefined, thrown));
  }

  private async bring(left: LeftAlone<O>): Promise<void> {
    let state: StackState | undefined;
    try {
      state = await this.options.reads.state(left.stack);
    } catch (thrown) {
      return this.byTags(left, isOfTheStore(toOperatorError(thrown)));
    }
    if (state !== undefined) await this.byState(left, state);
    // It was lost, and can't be made anew now, or not to its end. Where nothing was ever said to serve, the cloud needn't be asked.
    const isLost = (object: O): boolean => state?.accepted?.[object.metadata.uid] === undefined && this.options.kind.serving(object, {});
    const members = left.members.filter(isLost);
    if (members.length > 0) await this.byTags({ ...left, members }, false);
  }

  private async byState({ stack, members, cloud }: LeftAlone<O>, state: StackState): Promise<void> {
    const accepted = Object.values((state.accepted ?? {}) as unknown as AcceptedInputs);
    const objects = new Map(members.map((object) => [object.metadata.uid, object]));
    for (const input of accepted.filter((one) => keepsTargets(one, cloud.name, this.options))) {
      const object = objects.get(input.uid);
      const settlement = { stack, cloud, result: resultOf(state) };
      const work = object === undefined ? this.options.kind.keep(settlement, input) : this.followOne(object, { stack, cloud, state });
      await work.catch((thrown: unknown) => this.complain(stack, keyOfInput(input), thrown));
    }
  }

  /** @param all whether other stacks are in the same trouble */
  private async byTags({ stack, members, cloud }: LeftAlone<O>, all: boolean): Promise<void> {
    const found = await this.options.findings.of(stack, cloud, all);
    for (const object of members) {
      const { metadata } = object;
      if (metadata.deletionTimestamp !== undefined || leverOn(inCloudOf(cloud.name, object), this.options.registry)?.members === false)
        continue;
      await this.followOne(object, { stack, cloud, found }).catch((thrown: unknown) => {
        // What was found may be gone by now.
        this.options.findings.forget(stack);
        this.complain(stack, keyOf(metadata), thrown);
      });
    }
  }

  private async followOne(object: O, known: Knowledge): Promise<void> {
    await this.options.kind.follow?.(object, known);
  }

  private complain(stack: string, member: string | undefined, thrown: unknown): void {
    this.options.logger.warn({ stack, member, error: toOperatorError(thrown).message }, 'targets not kept');
  }
}
