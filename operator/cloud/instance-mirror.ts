import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, FIELD_MANAGERS, type CloudInstanceSpec, type CloudInstanceStatus, CLOUD_INSTANCES } from '../../crds';
import type { KubeApi, Store } from '../kube/api';
import type { Node } from '../kube/object';
import type { InstanceDirectory, Lookup } from './instance-directory';
import type { Stored } from './stored';

export type StoredInstance = Stored<CloudInstanceSpec, CloudInstanceStatus>;

export interface InstanceMirrorOptions {
  api: KubeApi;
  nodes: Store<Node>;
  store: Store<StoredInstance>;
  directory: InstanceDirectory;
  /** How old the listing that serves the mirror may be, in milliseconds. */
  maxAgeMs: number;
}

/** Mirrors what the cloud says about each Node's machine as a CloudInstance of the same name; written only when something changed. */
export class InstanceMirror {
  constructor(private readonly options: InstanceMirrorOptions) {}

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
    const head = { apiVersion: API_VERSION, kind: 'CloudInstance' };
    const options = { fieldManager: FIELD_MANAGERS.cloud, force: true };
    if (
      before === undefined ||
      !isDeepStrictEqual(before.spec, mirrored.spec) ||
      before.metadata.ownerReferences?.[0]?.uid !== node.metadata.uid
    ) {
      await this.options.api.apply(CLOUD_INSTANCES, nodeName, { ...head, metadata: mirrored.metadata, spec: mirrored.spec }, options);
    }
    if (!isDeepStrictEqual(before?.status, mirrored.status)) {
      const body = { ...head, metadata: { name: nodeName }, status: mirrored.status };
      await this.options.api.apply(CLOUD_INSTANCES, nodeName, body, { ...options, subresource: 'status' });
    }
  }
}

/** The CloudInstance for a Node; undefined while no provider claims it. Pure. */
export function mirrorOf(
  node: Node,
  lookup: Lookup,
): { metadata: object; spec: CloudInstanceSpec; status: CloudInstanceStatus } | undefined {
  if (lookup.state !== 'Found' && lookup.state !== 'Missing') return undefined;
  const { name, uid } = node.metadata;
  const providerID = lookup.state === 'Found' ? lookup.metadata.providerID : node.spec.providerID;
  const spec: CloudInstanceSpec = { provider: lookup.provider, nodeName: name, ...(providerID === undefined ? {} : { providerID }) };
  const metadata = { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] };
  if (lookup.state === 'Missing') return { metadata, spec, status: { observedGeneration: 1, state: 'Missing' } };
  const { instance } = lookup;
  const status: CloudInstanceStatus = {
    observedGeneration: 1,
    id: instance.id,
    state: lookup.shutdown ? 'Stopped' : 'Running',
    type: instance.type,
    zone: instance.zone,
    region: instance.region,
    addresses: instance.addresses.map(({ type, address }) => ({ type, address })),
  };
  return { metadata, spec, status };
}
