import type { Store, StoreChange } from '../../kube/api';
import type { Node, ObjectKey } from '../../kube/object';
import type { CloudRegistry } from '../providers/registry';

/** Nodes for the loops that write to them: without those whose CloudProvider is only observed. */
export class UnobservedNodes implements Store<Node> {
  constructor(
    private readonly store: Store<Node>,
    private readonly registry: Pick<CloudRegistry, 'observesNode' | 'onChange'>,
  ) {}

  get synced(): boolean {
    return this.store.synced;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.store.whenSynced(signal);
  }

  get(key: ObjectKey): Node | undefined {
    const node = this.store.get(key);
    return node !== undefined && this.isShown(node) ? node : undefined;
  }

  list(): Node[] {
    return this.store.list().filter((node) => this.isShown(node));
  }

  byIndex(index: string, value: string): Node[] {
    return this.store.byIndex(index, value).filter((node) => this.isShown(node));
  }

  /** Also told of all when a CloudProvider has changed: it may not be observed any more. */
  onChange(listener: (change: StoreChange<Node>) => void): () => void {
    const stops = [
      this.store.onChange((change) => {
        if (change.current === undefined || this.isShown(change.current)) listener(change);
      }),
      this.registry.onChange(() => this.list().forEach((current) => listener({ key: current.metadata.name, current }))),
    ];
    return () => stops.forEach((stop) => stop());
  }

  private isShown({ metadata: { name, labels = {} }, spec: { providerID } }: Node): boolean {
    return !this.registry.observesNode({ name, labels, ...(providerID !== undefined && { providerID }) });
  }
}
