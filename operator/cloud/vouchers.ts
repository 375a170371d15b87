import { isDeepStrictEqual } from 'node:util';
import type { Ingress } from '../../crds';
import type { Store, StoreChange } from '../kube/api';
import { keyOf, type KubeMeta, type ObjectKey } from '../kube/object';
import type { StoredLoadBalancer } from './stack/load-balancer-stacks';

/** What the operator itself knows of each load balancer's points of entry, from the state of its stack. */
export class Vouchers {
  /** By UID. */
  private readonly known = new Map<string, Ingress[]>();
  private readonly listeners = new Set<(key: ObjectKey) => void>();

  /** @param ingress absent = it has none yet */
  vouch(object: KubeMeta, ingress: Ingress[] = []): void {
    if (isDeepStrictEqual(this.known.get(object.uid), ingress)) return;
    this.known.set(object.uid, ingress);
    this.listeners.forEach((tell) => tell(keyOf(object)));
  }

  /** True when the status says of the points of entry what we know ourselves; before we know, when it says nothing. */
  bears({ metadata, status }: StoredLoadBalancer): boolean {
    return isDeepStrictEqual(status?.ingress ?? [], this.known.get(metadata.uid) ?? []);
  }

  forget(uid: string): void {
    this.known.delete(uid);
  }

  onChange(listener: (key: ObjectKey) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/**
 * The CloudLoadBalancers as the loops may believe them: without the status where it names other points of entry than we know, such as
 * after a hand edit or a restore, until it is put right (design: Status used as input is not trusted).
 */
export class VouchedLoadBalancers implements Store<StoredLoadBalancer> {
  constructor(
    private readonly store: Store<StoredLoadBalancer>,
    private readonly vouchers: Vouchers,
  ) {}

  get synced(): boolean {
    return this.store.synced;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.store.whenSynced(signal);
  }

  get(key: ObjectKey): StoredLoadBalancer | undefined {
    return this.believed(this.store.get(key));
  }

  list(): StoredLoadBalancer[] {
    return this.store.list().flatMap((object) => this.believed(object) ?? []);
  }

  byIndex(index: string, value: string): StoredLoadBalancer[] {
    return this.store.byIndex(index, value).flatMap((object) => this.believed(object) ?? []);
  }

  /** Also told when what we know has changed. */
  onChange(listener: (change: StoreChange<StoredLoadBalancer>) => void): () => void {
    const tell = (key: ObjectKey, previous: StoredLoadBalancer | undefined, current: StoredLoadBalancer | undefined): void =>
      listener({ key, ...(previous && { previous }), ...(current && { current }) });
    const stops = [
      this.store.onChange(({ key, previous, current }) => {
        if (current === undefined && previous !== undefined) this.vouchers.forget(previous.metadata.uid);
        tell(key, previous, this.believed(current));
      }),
      this.vouchers.onChange((key) => {
        const current = this.get(key);
        if (current !== undefined) tell(key, current, current);
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }

  private believed(object: StoredLoadBalancer | undefined): StoredLoadBalancer | undefined {
    if (object === undefined || this.vouchers.bears(object)) return object;
    const believed = { ...object };
    delete believed.status;
    return believed;
  }
}
