import { OperatorError } from '../../operator/base/errors';
import type { Members, Problem, Target, TargetGroup } from '../provider';
import { assertMayWrite } from '../member-writes';
import type { PoolDigest } from './api';
import type { LocalCloudClient } from './client';
import { instanceIDOf } from './provider-id';
import { digestOfPort, instanceSet, type InstanceSet } from '../target-digest';

/** What is known of a pool from the last look at it. */
interface KnownPool {
  /** Of the set that was last seen or written; a hint that saves reads, never a reason to leave a write out. */
  hash: string;
  /** The stack that made it. */
  stack: string | undefined;
}

/**
 * Target sets of the pools of one cluster: the whole set in, one PUT out, and only when the set differs. A pool that bears the mark of another
 * cluster or stack is not written to, wherever its id came from.
 */
export class LocalMembers implements Members {
  /** By pool id. Only pools of this cluster are in it. */
  private readonly known = new Map<string, KnownPool>();
  /** By list of targets, which is never changed. */
  private readonly instances = new WeakMap<readonly Target[], InstanceSet>();

  constructor(
    private readonly client: LocalCloudClient,
    private readonly clusterID: string,
  ) {}

  async sync(group: TargetGroup, targets: Target[], signalValid: () => boolean): Promise<number> {
    const wanted = this.instancesOf(targets);
    const hash = digestOfPort(wanted, group.port);
    const known = this.known.get(group.id);
    const current = known === undefined || known.hash === hash ? await this.look(group.id) : known;
    if (group.stack !== undefined && current.stack !== group.stack) throw foreign(group.id, `stack ${current.stack ?? 'unknown'}`);
    if (current.hash === hash) return 0;
    this.known.delete(group.id);
    const options = { assertValid: () => assertMayWrite(signalValid, group) };
    const pool = await this.client.setTargets(group.id, wanted.ids, group.port, options).catch(async (error: unknown) => {
      return this.client.setTargets(group.id, await this.withoutDead(group, wanted.ids, error), group.port, options);
    });
    this.remember(pool);
    return 1;
  }

  hash({ port }: TargetGroup, targets: Target[]): string {
    return digestOfPort(this.instancesOf(targets), port);
  }

  async observe(): Promise<Map<string, string>> {
    const pools = await this.client.poolDigests({ cluster: this.clusterID });
    this.known.clear();
    return new Map(pools.map((pool) => [pool.id, this.remember(pool).hash]));
  }

  skipped(targets: Target[]): Problem[] {
    return targets
      .filter(({ providerID }) => instanceIDOf(providerID) === undefined)
      .map(({ nodeName, providerID }) => ({
        severity: 'Warning',
        field: 'spec.providerID',
        value: providerID,
        message: `Node ${nodeName} gets no traffic: its providerID "${providerID}" names no instance of the local cloud. It must be local:///<zone>/<id>.`,
      }));
  }

  /**
   * The cloud refuses a whole set for one instance that is no more; its Node goes soon, and the others must not wait for that.
   * @throws `refusal` when it has another cause
   */
  private async withoutDead({ id }: TargetGroup, wanted: readonly string[], refusal: unknown): Promise<string[]> {
    if (refusal instanceof OperatorError && refusal.code === 'NotFound') throw gone(id);
    if (!(refusal instanceof OperatorError) || refusal.code !== 'Invalid') throw refusal;
    const all = await this.client.list('instances');
    const living = new Set(all.filter(({ power, state }) => power !== 'terminated' && state !== 'deleting').map(({ id }) => id));
    const left = wanted.filter((instanceID) => living.has(instanceID));
    if (left.length === wanted.length) throw refusal;
    return left;
  }

  /** @throws OperatorError NotFound when the pool is gone, Conflict when it is another cluster's */
  private async look(poolID: string): Promise<KnownPool> {
    const pool = await this.client.poolDigest(poolID);
    this.known.delete(poolID);
    if (pool === undefined) throw gone(poolID);
    if (pool.tags.clusterID !== this.clusterID) throw foreign(poolID, `cluster ${pool.tags.clusterID ?? 'unknown'}`);
    return this.remember(pool);
  }

  /** One for each instance; Nodes whose providerID names none are left out (`skipped` tells which). The same list is not looked through twice. */
  private instancesOf(targets: Target[]): InstanceSet {
    const known =
      this.instances.get(targets) ??
      instanceSet(targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined));
    this.instances.set(targets, known);
    return known;
  }

  private remember({ id, targetsDigest, tags }: PoolDigest): KnownPool {
    const known = { hash: targetsDigest, stack: tags.stack };
    this.known.set(id, known);
    return known;
  }
}

function foreign(poolID: string, owner: string): OperatorError {
  return new OperatorError('Conflict', `target pool ${poolID} is not written to: by its tags it belongs to ${owner}`, {
    resource: poolID,
    remedy: 'Restore its tags clusterID and stack if it is ours.',
  });
}

function gone(poolID: string): OperatorError {
  const message = `target pool ${poolID} is not in the local cloud any more; the drift pass makes it again`;
  return new OperatorError('NotFound', message, { resource: poolID });
}
