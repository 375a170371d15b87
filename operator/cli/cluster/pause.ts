import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { SERVICES, type ResourcePath } from '../../kube/object';
import type { NamespaceFlags, OutputFormat } from '../cluster-flags';
import { getOne, saysItself, withCluster, type Cluster } from './connect';
import { Deeds } from './done';
import { subjectOf, type Subject } from './subject';

export interface PauseFlags extends NamespaceFlags {
  updates?: boolean;
  output: OutputFormat;
}

const KINDS = [CLOUD_LOAD_BALANCERS, SERVICES, CLOUD_ROUTES, CLOUD_PROVIDERS];

/** `pause`: nothing of these objects is written to the cloud; with `--updates` only their targets are. A CloudProvider is frozen then, or holds all that is its own. */
export async function pause(names: readonly string[], flags: PauseFlags): Promise<void> {
  const value = flags.updates === true ? 'Updates' : 'All';
  await each(names, flags, async (cluster, subject) => {
    if (value === 'All' && subject.resource.kind === CLOUD_PROVIDERS.kind) return freeze(cluster, subject, true);
    await annotate(cluster, subject, value);
    return value === 'All' ? 'is paused: nothing of it is written to the cloud' : 'is paused: only its targets follow the Nodes';
  });
}

/** `resume`: they go on. */
export async function resume(names: readonly string[], flags: PauseFlags): Promise<void> {
  await each(names, flags, async (cluster, subject) => {
    await annotate(cluster, subject, null); // null takes it away
    if (subject.resource.kind === CLOUD_PROVIDERS.kind) return freeze(cluster, subject, false);
    return 'goes on';
  });
}

/** All names are read before anything is written. */
async function each(
  names: readonly string[],
  flags: PauseFlags,
  act: (cluster: Cluster, subject: Subject) => Promise<string>,
): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const subjects = names.map((name) => made(subjectOf(name, KINDS, cluster.namespace)));
    for (const { resource, key } of subjects) {
      await getOne(cluster, resource, key);
      if (resource.kind === CLOUD_LOAD_BALANCERS.kind && (await saysItself(cluster, key, ANNOTATIONS.pause))) throw ofService(key);
    }
    const deeds = new Deeds(flags.output);
    for (const subject of subjects) {
      const did = await act(cluster, subject);
      const { key: name, resource } = subject;
      deeds.did({ kind: resource.kind, name, did }, `${resource.kind} ${name} ${did}`);
    }
    deeds.end();
  });
}

/** A Service stands for the CloudLoadBalancer of its name. */
function made({ resource, key }: Subject): Subject {
  return { resource: resource.kind === SERVICES.kind ? CLOUD_LOAD_BALANCERS : resource, key };
}

/** What is written to the CloudLoadBalancer would be what the Service says again a moment later. */
function ofService(key: string): OperatorError {
  const [namespace, name] = key.split('/');
  const remedy = `change it there: kubectl annotate service -n ${namespace} ${name} --overwrite ${ANNOTATIONS.pause}=All, or ${ANNOTATIONS.pause}- to go on`;
  return new OperatorError('Conflict', `Service ${key} has the annotation ${ANNOTATIONS.pause} itself`, { remedy });
}

async function freeze({ api }: Cluster, { resource, key }: Subject, frozen: boolean): Promise<string> {
  await api.patch(resource, key, 'merge', { spec: { freeze: frozen } });
  return frozen ? 'is frozen: nothing is written to its cloud' : 'is no longer frozen';
}

async function annotate({ api }: Cluster, { resource, key }: { resource: ResourcePath; key: string }, value: string | null): Promise<void> {
  await api.patch(resource, key, 'merge', { metadata: { annotations: { [ANNOTATIONS.pause]: value } } });
}
