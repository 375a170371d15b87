import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, FIELD_MANAGERS, type CloudInstanceSpec, type CloudInstanceStatus, CLOUD_INSTANCES } from '../../../crds';
import { sleep, type Clock } from '../../base/clock';
import type { KubeApi, Store, StoreChange } from '../../kube/api';
import { isReady } from '../../kube/node';
import type { Node } from '../../kube/object';
import type { KeyedQueue } from '../../kube/queue';
import type { InstanceDirectory, Lookup } from './instance-directory';
import type { CloudRegistry } from '../providers/registry';
import type { Stored } from '../stored';

export type StoredInstance = Stored<CloudInstanceSpec, CloudInstanceStatus>;

export interface InstanceMirrorOptions {
  api: KubeApi;
  nodes: Store<Node>;
  store: Store<StoredInstance>;
  directory: InstanceDirectory;
  registry: Pick<CloudRegistry, 'onChange'>;
  /** How old the listing that serves the mirror may be, in milliseconds. */
  maxAgeMs: number;
  queue: KeyedQueue;
  clock: Clock;
}

const HEAD = { apiVersion: API_VERSION, kind: 'CloudInstance' };
const AS_OURS = { fieldManager: FIELD_MANAGERS.cloud, force: true };

/** Every machine is looked at so often: of what only the cloud knows, no change of a Node tells. */
const LOOK_AT_ALL_MS = 300_000;

/** Mirrors what the cloud says about each Node's machine as a CloudInstance of the same name; written only when something changed. */
export class InstanceMirror {
  constructor(private readonly options: InstanceMirrorOptions) {}

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { queue, registry } = this.options;
    // A CloudProvider that came, or has other settings, may have the Nodes of one that went.
    const stop = registry.onChange(() => this.lookAtAll());
    this.lookAtAll();
    await Promise.all([queue.run(1, (node) => this.reconcile(node), signal), this.lookForEver(signal)]);
    stop();
  }

  /** Heartbeats of thousands of Nodes are no reason to list the cloud's machines. */
  onNode({ key, previous, current }: StoreChange<Node>): void {
    if (current === undefined) return;
    if (previous === undefined || !isDeepStrictEqual(relevant(previous), relevant(current))) this.options.queue.add(key);
  }

  private lookAtAll(): void {
    this.options.nodes.list().forEach(({ metadata }) => this.options.queue.add(metadata.name, 'Low'));
  }

  private async lookForEver(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.options.clock, LOOK_AT_ALL_MS, signal).catch(() => undefined); // the end
      if (!signal.aborted) this.lookAtAll();
    }
  }

  /** One pass over one Node; the CloudInstance of a Node that is gone is left to its ownerReference. */
  async reconcile(nodeName: string): Promise<void> {
    const node = this.options.nodes.get(nodeName);
    if (node === undefined) return;
    const { providerID } = node.spec;
    const identity = { name: nodeName, labels: node.metadata.labels ?? {}, ...(providerID === undefined ? {} : { providerID }) };
    const lookup = await this.options.directory.lookup(identity, this.options.maxAgeMs);
    const mirrored = mirrorOf(node, lookup);
    const before = this.options.store.get(nodeName);
    if (mirrored === undefined) return;
    const current = await this.applied(node, mirrored, before);
    // Of another machine it has another generation: kstatus takes an older one for work that goes on.
    const status = { ...mirrored.status, observedGeneration: current?.metadata.generation ?? 1 };
    if (isDeepStrictEqual(before?.status, status)) return;
    const body = { ...HEAD, metadata: { name: nodeName }, status };
    await this.options.api.apply(CLOUD_INSTANCES, nodeName, body, { ...AS_OURS, subresource: 'status' });
  }

  /** Its spec and owner, written where they differ. @returns the object as it is then */
  private async applied(node: Node, mirrored: Mirrored, before: StoredInstance | undefined): Promise<StoredInstance | undefined> {
    const isOwned = before?.metadata.ownerReferences?.[0]?.uid === node.metadata.uid;
    if (isOwned && isDeepStrictEqual(before.spec, mirrored.spec)) return before;
    const body = { ...HEAD, metadata: mirrored.metadata, spec: mirrored.spec };
    return this.options.api.apply<StoredInstance>(CLOUD_INSTANCES, node.metadata.name, body, AS_OURS);
  }
}

/** A machine that stops or goes makes its Node not Ready, and the lifecycle loop, whose listing is newer than that, gives it a taint or takes it off. */
function relevant(node: Node): object {
  const { uid, labels } = node.metadata;
  const { providerID, taints } = node.spec;
  return { uid, labels, providerID, taints, ready: isReady(node), addresses: node.status?.addresses };
}

interface Mirrored {
  metadata: object;
  spec: CloudInstanceSpec;
  status: CloudInstanceStatus;
}

/** The CloudInstance for a Node; undefined while no provider claims it. Pure. */
export function mirrorOf(node: Node, lookup: Lookup): Mirrored | undefined {
  if (lookup.state !== 'Found' && lookup.state !== 'Missing') return undefined;
  const { name, uid } = node.metadata;
  const providerID = lookup.state === 'Found' ? lookup.metadata.providerID : node.spec.providerID;
  const spec: CloudInstanceSpec = { provider: lookup.provider, nodeName: name, ...(providerID === undefined ? {} : { providerID }) };
  const metadata = { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] };
  if (lookup.state === 'Missing') return { metadata, spec, status: { state: 'Missing' } };
  const { instance } = lookup;
  const status: CloudInstanceStatus = {
    id: instance.id,
    state: lookup.shutdown ? 'Stopped' : 'Running',
    type: instance.type,
    zone: instance.zone,
    region: instance.region,
    addresses: instance.addresses.map(({ type, address }) => ({ type, address })),
  };
  return { metadata, spec, status };
}
