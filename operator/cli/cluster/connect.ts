import { OperatorError } from '../../base/errors';
import type { ListOptions } from '../../kube/api';
import { KubeClient } from '../../kube/client';
import { loadKubeConfig } from '../../kube/kube-config';
import { SERVICES, type KubeObject, type ResourcePath } from '../../kube/object';
import { isResourceMissing, statusOf, type ApiStatus } from '../../kube/status';
import type { NamespaceFlags } from '../cluster-flags';
import { programVersion } from '../version';

/** A cluster as the user of the kubeconfig sees it. */
export interface Cluster {
  api: KubeClient;
  /** Of the flag, else of the context, else `default`. */
  namespace: string;
  /** Kinds of the whole cluster that the user may not read, as they are met. */
  unread: Set<string>;
}

/** What gives a user of one namespace the kinds of the whole cluster. */
export const ASK_FOR_VIEW = 'ask for a ClusterRoleBinding to cloud-operator-view (docs/operate/command-line.md, Rights)';

/** @throws OperatorError when there is no kubeconfig that can be used; what `act` throws */
export async function withCluster(flags: NamespaceFlags, act: (cluster: Cluster) => Promise<void>): Promise<void> {
  const config = loadKubeConfig(flags);
  const inContext = config.getContextObject(config.currentContext)?.namespace;
  const namespace = flags.namespace ?? (inContext === undefined || inContext === '' ? 'default' : inContext);
  const api = new KubeClient(config, { userAgent: `cloud-operator/${programVersion()}`, qps: 0 });
  try {
    await act({ api, namespace, unread: new Set() });
  } finally {
    await api.close();
  }
}

/**
 * A list of one of our kinds.
 * @throws OperatorError NotFound where the CRDs are not there, Credentials where the user may not read them; both with what to do
 */
export async function listOurs<T extends KubeObject>({ api }: Cluster, resource: ResourcePath, options: ListOptions = {}): Promise<T[]> {
  try {
    return await api.list<T>(resource, options);
  } catch (thrown) {
    throw inWords(resource, thrown);
  }
}

function inWords(resource: ResourcePath, thrown: unknown): unknown {
  if (isResourceMissing(thrown)) return kindsMissing(resource, thrown);
  const status = statusOf(thrown);
  return status?.code === 403 && !resource.namespaced ? notReadable(resource, status) : thrown;
}

/** Roles are mostly given in a namespace: these kinds are in none. */
function notReadable({ kind }: ResourcePath, cause: ApiStatus): OperatorError {
  const message = `you may not read ${kind}s, which are of the whole cluster: ${cause.message}`;
  return new OperatorError('Credentials', message, { remedy: ASK_FOR_VIEW, cause });
}

function kindsMissing({ kind, group }: ResourcePath, cause: unknown): OperatorError {
  const remedy = 'kubectl apply --server-side -f dist/crds.yaml (docs/install.md), or start the operator, which brings them';
  return new OperatorError('NotFound', `this cluster does not know the kind ${kind} of ${group}`, { remedy, cause });
}

/** An object that must be there. @throws OperatorError NotFound */
export async function getOne<T extends KubeObject>({ api }: Cluster, resource: ResourcePath, key: string): Promise<T> {
  const found = await getOurs<T>({ api }, resource, key);
  if (found !== undefined) return found;
  throw new OperatorError('NotFound', `there is no ${resource.kind} ${key}`, {
    remedy: `kubectl get ${resource.plural}${resource.namespaced ? ' -A' : ''} lists them`,
  });
}

/** undefined = it is not there. @throws OperatorError NotFound where its kind is not known at all, Credentials where the user may not read it */
export async function getOurs<T extends KubeObject>(
  { api }: Pick<Cluster, 'api'>,
  resource: ResourcePath,
  key: string,
): Promise<T | undefined> {
  try {
    return await api.get<T>(resource, key);
  } catch (thrown) {
    throw inWords(resource, thrown);
  }
}

/**
 * The Service of a CloudLoadBalancer has the annotation, and hands it on: whatever is written there is what the Service says again a moment later.
 * While the Service is held, or is being deleted, nothing of it arrives.
 */
export async function handsOn({ api }: Pick<Cluster, 'api'>, key: string, { metadata }: KubeObject, annotation: string): Promise<boolean> {
  const service = (await api.get(SERVICES, key))?.metadata;
  const said = service?.deletionTimestamp === undefined ? service?.annotations?.[annotation] : undefined;
  return said !== undefined && said.trim() === metadata.annotations?.[annotation];
}
