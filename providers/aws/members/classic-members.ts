import type { LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { LeftOut, Members, Target, TargetGroup } from '../../provider';
import { assertMayWrite } from '../../member-writes';
import { digestOfPort, instanceSet } from '../../target-digest';
import { AwsError } from '../client/aws-error';
import { chunks } from '../client/chunks';
import type { ClassicElb } from '../client/classic-elb';
import type { AwsInstances } from '../nodes/instances';
import { instanceIDOf } from '../nodes/provider-id';
import { fromAwsTags, holderOf, TAG, type Tags } from '../tags';
import { exchange } from './exchange';
import { tellLeftOut } from './left-out';
import { othersOf, registerTakeable } from './takeable';

/** The most instances of one call; upstream's figure for targets. */
const BATCH = 100;
/** What a registration is answered that names an instance which is not there, does not run, or is in another VPC. */
const INVALID_INSTANCE = new Set(['InvalidInstance', 'InvalidEndPoint', 'InvalidInstanceID.NotFound']);

/**
 * The instances of Classic load balancers: one set for all ports of one. `TargetGroup.id` is the load balancer's name, and the port is the lowest of
 * the Nodes' ports, which tells the set's hash. All of them are read in one bulk call.
 */
export class ClassicMembers implements Members {
  constructor(
    private readonly classic: ClassicElb,
    private readonly instances: Pick<AwsInstances, 'takeable'>,
    private readonly clusterID: string,
  ) {}

  async sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number> {
    const assertValid = (): void => assertMayWrite(signalValid, group);
    const [raw] = await this.classic.loadBalancers([group.id]).catch((error: unknown) => Promise.reject(goneOr(error, group.id)));
    await this.assertOurs(group);
    const [has, wants] = [registeredOf(raw), idsOf(targets)];
    const missing = wants.filter((id) => !has.includes(id));
    const extra = has.filter((id) => !wants.includes(id));
    const [{ writes, dead }, deregistrations] = await exchange(
      () => this.register({ LoadBalancerName: group.id, ...raw }, missing, assertValid),
      () => this.deregister(group.id, extra, assertValid),
    );
    tellLeftOut(targets, dead, left);
    return writes + deregistrations;
  }

  hash({ port }: TargetGroup, targets: Target[]): string {
    return digestOfPort(instanceSet(idsOf(targets)), port);
  }

  async observe(): Promise<Map<string, string>> {
    const all = await this.classic.loadBalancers();
    const tags = await this.classic.presentTags(all.map(({ LoadBalancerName = '' }) => LoadBalancerName));
    const ours = all.filter(({ LoadBalancerName = '' }) => this.isOurs(fromAwsTags(tags.get(LoadBalancerName))));
    return new Map(ours.map((raw) => [raw.LoadBalancerName ?? '', digestOfPort(instanceSet(registeredOf(raw)), portOf(raw))]));
  }

  /** One write for each batch of which anything can be registered. */
  private async register(
    { LoadBalancerName: name = '', VPCId: vpcID }: LoadBalancerDescription,
    missing: readonly string[],
    assertValid: () => void,
  ): Promise<{ writes: number; dead: Set<string> }> {
    const send = (ids: readonly string[]): Promise<void> => this.classic.register(name, ids, { assertValid });
    let writes = 0;
    const dead = new Set<string>();
    for (const batch of chunks(missing, BATCH)) {
      const living = await registerTakeable(batch, { send, without: (ids, refusal) => this.living(vpcID, ids, refusal) });
      writes += Number(living.length > 0);
      batch.filter((id) => !living.includes(id)).forEach((id) => dead.add(id));
    }
    return { writes, dead };
  }

  /** @throws `refusal` when it has another cause than instances that can't be registered */
  private async living(vpcID: string | undefined, batch: readonly string[], refusal: unknown): Promise<string[]> {
    if (!(refusal instanceof AwsError && INVALID_INSTANCE.has(refusal.awsCode))) throw refusal;
    return othersOf(batch, refusal, await this.instances.takeable(batch, vpcID));
  }

  private async deregister(name: string, extra: readonly string[], assertValid: () => void): Promise<number> {
    const batches = chunks(extra, BATCH);
    for (const batch of batches) await this.classic.deregister(name, batch, { assertValid });
    return batches.length;
  }

  /** @throws OperatorError Conflict naming the holder */
  private async assertOurs({ id, stack }: TargetGroup): Promise<void> {
    const tags = fromAwsTags((await this.classic.tags([id])).get(id));
    if (this.isOurs(tags) && (stack === undefined || tags[TAG.stack] === stack)) return;
    throw new OperatorError('Conflict', `load balancer ${id} is not written to: by its tags it belongs to ${holderOf(tags)}`, {
      resource: id,
      remedy: `Restore its tags ${TAG.clusterID} and ${TAG.stack} if it is ours.`,
    });
  }

  private isOurs(tags: Tags): boolean {
    return tags[TAG.clusterID] === this.clusterID && tags[TAG.released] === undefined;
  }
}

function idsOf(targets: readonly Target[]): string[] {
  return [...new Set(targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined))];
}

function registeredOf(raw: LoadBalancerDescription | undefined): string[] {
  return (raw?.Instances ?? []).map(({ InstanceId = '' }) => InstanceId);
}

function portOf({ ListenerDescriptions = [] }: LoadBalancerDescription): number {
  return Math.min(...ListenerDescriptions.map(({ Listener }) => Listener?.InstancePort ?? Number.MAX_SAFE_INTEGER));
}

/** A load balancer that is gone, in words; anything else as it is. */
function goneOr(thrown: unknown, id: string): OperatorError {
  const error = toOperatorError(thrown);
  if (error.code !== 'NotFound') return error;
  return new OperatorError('NotFound', `load balancer ${id} is not in AWS any more; the drift pass makes it again`, {
    resource: id,
    cause: error,
  });
}
