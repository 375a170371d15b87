import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../base/clock';
import type { Store, StoreChange } from '../kube/api';
import type { KubeObject } from '../kube/object';

/** In seconds. */
const READY_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** An object of ours, as far as its metrics go. */
export interface Measured extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] | undefined } | undefined;
}

/** How long people wait for our objects: until the first time that they are Ready, and while they are being deleted. */
export class ObjectMetrics {
  private readonly untilReady: Histogram<'kind'>;
  private readonly stores = new Map<string, Pick<Store<Measured>, 'list'>>();

  constructor(
    registers: Registry[],
    private readonly clock: Clock,
  ) {
    this.untilReady = new Histogram({
      name: 'cloud_operator_time_to_ready_seconds',
      help: 'From the creation of an object until it was Ready for the first time that this process saw',
      labelNames: ['kind'],
      buckets: READY_BUCKETS,
      registers,
    });
    const measure = (gauge: Gauge<'kind'>): void => this.stores.forEach((store, kind) => gauge.set({ kind }, this.oldestDeletion(store)));
    new Gauge({
      name: 'cloud_operator_deleting_oldest_seconds',
      help: 'For how long the oldest object has been being deleted; 0 = none is',
      labelNames: ['kind'],
      registers,
      collect() {
        measure(this);
      },
    });
  }

  /** Follows the objects of a kind until the returned function is called. */
  follow(kind: string, store: Pick<Store<Measured>, 'list' | 'onChange'>): () => void {
    const seen = new Set<string>();
    this.stores.set(kind, store);
    return store.onChange((change) => this.changed(kind, seen, change));
  }

  /** What was Ready when it was first seen became so before this process. */
  private changed(kind: string, seen: Set<string>, { previous, current }: StoreChange<Measured>): void {
    if (current === undefined) return void seen.delete(previous?.metadata.uid ?? '');
    const { uid, creationTimestamp } = current.metadata;
    if (!isReady(current) || seen.has(uid)) return;
    seen.add(uid);
    if (previous === undefined || isReady(previous)) return;
    this.untilReady.observe({ kind }, Math.max(0, (this.clock.now() - Date.parse(creationTimestamp)) / 1000));
  }

  private oldestDeletion(store: Pick<Store<Measured>, 'list'>): number {
    const now = this.clock.now();
    const ages = store
      .list()
      .flatMap(({ metadata: { deletionTimestamp } }) =>
        deletionTimestamp === undefined ? [] : [(now - Date.parse(deletionTimestamp)) / 1000],
      );
    return Math.max(0, ...ages);
  }
}

function isReady({ status }: Measured): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}
