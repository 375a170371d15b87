import type { KubeClient } from '../../kube/client';
import { DirectoryStateStore } from './directory-state-store';
import type { KeyProtection } from './keyring-envelope';
import { SecretStateStore } from './secret-state-store';
import type { StateStore } from './state-store';

/** Where state is: Secrets of a namespace, or a folder. */
export type StatePlace = { kind: 'Cluster'; namespace: string } | { kind: 'Directory'; path: string };

/** A write that nobody answers is tried again after this long. */
const TIMEOUT_MS = 10_000;

/** @param api of the cluster whose Secrets are meant; its rate limit doesn't hold for state */
export function openStateStore(place: StatePlace, api: KubeClient, keys: KeyProtection = {}): StateStore {
  if (place.kind === 'Directory') return new DirectoryStateStore(place.path, keys);
  return new SecretStateStore({ api: api.withOptions({ qps: 0, timeoutMs: TIMEOUT_MS }), namespace: place.namespace, keys });
}
