import { ANNOTATIONS, type CloudProviderSpec, type CloudProviderStatus, type Sweep } from '../../../crds';
import type { Clock } from '../../base/clock';
import { type OperatorError, toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { Store } from '../../kube/api';
import { verdictOfError, type Verdict } from '../conditions';
import { leverOf } from '../levers';
import type { ObjectWriter } from '../object-writer';
import { CredentialsRefused } from '../../updates/limits/account';
import { SecretMissing } from './provider-secrets';
import type { CloudRegistry } from './registry';
import type { Stored } from '../stored';
import { windowOfCloud } from '../windows/windows-of';

export type StoredProvider = Stored<CloudProviderSpec, CloudProviderStatus>;

/** What uses a CloudProvider now: keys of the objects. */
export interface ProviderUse {
  nodes: number;
  loadBalancers: readonly string[];
  routes: readonly string[];
  /** Also those that only have what has moved to another provider, or vanished. */
  stacks: readonly string[];
}

export interface ProviderReconcilerOptions {
  store: Store<StoredProvider>;
  registry: CloudRegistry;
  writer: ObjectWriter;
  clusterID: string;
  use(provider: string): ProviderUse;
  /** The newest failure to read from the cloud; undefined while it answers. */
  health(provider: string): OperatorError | undefined;
  /** Its cloud has answered the connection of today. */
  hasAnswered(provider: string): boolean;
  /** Makes a read of the cloud, and has the provider reconciled again with how it went. */
  ask(provider: string): void;
  /** Has the provider reconciled at once when the Secret comes that it lacks. */
  awaitSecret(provider: string): void;
  /** What the last sweep of this process has found. */
  sweep(provider: string): Sweep | undefined;
  /** The request of a person, by annotation, that this process has carried out last. */
  handledReconcile(provider: string): string | undefined;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

interface Findings {
  /** Milliseconds since 1970. */
  now: number;
  use: ProviderUse;
  problem: OperatorError | undefined;
  answered: boolean;
}

/** Connects CloudProviders, says how they are, and lets none go while something still uses it. */
export class ProviderReconciler {
  /** CloudProviders that were objects: one from the flags is in use before it is one. */
  private readonly seen = new Set<string>();

  constructor(private readonly options: ProviderReconcilerOptions) {}

  /** @throws OperatorError when the connection failed and is to be tried again */
  async reconcile(name: string): Promise<void> {
    const object = this.options.store.get(name);
    if (object === undefined) return this.seen.delete(name) ? this.options.registry.remove(name) : undefined;
    this.seen.add(name);
    const use = this.options.use(name);
    if (object.metadata.deletionTimestamp !== undefined) this.options.registry.retire(name);
    if (object.metadata.deletionTimestamp !== undefined && use.loadBalancers.length + use.routes.length + use.stacks.length === 0) {
      await this.options.writer.removeFinalizer(object);
      return;
    }
    if (object.metadata.deletionTimestamp === undefined) await this.options.writer.addFinalizer(object);
    await this.report(name, object, use);
  }

  /** @throws OperatorError when the connection failed */
  private async report(name: string, object: StoredProvider, use: ProviderUse): Promise<void> {
    const problem = await this.connect(name, object);
    const answered = this.options.hasAnswered(name);
    if (problem instanceof SecretMissing) this.options.awaitSecret(name);
    if (this.mustAsk(name, problem, answered)) this.options.ask(name);
    // After a restart, what it says holds until the cloud says otherwise.
    if (problem === undefined && !answered && saysReady(object)) return;
    const verdict = verdictOn(object, { use, problem, answered, now: this.options.clock.now() });
    const fields = {
      kind: this.options.registry.get(name)?.kind,
      clusterID: this.options.clusterID,
      nodes: use.nodes,
      loadBalancers: use.loadBalancers.length,
      sweep: this.options.sweep(name) ?? object.status?.sweep,
      lastHandledReconcile: this.options.handledReconcile(name) ?? object.status?.lastHandledReconcile,
    };
    await this.options.writer.writeStatus(withoutTargets(object), fields, verdict);
    if (problem !== undefined) throw problem;
  }

  /** Where there are no Nodes, nobody else would find out. Refused credentials have a watch of their own. */
  private mustAsk(name: string, problem: OperatorError | undefined, answered: boolean): boolean {
    if (this.options.registry.get(name)?.cloud === undefined || problem instanceof CredentialsRefused) return false;
    return problem !== undefined || !answered;
  }

  private async connect(name: string, { metadata, spec }: StoredProvider): Promise<OperatorError | undefined> {
    this.options.registry.pauseBy(name, metadata.annotations?.[ANNOTATIONS.pause]);
    try {
      const entry = await this.options.registry.set(name, spec);
      return entry.problem ?? this.options.health(name);
    } catch (thrown) {
      return toOperatorError(thrown);
    }
  }
}

/** What is remembered of the targets is no part of what is written here (RegisteredTargets), and stays when it is. */
function withoutTargets(object: StoredProvider): StoredProvider {
  if (object.status === undefined) return object;
  const status = { ...object.status };
  delete status.registeredTargets;
  return { ...object, status };
}

const SHOWN = 3;

/** How many, and who: the first few. Pure. */
export function usersText({ loadBalancers, routes, stacks }: ProviderUse): string {
  const of = (what: string, users: readonly string[]): string => {
    const names = [...users].sort().slice(0, SHOWN);
    const shown = names.length === 0 ? '' : ` (${names.join(', ')}${users.length > SHOWN ? ', …' : ''})`;
    return `${users.length} ${what}${users.length === 1 ? '' : 's'}${shown}`;
  };
  return `${of('load balancer', loadBalancers)}, ${of('route', routes)}, ${of('stack', stacks)}`;
}

function saysReady({ metadata, status }: StoredProvider): boolean {
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  return ready && metadata.deletionTimestamp === undefined && status?.observedGeneration === metadata.generation;
}

function verdictOn(object: StoredProvider, { use, problem, answered, now }: Findings): Verdict {
  if (object.metadata.deletionTimestamp !== undefined) {
    const message = `it is being deleted, and waits for those that use it: ${usersText(use)}; it goes when they are gone, and takes nothing new`;
    return { state: 'Reconciling', reason: 'InUse', message };
  }
  if (problem instanceof CredentialsRefused) return verdictOfError(problem, false, { nextTryAt: problem.nextTryAt, exhausted: false });
  if (problem !== undefined) return verdictOfError(problem, false);
  if (!answered) return { state: 'Reconciling', reason: 'Connecting', message: 'its cloud has not answered yet' };
  const window = windowOfCloud({ name: object.metadata.name, spec: object.spec }, now);
  if (window.state === 'Never') {
    const message = `connected, but no update will ever run. ${window.problem.message}`;
    return { state: 'Stalled', reason: 'Invalid', message, serving: true };
  }
  if (object.spec.freeze)
    return { state: 'Ready', reason: 'Frozen', message: 'connected, and frozen (spec.freeze): nothing is written to its cloud' };
  if (object.spec.managementPolicy === 'Observe') {
    const message = 'connected, and only observed (spec.managementPolicy): nothing is written to its cloud, its Services and its Nodes';
    return { state: 'Ready', reason: 'Observed', message };
  }
  return pausedVerdict(object) ?? { state: 'Ready', message: 'connected' };
}

function pausedVerdict({ metadata }: StoredProvider): Verdict | undefined {
  const value = metadata.annotations?.[ANNOTATIONS.pause];
  const lever = value === undefined ? undefined : leverOf({ leading: true, providerPause: { provider: metadata.name, value } });
  if (lever === undefined) return undefined;
  const said = { reason: lever.reason, message: `connected, and ${lever.why}` };
  return lever.mistaken === true ? { state: 'Stalled', serving: true, ...said } : { state: 'Ready', ...said };
}
