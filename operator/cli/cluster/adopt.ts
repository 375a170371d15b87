import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, type FormerOwner } from '../../../crds';
import { OperatorError } from '../../base/errors';
import type { StoredLoadBalancer, StoredProvider } from '../../explain/kinds';
import { objectState } from '../../explain/object-state';
import { SERVICES, type Service } from '../../kube/object';
import type { NamespaceFlags, OutputFormat } from '../cluster-flags';
import { requestOnLoadBalancer, requestOnService, type AdoptionRequest } from './adoption-request';
import { getOne, getOurs, withCluster, type Cluster } from './connect';
import { Deeds } from './done';
import { Interruption } from './interruption';
import { terminalPaint } from './output';
import { subjectOf, type Subject } from './subject';
import { until } from './wait';
import { planText, waitingPlans } from './waiting-plans';

export interface AdoptFlags extends NamespaceFlags {
  id?: string;
  name?: string;
  from: FormerOwner;
  dryRun?: boolean;
  output: OutputFormat;
  /** In milliseconds. */
  timeout: number;
}

/** Where something is written, and what. */
interface Written extends AdoptionRequest {
  subject: Subject;
}

/**
 * `adopt`: shows what taking over a load balancer would change, and takes it over.
 * @throws OperatorError Invalid for flags that don't fit; Conflict where the object has one of its own already; what keeps it from being taken over, or
 *   Canceled where somebody interrupts the look, both with the object put back as it was
 */
export async function adopt(what: string, flags: AdoptFlags): Promise<void> {
  if (flags.from === 'Unowned' && flags.id === undefined) {
    throw new OperatorError('Invalid', '--from Unowned needs --id: what nobody has marked is found by its id alone');
  }
  await withCluster(flags, async (cluster) => {
    const subject = subjectOf(what, [SERVICES, CLOUD_LOAD_BALANCERS], cluster.namespace);
    const found = await yetWithout(cluster, subject);
    const observed = {
      ask: { spec: { managementPolicy: 'Observe' } },
      back: { spec: { managementPolicy: found.spec.managementPolicy ?? null } },
    };
    const written = [
      { subject: { resource: CLOUD_LOAD_BALANCERS, key: subject.key }, ...observed },
      await requestOf(cluster, subject, found, flags),
    ];
    const deeds = new Deeds(flags.output);
    await withRequest(cluster, written, flags.dryRun === true, (signal) => look(cluster, subject.key, { ...flags, signal }, deeds));
    if (flags.dryRun !== true) await takeOver(cluster, subject.key, flags, deeds);
    deeds.end();
  });
}

/** Writes what is asked for, and puts all of it back where that was for a look only, or the look ends in a failure or is interrupted. */
async function withRequest(
  cluster: Cluster,
  written: readonly Written[],
  forALook: boolean,
  lookAt: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const interruption = new Interruption();
  try {
    for (const { subject, ask } of written) await patch(cluster, subject, ask);
    await lookAt(interruption.signal);
    interruption.signal.throwIfAborted();
    if (forALook) await putBack(cluster, written);
  } catch (thrown) {
    await putBack(cluster, written);
    throw thrown;
  } finally {
    interruption.end();
  }
}

/** @throws OperatorError NotFound where the Service has no CloudLoadBalancer, Conflict where that has something in the cloud */
async function yetWithout(cluster: Cluster, { resource, key }: Subject): Promise<StoredLoadBalancer> {
  if (resource.kind === SERVICES.kind) await getOne<Service>(cluster, SERVICES, key);
  const found = await getOne<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS, key);
  if ((found.status?.ingress ?? []).length === 0) return found;
  const remedy =
    'what is taken over is in place of one of its own: make the Service anew, with the annotation cloud-operator.dev/adopt (docs/operate/adopt.md)';
  throw new OperatorError('Conflict', `CloudLoadBalancer ${key} has a load balancer already`, { remedy });
}

/** A Service writes the spec of its CloudLoadBalancer: there it is asked for. */
async function requestOf(cluster: Cluster, { key }: Subject, found: StoredLoadBalancer, { from, id, name }: AdoptFlags): Promise<Written> {
  const kind = (await getOurs<StoredProvider>(cluster, CLOUD_PROVIDERS, found.spec.provider))?.status?.kind ?? '';
  const wish = { from, id, name, kind };
  const owner = found.metadata.ownerReferences?.some((one) => one.kind === SERVICES.kind) === true;
  const service = owner ? await cluster.api.get<Service>(SERVICES, key) : undefined;
  if (service !== undefined) return { subject: { resource: SERVICES, key }, ...requestOnService(service, wish) };
  return { subject: { resource: CLOUD_LOAD_BALANCERS, key }, ...requestOnLoadBalancer(found, wish) };
}

/** Waits until the operator has looked, and prints what it would do. @throws OperatorError with its reason where it would not */
async function look(cluster: Cluster, key: string, flags: AdoptFlags & { signal: AbortSignal }, deeds: Deeds): Promise<void> {
  const seen = await settled(cluster, key, flags, ({ spec, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const isAsked = spec.adopt === flags.from && (flags.id === undefined || spec.adoptID === flags.id);
    return isAsked && ready?.reason === 'Observed' && ready.message.includes('taken over from');
  });
  const plan = (await waitingPlans(cluster)).find(({ kind, member }) => kind === CLOUD_LOAD_BALANCERS.kind && member === key);
  const { message = '' } = seen.status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
  const text = plan === undefined ? message : planText(plan, terminalPaint()).replace(/\n {2}kubectl cloud approve .*\n$/, '');
  deeds.did({ kind: CLOUD_LOAD_BALANCERS.kind, name: key, would: message, plan }, text);
}

async function takeOver(cluster: Cluster, key: string, flags: AdoptFlags, deeds: Deeds): Promise<void> {
  await patch(cluster, { resource: CLOUD_LOAD_BALANCERS, key }, { spec: { managementPolicy: null } });
  const done = await settled(cluster, key, flags, (object) => {
    const { word, condition } = objectState(object);
    return (
      object.spec.managementPolicy === undefined &&
      (word === 'Ready' || condition?.reason === 'Paused' || condition?.reason === 'AwaitingApproval')
    );
  });
  const { word: state, condition } = objectState(done);
  const address = done.status?.address;
  const line =
    state === 'Ready'
      ? `taken over: CloudLoadBalancer ${key}, ${address ?? ''}`
      : `CloudLoadBalancer ${key}: ${state}, ${condition?.message ?? ''}`;
  deeds.did({ kind: CLOUD_LOAD_BALANCERS.kind, name: key, state, address, message: condition?.message }, line);
}

/** @throws OperatorError with the condition of an object that is Stalled, Transient when nothing has become of it in time */
async function settled(
  cluster: Cluster,
  key: string,
  { timeout, signal }: AdoptFlags & { signal?: AbortSignal },
  holds: (object: StoredLoadBalancer) => boolean,
): Promise<StoredLoadBalancer> {
  let found: StoredLoadBalancer | undefined;
  const ended = async (): Promise<boolean> => {
    found = await getOurs<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS, key);
    if (found === undefined || holds(found)) return true;
    const { word, condition } = objectState(found);
    if (word === 'Stalled' && condition !== undefined && found.spec.adopt !== undefined)
      throw new OperatorError('Conflict', `CloudLoadBalancer ${key} is not taken over (${condition.reason}): ${condition.message}`);
    return false;
  };
  const remedy = `kubectl cloud explain clb/${key.split('/').at(-1) ?? key}`;
  await until(ended, { timeoutMs: timeout, ...(signal !== undefined && { signal }) }, () => {
    const said = found === undefined ? '' : objectState(found).condition?.message;
    return new OperatorError('Transient', `CloudLoadBalancer ${key} was not looked at in time${said === undefined ? '' : `: ${said}`}`, {
      remedy,
    });
  });
  if (found === undefined) throw new OperatorError('NotFound', `CloudLoadBalancer ${key} has gone meanwhile`);
  return found;
}

async function patch({ api }: Cluster, { resource, key }: Subject, body: object): Promise<void> {
  await api.patch(resource, key, 'merge', body);
}

/** In the other order: what is asked for first, so that nothing is made in between. */
async function putBack(cluster: Cluster, written: readonly Written[]): Promise<void> {
  for (const { subject, back } of written.toReversed()) await patch(cluster, subject, back);
}
