import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../base/clock';
import type { Store, StoreChange } from '../kube/api';
import { isReady, stateOf, type Judged, type ObjectState } from './object-state';

/** In seconds. */
const READY_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** How an object is, and since when it has been being deleted, if it is. */
type Standing = ObjectState & { deletedAt?: number };

/** How objects are, and how long people wait for them: until they are Ready for the first time, while they are not, and while they are being deleted. */
export class ObjectMetrics {
  private readonly untilReady: Histogram<'kind'>;
  private readonly stores = new Map<string, Pick<Store<Judged>, 'list'>>();

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
    const each = (measure: (kind: string, objects: Standing[]) => void): void =>
      this.stores.forEach((store, kind) => measure(kind, store.list().flatMap(standingOf)));
    new Gauge({
      name: 'cloud_operator_objects',
      help: 'Objects by what their conditions say: Ready, Reconciling or Stalled, and why',
      labelNames: ['kind', 'state', 'reason'],
      registers,
      collect() {
        this.reset();
        each((kind, objects) => objects.forEach(({ state, reason }) => this.inc({ kind, state, reason })));
      },
    });
    const oldest = (name: string, help: string, sinceOf: (object: Standing) => number | undefined): Gauge<'kind'> =>
      new Gauge({
        ...{ name, help, labelNames: ['kind'], registers },
        collect() {
          each((kind, objects) => this.set({ kind }, secondsSince(objects.map(sinceOf), clock)));
        },
      });
    oldest(
      'cloud_operator_unsettled_oldest_seconds',
      'For how long the oldest object has not been as its spec asks, without what a lever or a policy makes wait; 0 = all are',
      ({ unsettledSince }) => unsettledSince,
    );
    oldest(
      'cloud_operator_deleting_oldest_seconds',
      'For how long the oldest object has been being deleted; 0 = none is',
      ({ deletedAt }) => deletedAt,
    );
  }

  /** Follows the objects of a kind until the returned function is called. */
  follow(kind: string, store: Pick<Store<Judged>, 'list' | 'onChange'>): () => void {
    const seen = new Set<string>();
    this.stores.set(kind, store);
    return store.onChange((change) => this.changed(kind, seen, change));
  }

  /** What was Ready when it was first seen became so before this process. */
  private changed(kind: string, seen: Set<string>, { previous, current }: StoreChange<Judged>): void {
    if (current === undefined) return void seen.delete(previous?.metadata.uid ?? '');
    const { uid, creationTimestamp } = current.metadata;
    if (!isReady(current) || seen.has(uid)) return;
    seen.add(uid);
    if (previous === undefined || isReady(previous)) return;
    this.untilReady.observe({ kind }, Math.max(0, (this.clock.now() - Date.parse(creationTimestamp)) / 1000));
  }
}

/** A Service that is nobody's of ours is none. */
function standingOf(object: Judged): Standing[] {
  const judged = stateOf(object);
  const { deletionTimestamp } = object.metadata;
  return judged === undefined ? [] : [{ ...judged, ...(deletionTimestamp !== undefined && { deletedAt: Date.parse(deletionTimestamp) }) }];
}

/** Of the first of these times; 0 = there is none. */
function secondsSince(times: readonly (number | undefined)[], clock: Pick<Clock, 'now'>): number {
  const first = Math.min(Infinity, ...times.filter((time) => time !== undefined));
  return Math.max(0, (clock.now() - first) / 1000);
}
