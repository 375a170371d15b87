import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { leverInForce, leverOfAll } from '../../explain/levers';
import type { StoredLoadBalancer, StoredProvider, StoredRoute } from '../../explain/kinds';
import { SERVICES } from '../../kube/object';
import type { NamespaceFlags, OutputFormat } from '../cluster-flags';
import { getOne, handsOn, withCluster, type Cluster } from './connect';
import { Deeds } from './done';
import { providerNamed } from './facts';
import { pausedText, resumedText, type InForce } from './lever-text';
import { subjectOf, type Subject } from './subject';

export interface PauseFlags extends NamespaceFlags {
  updates?: boolean;
  output: OutputFormat;
}

const UNPAUSED = { taken: 'is no longer paused', done: 'goes on' };
const UNFROZEN = { taken: 'is no longer frozen', done: 'is no longer frozen' };
const KINDS = [CLOUD_LOAD_BALANCERS, SERVICES, CLOUD_ROUTES, CLOUD_PROVIDERS];

/** `pause`: nothing of these objects is written to the cloud; with `--updates` only their targets are. A CloudProvider is frozen then, or holds all that is its own. */
export async function pause(names: readonly string[], flags: PauseFlags): Promise<void> {
  const all = flags.updates !== true;
  await each(names, flags, async (cluster, subject) => {
    if (all && subject.resource.kind === CLOUD_PROVIDERS.kind) {
      await freeze(cluster, subject, true);
      return 'is frozen: nothing is written to its cloud';
    }
    const changed = await annotate(cluster, subject, all ? 'All' : 'Updates');
    return pausedText(all ? 'PauseAll' : 'PauseUpdates', await inForce(cluster, changed));
  });
}

/** `resume`: they go on. */
export async function resume(names: readonly string[], flags: PauseFlags): Promise<void> {
  await each(names, flags, async (cluster, subject) => {
    const changed = await annotate(cluster, subject, null); // null takes it away
    if (subject.resource.kind !== CLOUD_PROVIDERS.kind) return resumedText(UNPAUSED, await inForce(cluster, changed));
    return resumedText(UNFROZEN, await inForce(cluster, await freeze(cluster, subject, false)));
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
      const object = await getOne(cluster, resource, key);
      if (resource.kind === CLOUD_LOAD_BALANCERS.kind && (await handsOn(cluster, key, object, ANNOTATIONS.pause))) throw ofService(key);
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

type Changed = StoredLoadBalancer | StoredRoute | StoredProvider;

/** What holds an object now: others may have set more than what was just written. */
async function inForce(cluster: Cluster, changed: Changed): Promise<InForce> {
  if (!isMember(changed)) return { lever: leverOfAll(changed) };
  const { provider: name } = changed.spec;
  const provider = await providerNamed(cluster, name);
  return provider === 'Unreadable' ? { lever: leverInForce(changed, undefined), unread: name } : { lever: leverInForce(changed, provider) };
}

function isMember(changed: Changed): changed is StoredLoadBalancer | StoredRoute {
  return 'provider' in changed.spec;
}

async function freeze({ api }: Cluster, { resource, key }: Subject, frozen: boolean): Promise<StoredProvider> {
  return api.patch<StoredProvider>(resource, key, 'merge', { spec: { freeze: frozen } });
}

async function annotate({ api }: Cluster, { resource, key }: Subject, value: string | null): Promise<Changed> {
  return api.patch<Changed>(resource, key, 'merge', { metadata: { annotations: { [ANNOTATIONS.pause]: value } } });
}
