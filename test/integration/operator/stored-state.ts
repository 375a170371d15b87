import type { JsonObject } from '../../../operator/base/json';
import { SecretStateStore } from '../../../operator/updates/state/secret-state-store';
import type { StackRecord } from '../../../operator/updates/state/stack-record';
import { updateHash } from '../../../operator/updates/update-hash';
import type { OperatorCluster } from '../../harness/operator-cluster';
import type { Scene } from './scene';

/** Where the operator of a test stores its stacks. */
export function stateStore({ kube }: Pick<OperatorCluster, 'kube'>): SecretStateStore {
  return new SecretStateStore({ api: kube, namespace: 'cloud-operator-system' });
}

/** Rewrites what is stored of a load balancer's stack, as another version of the operator would have. */
export async function rewriteState(scene: Scene, name: string, change: (record: StackRecord) => StackRecord): Promise<void> {
  const store = stateStore(scene.cluster);
  const stored = await store.read((await scene.stackOf(name)).metadata.name);
  if (stored === undefined) throw new Error(`${name} has no state`);
  await store.write({ ...change(stored.record), revision: stored.record.revision + 1 }, stored.version);
}

/** What a version before ours has written. */
export function older(record: StackRecord): StackRecord {
  const { providerKind, inputs } = record;
  return { ...record, programVersion: '0', inputsHash: updateHash({ programVersion: '0', providerKind, inputs: inputs ?? undefined }) };
}

/** The record of a program that gave the resources of one type, named without its package, other properties. */
export function withProperties(record: StackRecord, type: string, change: (properties: JsonObject) => JsonObject): StackRecord {
  const deployment = record.checkpoint?.deployment;
  if (!deployment || record.checkpoint === null) throw new Error(`stack ${record.stack} has no checkpoint`);
  const resources = deployment.resources?.map((resource) => {
    const { inputs = {}, outputs = {} } = resource;
    return resource.type.endsWith(`:${type}`) ? { ...resource, inputs: change(inputs), outputs: change(outputs) } : resource;
  });
  return { ...record, checkpoint: { ...record.checkpoint, deployment: { ...deployment, ...(resources && { resources }) } } };
}
