import {
  ANNOTATIONS,
  CLOUD_PROVIDERS,
  CLOUD_STACKS,
  type CloudProviderSpec,
  type CloudProviderStatus,
  type StackResource,
} from '../../crds';
import { OperatorError } from '../base/errors';
import { isLeftover } from '../cloud/drift/leftovers';
import type { Stored } from '../cloud/stored';
import type { StoredStack } from '../cloud/stack/stack-record';
import { KubeClient } from '../kube/client';
import { loadKubeConfig } from '../kube/kube-config';
import type { ResourcePath } from '../kube/object';
import { print } from './cluster/output';
import { until } from './cluster/wait';
import type { OutputFormat } from './cluster-flags';
import { formatTable } from './table';
import { programVersion } from './version';

export interface SweepFlags {
  provider?: string;
  delete?: boolean;
  all?: boolean;
  output: OutputFormat;
  /** In milliseconds. */
  timeout: number;
  kubeconfig?: string;
  context?: string;
}

type StoredProvider = Stored<CloudProviderSpec, CloudProviderStatus>;

/**
 * `sweep`: asks the running operator for a search, and prints what it found.
 * @param stacks with `--delete`: which of them go
 * @throws OperatorError when there is no such CloudProvider or leftover, or the operator does not answer in time
 */
export async function sweepClouds(stacks: readonly string[], flags: SweepFlags): Promise<void> {
  checkChoice(stacks, flags);
  const api = new KubeClient(loadKubeConfig(flags), { userAgent: `cloud-operator/${programVersion()}` });
  try {
    const providers = await providersNamed(api, flags.provider);
    await Promise.all(providers.map((name) => searched(api, name, flags.timeout)));
    const leftovers = (await api.list<StoredStack>(CLOUD_STACKS)).filter(
      (stack) => isLeftover(stack) && providers.includes(stack.spec.provider),
    );
    print(flags.output, leftovers.map(shown), () => table(leftovers));
    if (flags.delete === true) await remove(api, chosen(leftovers, stacks), flags);
  } finally {
    await api.close();
  }
}

function checkChoice(stacks: readonly string[], flags: SweepFlags): void {
  const invalid = (message: string): OperatorError => new OperatorError('Invalid', message);
  if (flags.delete !== true && (stacks.length > 0 || flags.all === true)) throw invalid('stacks and --all are for --delete');
  if (flags.delete === true && stacks.length > 0 === (flags.all === true)) throw invalid('--delete needs the names of stacks, or --all');
}

async function providersNamed(api: KubeClient, name: string | undefined): Promise<string[]> {
  const names = (await api.list<StoredProvider>(CLOUD_PROVIDERS)).map(({ metadata }) => metadata.name);
  if (name === undefined || names.includes(name)) return name === undefined ? names : [name];
  throw new OperatorError('NotFound', `there is no CloudProvider ${name}`, { remedy: `there are: ${names.join(', ') || 'none'}` });
}

/** Resolves once the operator has searched the provider's account. */
async function searched(api: KubeClient, provider: string, timeoutMs: number): Promise<void> {
  const token = new Date().toISOString();
  await annotate(api, CLOUD_PROVIDERS, provider, { [ANNOTATIONS.sweep]: token });
  const handled = async (): Promise<boolean> =>
    (await api.get<StoredProvider>(CLOUD_PROVIDERS, provider))?.status?.sweep?.handled === token;
  const remedy = `see kubectl get cloudprovider ${provider}, and whether the operator runs`;
  await until(
    handled,
    { timeoutMs },
    () => new OperatorError('Transient', `CloudProvider ${provider} was not searched in time`, { remedy }),
  );
}

function chosen(leftovers: readonly StoredStack[], stacks: readonly string[]): StoredStack[] {
  const unknown = stacks.filter((stack) => !leftovers.some(({ metadata }) => metadata.name === stack));
  if (unknown.length > 0) throw new OperatorError('NotFound', `not among what was found: ${unknown.join(', ')}`);
  return leftovers.filter(({ metadata }) => stacks.length === 0 || stacks.includes(metadata.name));
}

async function remove(api: KubeClient, leftovers: readonly StoredStack[], { timeout, output }: SweepFlags): Promise<void> {
  for (const { metadata, status } of leftovers)
    await annotate(api, CLOUD_STACKS, metadata.name, { [ANNOTATIONS.release]: status?.incarnation ?? '' });
  for (const { metadata } of leftovers) {
    const gone = async (): Promise<boolean> => (await api.get(CLOUD_STACKS, metadata.name)) === undefined;
    const remedy = `see kubectl describe cloudstack ${metadata.name}`;
    await until(
      gone,
      { timeoutMs: timeout },
      () => new OperatorError('Transient', `stack ${metadata.name} is not deleted yet`, { remedy }),
    );
    // Data is one document: what was found, which was deleted when this ends well.
    if (output === 'table') process.stdout.write(`deleted: ${metadata.name}\n`);
  }
}

async function annotate(api: KubeClient, resource: ResourcePath, name: string, annotations: Record<string, string>): Promise<void> {
  await api.patch(resource, name, 'merge', { metadata: { annotations } });
}

function shown({ metadata, spec, status }: StoredStack): { stack: string; provider: string; resources: Omit<StackResource, 'urn'>[] } {
  const resources = (status?.resources ?? []).map(({ type, name, id }) => ({ type, name, id }));
  return { stack: metadata.name, provider: spec.provider, resources };
}

function table(leftovers: readonly StoredStack[]): string {
  if (leftovers.length === 0) return 'Nothing is left over: all that bears the mark of this cluster is accounted for.\n';
  const rows = leftovers
    .map(shown)
    .flatMap(({ stack, provider, resources }) => resources.map(({ type, name, id }) => [stack, provider, type, name, id]));
  return formatTable(['STACK', 'PROVIDER', 'TYPE', 'NAME', 'ID'], rows);
}
