import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { GROUP, KINDS, type KindPath, VERSION } from '../../../crds';
import { systemClock } from '../../base/clock';
import { messageWithRemedy, OperatorError, toOperatorError } from '../../base/errors';
import { CRDS, EVENTS, LEASES, NODES, SECRETS, SERVICES, type KubeObject, type ResourcePath, type Service } from '../../kube/object';
import type { ConnectionFlags } from '../cluster-flags';
import { versionText } from '../version';
import { withCluster, type Cluster } from './connect';
import { ENDPOINT_SLICES, type KubeEvent } from '../../explain/kinds';
import { redacted, redactedText } from './redact';
import { tarOf, type TarFile } from './tar';

export interface BundleFlags extends ConnectionFlags {
  file?: string;
  operatorNamespace: string;
  /** Default: the operator's. */
  stateNamespace?: string;
}

const PODS: ResourcePath = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const OPERATOR_PODS = 'app.kubernetes.io/name=cloud-operator';
const LOG_LINES = '5000';

/** One thing that is collected; what can't be read is written down, and the others are collected all the same. */
interface Source {
  path: string;
  read: (cluster: Cluster) => Promise<string>;
}

/**
 * `support-bundle`: what somebody else needs to find out what is wrong, in one archive. Reads no Secret: of the stacks' state only its metadata.
 * @throws OperatorError when the file is there already, or can't be written
 */
export async function supportBundle(flags: BundleFlags): Promise<void> {
  const now = systemClock.now();
  const file = flags.file ?? `cloud-operator-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '')}Z.tar.gz`;
  await withCluster(flags, async (cluster) => {
    const sources = [...fixedSources(flags), ...(await logSources(cluster, flags.operatorNamespace))];
    const problems: string[] = [];
    const files: TarFile[] = [];
    for (const { path, read } of sources) {
      try {
        files.push({ path: `support-bundle/${path}`, content: await read(cluster) });
      } catch (thrown) {
        problems.push(`${path}: ${redactedText(messageWithRemedy(toOperatorError(thrown)))}`);
      }
    }
    files.push({ path: 'support-bundle/not-read.txt', content: problems.map((line) => `${line}\n`).join('') });
    write(file, gzipSync(tarOf(files, now / 1000)));
    const missing = problems.length === 0 ? '' : `, without ${problems.length} that could not be read (not-read.txt)`;
    process.stdout.write(`${file}: ${files.length} files${missing}. Secrets are not in it; look through it before you give it away.\n`);
  });
}

function fixedSources({ operatorNamespace: namespace, stateNamespace = namespace }: BundleFlags): Source[] {
  const ours = KINDS.map(({ kind, plural, scope }): KindPath => ({
    group: GROUP,
    version: VERSION,
    plural,
    kind,
    namespaced: scope === 'Namespaced',
  }));
  return [
    {
      path: 'version.yaml',
      read: async ({ api }) => yaml({ program: versionText(), node: process.version, cluster: await api.raw('GET', '/version') }),
    },
    ...ours.map((resource): Source => ({ path: `${resource.plural}.yaml`, read: async ({ api }) => yaml(await api.list(resource)) })),
    {
      path: 'crds.yaml',
      read: async ({ api }) => yaml((await api.list<Crd>(CRDS)).filter(({ spec }) => spec.group === GROUP).map(withoutSchema)),
    },
    {
      path: 'services.yaml',
      read: async ({ api }) => yaml((await api.list<Service>(SERVICES)).filter(({ spec }) => spec.type === 'LoadBalancer')),
    },
    { path: 'endpointslices.yaml', read: async ({ api }) => yaml(await api.list(ENDPOINT_SLICES)) },
    { path: 'nodes.yaml', read: async ({ api }) => yaml(await api.list(NODES)) },
    { path: 'events.yaml', read: async ({ api }) => yaml((await api.list<KubeEvent>(EVENTS)).filter(isOfInterest)) },
    { path: 'leases.yaml', read: async ({ api }) => yaml(await api.list(LEASES, { namespace: 'kube-system' })) },
    { path: 'pods.yaml', read: async ({ api }) => yaml(await api.list(PODS, { namespace, labelSelector: OPERATOR_PODS })) },
    { path: 'state.yaml', read: async (cluster) => yaml(await stateIn(cluster, stateNamespace)) },
  ];
}

/** Only their metadata is asked for: hash, epoch, whether an update is open. @throws OperatorError NotFound: somebody who looks for it shall know where it was looked for */
async function stateIn({ api }: Cluster, namespace: string): Promise<Pick<KubeObject, 'metadata'>[]> {
  const fieldSelector = `type=${GROUP}/stack-state`;
  const found = await api.list<KubeObject>(SECRETS, { namespace, fieldSelector, metadataOnly: true });
  if (found.length > 0) return found.map(({ metadata }) => ({ metadata }));
  const remedy = 'where it is in Secrets of another one, name that with --state-namespace';
  throw new OperatorError('NotFound', `namespace ${namespace} has no state of a stack`, { remedy });
}

type Crd = KubeObject & { spec: { group: string; versions?: { name: string; served?: boolean; storage?: boolean }[] } };

function withoutSchema({ metadata, spec, ...rest }: Crd): object {
  const versions = spec.versions?.map(({ name, served, storage }) => ({ name, served, storage }));
  return { metadata, spec: { group: spec.group, versions }, ...rest };
}

function isOfInterest({ involvedObject }: KubeEvent): boolean {
  return ['Service', 'Node', ...KINDS.map(({ kind }) => kind)].includes(involvedObject.kind);
}

/** The log of each container of the operator's Pods; none where Pods can't be listed, which `pods.yaml` says. */
async function logSources({ api }: Cluster, namespace: string): Promise<Source[]> {
  const pods = await api.list<KubeObject>(PODS, { namespace, labelSelector: OPERATOR_PODS }).catch((): KubeObject[] => []);
  return pods.map(({ metadata: { name } }) => ({
    path: `logs/${name.slice(0, 70)}.log`,
    read: async (cluster) => {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/log`;
      return logText(await cluster.api.raw('GET', path, { query: { tailLines: LOG_LINES }, accept: 'text/plain, application/json' }));
    },
  }));
}

/** A log of a single line of JSON comes parsed. */
function logText(log: unknown): string {
  return redactedText(typeof log === 'string' ? log : JSON.stringify(log));
}

function yaml(value: unknown): string {
  return stringify(redacted(value), { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Readable for nobody else, and never over a file that is there. */
function write(file: string, content: Buffer): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new OperatorError('Invalid', `${file} can't be written: ${toOperatorError(cause).message}`, {
      remedy: 'name another one with --file',
      cause,
    });
  }
}
