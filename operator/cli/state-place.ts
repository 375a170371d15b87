import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../base/errors';
import { KubeClient } from '../kube/client';
import { loadKubeConfig } from '../kube/kube-config';
import { NAMESPACES, type KubeObject } from '../kube/object';
import { DirectoryStateStore } from '../updates/state/directory-state-store';
import type { KeyProtection } from '../updates/state/keyring-envelope';
import { openStateStore, type StatePlace } from '../updates/state/open';
import { keyEncryptionKey } from '../updates/state/secrets-provider/registry';
import type { StateStore } from '../updates/state/state-store';
import { programVersion } from './version';

/** Flags that say which state is meant. */
export interface StateFlags {
  kubeconfig?: string;
  context?: string;
  stateStore?: string;
  stateNamespace: string;
  stateDirectory?: string;
  /** What protects data keys that the command makes; absent = what protects those that are there. */
  secretsProvider?: string;
}

/** What a `state` command works with. */
export interface StateAccess {
  /** Opens a store. */
  open: (place: StatePlace) => StateStore;
  /** UID of the namespace kube-system of the cluster that the kubeconfig names. */
  clusterID: () => Promise<string>;
}

/**
 * Runs a command with access to cluster and folders, and closes its connections.
 * @throws OperatorError Invalid on a kubeconfig that can't be used, or an unknown secrets provider
 */
export async function withState(flags: StateFlags, work: (access: StateAccess) => Promise<void>): Promise<void> {
  const { secretsProvider } = flags;
  if (secretsProvider !== undefined) keyEncryptionKey(secretsProvider);
  let api: KubeClient | undefined;
  // Only when it is needed: a folder needs no cluster.
  const cluster = (): KubeClient => (api ??= new KubeClient(loadKubeConfig(flags), { userAgent: `cloud-operator/${programVersion()}` }));
  const clusterID = (): Promise<string> => clusterIDOf(cluster());
  const keys: KeyProtection = { clusterID, ...(secretsProvider === undefined ? {} : { secretsProvider }) };
  try {
    await work({
      open: (place) => (place.kind === 'Directory' ? new DirectoryStateStore(place.path, keys) : openStateStore(place, cluster(), keys)),
      clusterID,
    });
  } finally {
    await api?.close();
  }
}

/** As withState, with the one store that the flags name. */
export async function withStore(flags: StateFlags, work: (store: StateStore) => Promise<void>): Promise<void> {
  await withState(flags, ({ open }) => work(open(placeOf(flags))));
}

/** The store that --state-store, --state-namespace and --state-directory name. */
export function placeOf({ stateStore, stateNamespace, stateDirectory = '' }: StateFlags): StatePlace {
  return stateStore === 'directory' ? { kind: 'Directory', path: stateDirectory } : { kind: 'Cluster', namespace: stateNamespace };
}

/** `cluster`, `cluster:NAMESPACE` or `directory:FOLDER`. @throws OperatorError Invalid on anything else */
export function parsePlace(flag: string, text: string, namespace: string): StatePlace {
  const [kind, ...rest] = text.split(':');
  const name = rest.join(':');
  if (kind === 'cluster') return { kind: 'Cluster', namespace: name === '' ? namespace : name };
  if (kind === 'directory' && name !== '') return { kind: 'Directory', path: name };
  throw new OperatorError('Invalid', `${flag} "${text}" is no store; write cluster, cluster:NAMESPACE or directory:FOLDER`);
}

/** Whether two places are one store, however they are written: a folder has many names (`./state`, links, mounts). */
export function isSamePlace(one: StatePlace, other: StatePlace): boolean {
  if (one.kind === 'Cluster' || other.kind === 'Cluster') return isDeepStrictEqual(one, other);
  const folder = folderAt(one.path);
  return resolve(one.path) === resolve(other.path) || (folder !== undefined && isDeepStrictEqual(folder, folderAt(other.path)));
}

/** What the file system knows a folder by; undefined where it finds none. */
function folderAt(path: string): { dev: bigint; ino: bigint } | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return { dev, ino };
  } catch {
    return undefined; // whoever reads it says why
  }
}

async function clusterIDOf(api: KubeClient): Promise<string> {
  const namespace = await api.get<KubeObject>(NAMESPACES, 'kube-system');
  if (namespace !== undefined) return namespace.metadata.uid;
  throw new OperatorError('NotFound', 'namespace kube-system, whose UID is the id of the cluster, is not there');
}
