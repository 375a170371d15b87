import type { SecurityGroup } from '@aws-sdk/client-ec2';
import type { Clock } from '../../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { CallOptions } from '../../client-options';
import { AwsError } from '../client/aws-error';
import type { Ec2 } from '../client/ec2';
import { referencedBy, referencesTo } from './group-references';
import { closeNodes } from './node-rules';
import { fromAwsTags, holderOf, TAG, toAwsTags, type Tags } from '../tags';

/** Marks: when the backend group's removal began, and that a frontend group's load balancer is gone. */
const REMOVING = 'cloud-operator.dev/removing';
const LEAVING = 'cloud-operator.dev/leaving';
/** A removal takes some calls; one that began longer ago was cut off, and whoever finds it ends it. */
const CUT_OFF_MS = 60_000;
/** AWS takes minutes to let go of a group after its last load balancer; the next try of the update goes on from here. */
const IN_USE_RETRY_MS = 15_000;

/** Name of the one group that lets a cluster's load balancers in to its Nodes. */
export function backendGroupName(clusterID: string): string {
  return `cloud-operator-backend-${clusterID}`;
}

/** The stack that a backend group without load balancers is told as, since it is nobody's (docs/operate/sweep.md). Pure. */
export function leftBackendStack(groupID: string): string {
  return `aws-backend-${groupID}`;
}

/** Of whom the backend group is asked for, or given back. */
export interface BackendUser {
  stack: string;
  /** Name in the program of the load balancer's own group. It is there before the backend group is asked for, and goes after it is given back. */
  frontend: string;
}

/**
 * The backend groups of a cluster, one for each VPC, which no load balancer uses and nobody is removing. Pure.
 * @param groups all security groups with the cluster's mark
 * @param now milliseconds since 1970
 * @returns their ids
 */
export function leftBackendsOf(groups: readonly SecurityGroup[], clusterID: string, now: number): string[] {
  const seen = groups.map(seenOf);
  const backends = seen.filter(({ name, tags }) => name === backendGroupName(clusterID) && tags[TAG.released] === undefined);
  const isLeft = ({ tags, vpcID }: Seen): boolean => !isBeingRemoved(tags[REMOVING], now) && !isUsed(inVPC(seen, vpcID));
  return backends.filter(isLeft).map(({ id }) => id);
}

/** One that began long ago was cut off; and so was one that begins in an hour, by a clock that is wrong: nobody waits for it. */
function isBeingRemoved(since: string | undefined, now: number): boolean {
  return since !== undefined && Math.abs(now - Date.parse(since)) < CUT_OFF_MS;
}

interface Seen {
  id: string;
  name: string;
  vpcID: string;
  tags: Tags;
}

/**
 * The backend group of a cluster in a VPC, which all its load balancers there have beside their own. No stack owns it: the first that needs it makes it, the last
 * removes it. Two that do so at once can't miss each other: a user's own group is its claim, made before it looks for a mark of removal; who
 * removes sets that mark before it looks for claims.
 */
export class BackendGroup {
  constructor(
    private readonly ec2: Ec2,
    private readonly clusterID: string,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns its id
   * @throws OperatorError Transient while it is just being removed; Conflict when its name is somebody else's
   */
  async ensure(user: BackendUser, vpcID: string, options: CallOptions): Promise<string> {
    const seen = inVPC(await this.look(options), vpcID);
    const own = seen.find((group) => isOwn(group, user));
    if (own?.tags[LEAVING] !== undefined) await this.ec2.deleteTags([own.id], [LEAVING], options);
    const group = seen.find(({ name }) => name === backendGroupName(this.clusterID));
    if (group === undefined) return this.create(vpcID, options);
    const removing = group.tags[REMOVING];
    if (removing === undefined) return group.id;
    if (isBeingRemoved(removing, this.clock.now())) throw new OperatorError('Transient', `${group.id} is just being removed`);
    await this.remove(group.id, options);
    return this.create(vpcID, options);
  }

  /**
   * Gives it back; the last user removes it, and the rules that let it in to Nodes.
   * @throws OperatorError Conflict while AWS says that something still has it
   */
  async release(user: BackendUser, options: CallOptions): Promise<void> {
    const before = await this.look(options);
    const own = before.filter((one) => isOwn(one, user));
    const group = before.find(({ name, vpcID }) => name === backendGroupName(this.clusterID) && (own[0]?.vpcID ?? vpcID) === vpcID);
    if (group === undefined) return;
    const now = new Date(this.clock.now()).toISOString();
    const marked = own.map(({ id }) => id);
    if (own.length > 0) await this.ec2.createTags(marked, toAwsTags({ [LEAVING]: now }), options);
    if (isUsed(inVPC(await this.look(options), group.vpcID), user)) return;
    if (!(await this.markRemoving(group.id, options))) return;
    const used = isUsed(inVPC(await this.look(options), group.vpcID), user);
    const busy = !used && (await this.interfacesOf(group.id, options)).length > 0;
    if (!used && !busy) return this.remove(group.id, options);
    if ((await this.unmarkRemoving(group.id, options)) && busy) throw stillInUse(group.id);
  }

  /**
   * Removes it where no load balancer uses it.
   * @throws OperatorError Conflict where one does, or AWS says that something still has it
   */
  async removeLeft(id: string, options: CallOptions): Promise<void> {
    const all = await this.look(options);
    const group = all.find((one) => one.id === id && one.name === backendGroupName(this.clusterID));
    if (group === undefined) return;
    const before = inVPC(all, group.vpcID);
    if (!isUsed(before) && !(await this.markRemoving(group.id, options))) return;
    const isNeeded = isUsed(before) || isUsed(inVPC(await this.look(options), group.vpcID));
    const isBusy = !isNeeded && (await this.interfacesOf(group.id, options)).length > 0;
    if (!isNeeded && !isBusy) return this.remove(group.id, options);
    if (!(await this.unmarkRemoving(group.id, options))) return;
    if (isBusy) throw stillInUse(group.id);
    throw new OperatorError('Conflict', `security group ${group.id} is used by load balancers again, and is not deleted`, {
      resource: group.id,
    });
  }

  /** @returns false where somebody was faster, and it is gone */
  private markRemoving(id: string, options: CallOptions): Promise<boolean> {
    const mark = toAwsTags({ [REMOVING]: new Date(this.clock.now()).toISOString() });
    return isThere(this.ec2.createTags([id], mark, options));
  }

  /** @returns false where somebody was faster, and it is gone */
  private unmarkRemoving(id: string, options: CallOptions): Promise<boolean> {
    return isThere(this.ec2.deleteTags([id], [REMOVING], options));
  }

  private async create(vpcID: string, options: CallOptions): Promise<string> {
    const name = backendGroupName(this.clusterID);
    const Tags = toAwsTags({ [TAG.clusterID]: this.clusterID, Name: name });
    try {
      const { GroupId = '' } = await this.ec2.createSecurityGroup(
        {
          GroupName: name,
          Description: 'Lets the load balancers of cloud-operator in to the Nodes',
          VpcId: vpcID,
          TagSpecifications: [{ ResourceType: 'security-group', Tags }],
        },
        options,
      );
      return GroupId;
    } catch (thrown) {
      const error = toOperatorError(thrown);
      const exists = error instanceof AwsError && error.awsCode === 'InvalidGroup.Duplicate';
      if (!exists && error.code !== 'Transient') throw error;
      return this.made(vpcID, error, options);
    }
  }

  /** Another stack was faster, or the answer was lost. */
  private async made(vpcID: string, cause: OperatorError, options: CallOptions): Promise<string> {
    const filters = [
      { Name: 'group-name', Values: [backendGroupName(this.clusterID)] },
      { Name: 'vpc-id', Values: [vpcID] },
    ];
    const [found] = (await this.ec2.securityGroups(filters, options)).map(seenOf);
    if (found === undefined) throw new OperatorError('Transient', cause.message, { cause });
    if (found.tags[TAG.clusterID] === this.clusterID) return found.id;
    throw new OperatorError(
      'Conflict',
      `security group ${found.id} has the name of the cluster's, but by its tags it belongs to ${holderOf(found.tags)}`,
    );
  }

  private async remove(id: string, options: CallOptions): Promise<void> {
    await closeNodes(this.ec2, id, this.clusterID, options);
    try {
      await this.ec2.deleteSecurityGroup(id, options);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code === 'NotFound') return;
      if (!(error instanceof AwsError && error.awsCode === 'DependencyViolation')) throw error;
      throw stillInUse(id, error, referencedBy(await referencesTo(this.ec2, id, options)));
    }
  }

  private interfacesOf(id: string, options: CallOptions): ReturnType<Ec2['networkInterfaces']> {
    return this.ec2.networkInterfaces([{ Name: 'group-id', Values: [id] }], options);
  }

  /** The cluster's groups: the backend group, and those of its users. */
  private async look(options: CallOptions): Promise<Seen[]> {
    return (await this.ec2.securityGroups([{ Name: `tag:${TAG.clusterID}`, Values: [this.clusterID] }], options)).map(seenOf);
  }
}

/** @returns false where a write found what it was to change gone */
async function isThere(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (thrown) {
    if (toOperatorError(thrown).code === 'NotFound') return false;
    throw thrown;
  }
}

function seenOf({ GroupId: id = '', GroupName: name = '', VpcId: vpcID = '', Tags }: SecurityGroup): Seen {
  return { id, name, vpcID, tags: fromAwsTags(Tags) };
}

/** Two CloudProviders of one account may each have a VPC of their own. */
function inVPC(seen: readonly Seen[], vpcID: string): Seen[] {
  return seen.filter((group) => group.vpcID === vpcID);
}

function isOwn({ tags }: Seen, { stack, frontend }: BackendUser): boolean {
  return tags[TAG.stack] === stack && tags[TAG.resource] === frontend;
}

/** By others than `user`; what was released to nobody uses it still. */
function isUsed(seen: readonly Seen[], user?: BackendUser): boolean {
  const isAnothers = (group: Seen): boolean => user === undefined || !isOwn(group, user);
  return seen.some((group) => group.tags[TAG.stack] !== undefined && group.tags[LEAVING] === undefined && isAnothers(group));
}

const LETS_GO_LATER = {
  why: 'something still has it',
  remedy: 'AWS takes some minutes to let go of it; if it lasts, find what has it in the console.',
};

function stillInUse(id: string, cause?: OperatorError, { why, remedy } = LETS_GO_LATER): OperatorError {
  const message = `security group ${id} can't be deleted yet, because ${why}. ${remedy}`;
  return new OperatorError('Conflict', message, { retryAfterMs: IN_USE_RETRY_MS, resource: id, ...(cause !== undefined && { cause }) });
}
