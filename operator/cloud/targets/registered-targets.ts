import { CLOUD_PROVIDERS, FIELD_MANAGERS, type CloudLoadBalancerSpec, type CloudLoadBalancerStatus } from '../../../crds';
import type { TargetGroup } from '../../../providers/provider';
import { OperatorError, toOperatorError } from '../../base/errors';
import { hashJson } from '../../base/json';
import type { Logger } from '../../base/log';
import { Turns } from '../../base/turns';
import type { KubeApi, Store } from '../../kube/api';
import type { StoredProvider } from '../providers/provider-reconciler';
import type { Stored } from '../stored';

type LoadBalancer = Stored<CloudLoadBalancerSpec, CloudLoadBalancerStatus>;

export interface RegisteredTargetsOptions {
  api: Pick<KubeApi, 'get' | 'patch'>;
  providers: Pick<Store<StoredProvider>, 'get'>;
  loadBalancers: Pick<Store<LoadBalancer>, 'list'>;
  clusterID: string;
  isValid: () => boolean;
  logger: Logger;
}

/** The load balancers that have converged on one set of targets since it was met first. */
interface Converging {
  hash: string;
  uids: Set<string>;
}

/**
 * What is registered, remembered over a restart (design: Members). The hash of a CloudProvider's targets is kept in its status while all load
 * balancers that say so in theirs have exactly those; it is taken away before the first of them gets others. Forged, it costs the time to the
 * next drift pass, which asks the cloud.
 */
export class RegisteredTargets {
  /** Overrides the store, which may be behind. */
  private readonly written = new Map<string, string | undefined>();
  private readonly converging = new Map<string, Converging>();
  /** UIDs of load balancers that converged once since the start: their statuses say so, or will, though the store may not show it yet. */
  private readonly seen = new Set<string>();
  /** One write at a time for each CloudProvider. */
  private readonly turns = new Turns();

  constructor(private readonly options: RegisteredTargetsOptions) {}

  /** The groups of the load balancer have exactly these targets by what was recorded. @param targets their hash */
  vouches(provider: string, { metadata, status }: LoadBalancer, groups: readonly TargetGroup[], targets: string): boolean {
    const isItsOwn = status?.objectUID === metadata.uid && status.clusterID === this.options.clusterID;
    return isItsOwn && status.targetGroups === digestOf(groups) && this.recorded(provider) === this.stamped(provider, targets);
  }

  /** Called before a group gets these targets. @throws OperatorError when the record of others can't be taken away: then nothing may be written */
  async begin(provider: string, targets: string): Promise<void> {
    const hash = this.stamped(provider, targets);
    if (this.converging.get(provider)?.hash !== hash) this.converging.set(provider, { hash, uids: new Set() });
    await this.turns.run(provider, async () => {
      if (![undefined, hash].includes(this.recorded(provider))) await this.write(provider, undefined);
    });
  }

  /** All groups of a load balancer have these targets. The last one completes the record. */
  converged(provider: string, uid: string, targets: string): void {
    const hash = this.stamped(provider, targets);
    const before = this.converging.get(provider);
    const now = before?.hash === hash ? before : { hash, uids: new Set<string>() };
    this.converging.set(provider, now);
    now.uids.add(uid);
    this.seen.add(uid);
    if (this.recorded(provider) === hash || !this.claimants(provider).every((claimant) => now.uids.has(claimant))) return;
    const record = (): Promise<void> => (this.converging.get(provider) === now ? this.write(provider, hash) : Promise.resolve());
    void this.turns.run(provider, record).catch((thrown: unknown) => {
      const error = toOperatorError(thrown).message;
      this.options.logger.info({ provider, error }, 'registered targets are not remembered; a restart now reads them one by one');
    });
  }

  /** The load balancer is no more. @param uid of the object */
  forget(uid: string): void {
    this.seen.delete(uid);
    for (const { uids } of this.converging.values()) uids.delete(uid);
  }

  /** UIDs of the load balancers whose statuses say that their targets are registered. */
  private claimants(provider: string): string[] {
    const ofProvider = this.options.loadBalancers.list().filter(({ spec }) => spec.provider === provider);
    return ofProvider
      .filter(({ metadata, status }) => status?.targetGroups !== undefined || this.seen.has(metadata.uid))
      .map(({ metadata }) => metadata.uid);
  }

  private recorded(provider: string): string | undefined {
    if (this.written.has(provider)) return this.written.get(provider);
    return this.options.providers.get(provider)?.status?.registeredTargets;
  }

  /** Of another cluster or another CloudProvider of the same name it says nothing here. */
  private stamped(provider: string, targets: string): string {
    return hashJson([this.options.clusterID, this.options.providers.get(provider)?.metadata.uid ?? '', targets]);
  }

  /** Under the version that was read: a predecessor that lost its lease overwrites nothing. A CloudProvider that is no object yet remembers nothing. */
  private async write(provider: string, hash: string | undefined): Promise<void> {
    if (!this.options.isValid()) throw new OperatorError('Canceled', 'the lease was lost');
    const current = await this.options.api.get<StoredProvider>(CLOUD_PROVIDERS, provider);
    if (current !== undefined && current.status?.registeredTargets !== hash) {
      const { resourceVersion } = current.metadata;
      const body = { metadata: { resourceVersion }, status: { registeredTargets: hash ?? null } };
      await this.options.api.patch(CLOUD_PROVIDERS, provider, 'merge', body, { subresource: 'status', fieldManager: FIELD_MANAGERS.cloud });
    }
    this.written.set(provider, hash);
  }
}

/** Tells target groups from others; in a CloudLoadBalancer's status it says that their members are registered. Pure. */
export function digestOf(groups: readonly TargetGroup[]): string {
  return hashJson(groups.map(({ id, port }) => `${id} ${port}`).sort());
}
