import { CLEANUP_FINALIZER, type Condition, DEFAULT_SERVICE_LEVERS, FIELD_MANAGERS, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { toOperatorError } from '../../../operator/base/errors';
import { keyOf } from '../../../operator/kube/object';
import type { Clouds, ServiceChoice, ServiceClaim } from '../../../operator/loops/clouds';
import type { StoredCloudLoadBalancer } from '../../../operator/loops/kinds';
import type { LoopCluster } from './cluster';

/** One provider, `cloud-a`, that takes Services without a class and those of class `example.com/ours`. */
export const CLOUDS: Clouds = {
  forService: ({ loadBalancerClass }: ServiceClaim): ServiceChoice =>
    loadBalancerClass === undefined || loadBalancerClass === 'example.com/ours'
      ? { kind: 'Chosen', provider: 'cloud-a' }
      : { kind: 'Foreign' },
  forNode: ({ providerID }) => (providerID?.startsWith('fake://') === true ? 'cloud-a' : undefined),
  compile: (_provider, annotations) => {
    const text = annotations['fake.example/drain-seconds'];
    if (text === undefined) return { blockName: 'local', block: {}, problems: [] };
    const bad = { severity: 'Error' as const, field: 'fake.example/drain-seconds', value: text, message: 'write a number of seconds' };
    return { blockName: 'local', block: { drainSeconds: Number(text) }, problems: /^[0-9]+$/.test(text) ? [] : [bad] };
  },
  whyNotConnected: () => undefined,
  supports: () => true,
  observes: () => false,
  serviceLevers: () => DEFAULT_SERVICE_LEVERS,
  providers: () => ['cloud-a'],
  leftFor: () => Promise.resolve(undefined),
};

/** Stands in for the controllers of CloudLoadBalancers: a finalizer at first sight, an address, and an end only when the cloud is done. */
export class CloudSide {
  /** While true, deleted objects stay. */
  holdsDeletes = false;
  private addresses = 9;
  private readonly unsubscribe: () => void;
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly loops: LoopCluster) {
    this.unsubscribe = loops.loadBalancers.store.onChange(({ current }) => current !== undefined && this.see(current));
  }

  /** Lets held deletes go on. */
  release(): void {
    this.holdsDeletes = false;
    for (const object of this.loops.loadBalancers.store.list()) this.see(object);
  }

  async stop(): Promise<void> {
    this.unsubscribe();
    await Promise.all(this.running);
  }

  private see(object: StoredCloudLoadBalancer): void {
    const work = this.handle(object).catch((thrown: unknown) => {
      const { code } = toOperatorError(thrown);
      if (code !== 'Conflict' && code !== 'NotFound') throw thrown;
    });
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }

  private async handle(object: StoredCloudLoadBalancer): Promise<void> {
    const { client } = this.loops;
    const { uid, resourceVersion, generation, finalizers = [], deletionTimestamp } = object.metadata;
    const key = keyOf(object.metadata);
    const ours = finalizers.includes(CLEANUP_FINALIZER);
    const setFinalizers = (to: string[]): Promise<unknown> =>
      client.patch(CLOUD_LOAD_BALANCERS, key, 'merge', { metadata: { resourceVersion, finalizers: to } });
    if (deletionTimestamp !== undefined) {
      if (ours && !this.holdsDeletes) await setFinalizers(finalizers.filter((name) => name !== CLEANUP_FINALIZER));
      return;
    }
    if (!ours) {
      await setFinalizers([...finalizers, CLEANUP_FINALIZER]);
      return;
    }
    if (object.status?.objectUID === uid && object.status.observedGeneration === generation) return;
    const ingress = object.status?.objectUID === uid ? (object.status.ingress ?? []) : [{ ip: `203.0.113.${++this.addresses}` }];
    const ready: Condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: 'serving',
      lastTransitionTime: new Date().toISOString(),
    };
    await this.report(object, { ingress, conditions: [ready] });
  }

  /** Writes a status as the cloud's controllers do. */
  async report(object: StoredCloudLoadBalancer, status: { ingress?: object[]; conditions: Condition[] }): Promise<void> {
    const { name, namespace, uid, generation } = object.metadata;
    const body = {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: { name, namespace, uid },
      status: { observedGeneration: generation, objectUID: uid, ...status },
    };
    const options = { fieldManager: FIELD_MANAGERS.cloud, force: true, subresource: 'status' } as const;
    await this.loops.client.apply(CLOUD_LOAD_BALANCERS, keyOf(object.metadata), body, options);
  }
}
