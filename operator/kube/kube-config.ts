import { KubeConfig, type User } from '@kubernetes/client-node';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { OperatorError, toOperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';

export { KubeConfig };

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface KubeConfigOptions {
  /** Path of a kubeconfig; absent = KUBECONFIG, then ~/.kube/config, then the Pod's ServiceAccount. */
  kubeconfig?: string;
  /** Context in it; absent = its current-context. */
  context?: string;
  /** URL of the API server, in place of the one in the kubeconfig. */
  master?: string;
  /** Use the Pod's ServiceAccount and nothing else. */
  inCluster?: boolean;
  env?: Record<string, string | undefined>;
  /** Where the ServiceAccount's token and CA are mounted. */
  serviceAccountPath?: string;
}

/**
 * Finds and reads the kubeconfig. Credentials are only read when a request is made (exec plugins, token files).
 * @throws OperatorError Invalid with one line that names the file and what to do
 */
export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const env = options.env ?? process.env;
  const config = find(options, env);
  if (options.context !== undefined && options.context !== '') config.setCurrentContext(options.context);
  if (options.master !== undefined && options.master !== '') useServer(config, options.master);
  checkContext(config, origin(options, env));
  return withoutTlsOnPlainHttp(config);
}

/** The same configuration without what its plugins remember: tokens are asked for anew. */
export function withoutMemory(config: KubeConfig): KubeConfig {
  const fresh = new KubeConfig();
  fresh.loadFromOptions({
    clusters: config.clusters,
    users: config.users,
    contexts: config.contexts,
    currentContext: config.currentContext,
  });
  return fresh;
}

/** The same cluster, as nobody. */
export function withoutUser(config: KubeConfig): KubeConfig {
  const fresh = new KubeConfig();
  // Without any user the library would leave out the cluster's CA too.
  const nobody = { name: 'nobody' };
  const contexts = config.contexts.map((context) => ({ ...context, user: nobody.name }));
  fresh.loadFromOptions({ clusters: config.clusters, users: [nobody], contexts, currentContext: config.currentContext });
  return fresh;
}

function find(options: KubeConfigOptions, env: Record<string, string | undefined>): KubeConfig {
  const serviceAccount = options.serviceAccountPath ?? SERVICE_ACCOUNT;
  if (options.inCluster === true) return fromServiceAccount(serviceAccount, env);
  const files = kubeconfigFiles(options, env);
  if (files.length > 0) return files.map(fromFile).reduce(merge);
  if (existsSync(join(serviceAccount, 'token'))) return fromServiceAccount(serviceAccount, env);
  if (options.master !== undefined && options.master !== '') return fromMaster(options.master);
  throw new OperatorError(
    'Invalid',
    `no kubeconfig: --kubeconfig and KUBECONFIG are not set, ${defaultFile(env)} does not exist, and this is no Pod; give --kubeconfig=<file>`,
  );
}

function kubeconfigFiles(options: KubeConfigOptions, env: Record<string, string | undefined>): string[] {
  if (options.kubeconfig !== undefined && options.kubeconfig !== '') return [resolve(options.kubeconfig)];
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  if (named.length > 0) return named.map((file) => resolve(file));
  return existsSync(defaultFile(env)) ? [defaultFile(env)] : [];
}

function defaultFile(env: Record<string, string | undefined>): string {
  return join(env.HOME ?? homedir(), '.kube', 'config');
}

/** Where the configuration came from, for messages. */
function origin(options: KubeConfigOptions, env: Record<string, string | undefined>): string {
  const files = options.inCluster === true ? [] : kubeconfigFiles(options, env);
  return files.length === 0 ? 'the configuration' : files.join(', ');
}

interface KubeConfigFile {
  apiVersion?: unknown;
  kind?: unknown;
  clusters?: unknown;
  users?: { name?: string; user?: Record<string, unknown> | null }[] | null;
}

function fromFile(file: string): KubeConfig {
  const text = readText(file);
  const content = parseFile(file, text);
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch (thrown) {
    throw new OperatorError('Invalid', `${file}: ${messageOf(thrown)}; repair the kubeconfig or name another with --kubeconfig`, {
      cause: thrown,
    });
  }
  config.makePathsAbsolute(dirname(file));
  config.users = config.users.map((user) => withTokenFile(user, content, dirname(file)));
  return config;
}

function readText(file: string): string {
  try {
    return readSmallFile(file);
  } catch (cause) {
    const problem = toOperatorError(cause).message;
    throw new OperatorError('Invalid', `kubeconfig ${problem}; give the path of a kubeconfig with --kubeconfig or KUBECONFIG`, { cause });
  }
}

function parseFile(file: string, text: string): KubeConfigFile {
  let content: unknown;
  try {
    content = parse(text, { logLevel: 'error' });
  } catch (thrown) {
    throw new OperatorError('Invalid', `${file} is not YAML: ${messageOf(thrown)}; repair the kubeconfig`, { cause: thrown });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new OperatorError('Invalid', `${file} is no kubeconfig: it must hold an object with clusters, contexts and users`);
  }
  const { apiVersion, kind } = content as KubeConfigFile;
  if ((kind !== undefined && kind !== 'Config') || (apiVersion !== undefined && apiVersion !== 'v1')) {
    throw new OperatorError('Invalid', `${file} is no kubeconfig: it holds ${describe(apiVersion, kind)}, expected v1 Config`);
  }
  return content;
}

/** kubectl's `tokenFile` is read again for every request; the library's own spelling of it would be read only once. */
function withTokenFile(user: User, content: KubeConfigFile, root: string): User {
  const raw = content.users?.find((entry) => entry.name === user.name)?.user;
  const tokenFile = raw?.tokenFile;
  if (typeof tokenFile !== 'string' || tokenFile === '') return user;
  const withFile: { -readonly [field in keyof User]: User[field] } = { ...user };
  delete withFile.token;
  withFile.authProvider = { name: 'tokenFile', config: { tokenFile: resolve(root, tokenFile) } };
  return withFile;
}

/** As kubectl does with several files: the first one to name a thing wins. */
function merge(first: KubeConfig, next: KubeConfig): KubeConfig {
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfEachName([...first.clusters, ...next.clusters]),
    users: firstOfEachName([...first.users, ...next.users]),
    contexts: firstOfEachName([...first.contexts, ...next.contexts]),
    currentContext: present(first.currentContext) ? first.currentContext : next.currentContext,
  });
  return merged;
}

function firstOfEachName<T extends { name: string }>(items: T[]): T[] {
  return [...new Map([...items].reverse().map((item) => [item.name, item])).values()].reverse();
}

function fromServiceAccount(path: string, env: Record<string, string | undefined>): KubeConfig {
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  const tokenFile = join(path, 'token');
  if (!present(host) || !present(port) || !existsSync(tokenFile)) {
    throw new OperatorError(
      'Invalid',
      `this is no Pod with a ServiceAccount: KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and ${tokenFile} are needed; give --kubeconfig=<file> instead`,
    );
  }
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'in-cluster',
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      caFile: join(path, 'ca.crt'),
      skipTLSVerify: false,
    },
    { name: 'service-account', authProvider: { name: 'tokenFile', config: { tokenFile } } },
  );
  return config;
}

function fromMaster(server: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'master', server, skipTLSVerify: false }, { name: 'anonymous' });
  return config;
}

function useServer(config: KubeConfig, server: string): void {
  const name = config.getCurrentCluster()?.name;
  config.clusters = config.clusters.map((cluster) => (cluster.name === name ? { ...cluster, server: server.replace(/\/$/, '') } : cluster));
}

function checkContext(config: KubeConfig, from: string): void {
  const name = config.currentContext;
  if (!present(name))
    throw new OperatorError('Invalid', `${from} has no current-context; set one (kubectl config use-context) or give --context`);
  const context = config.getContextObject(name);
  if (context === null) {
    const known = config.contexts.map((candidate) => candidate.name).join(', ');
    throw new OperatorError('Invalid', `${from} has no context "${name}"; it has: ${known === '' ? 'none' : known}`);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new OperatorError('Invalid', `${from}: context "${name}" names the cluster "${context.cluster}", which is not there`);
  if (present(context.user) && config.getCurrentUser() === null) {
    throw new OperatorError('Invalid', `${from}: context "${name}" names the user "${context.user}", which is not there`);
  }
  if (!URL.canParse(cluster.server) || !/^https?:$/.test(new URL(cluster.server).protocol)) {
    throw new OperatorError('Invalid', `${from}: server "${cluster.server}" of cluster "${cluster.name}" is no http(s) URL`);
  }
}

/** The library refuses plain HTTP unless told not to verify certificates, of which there are none. */
function withoutTlsOnPlainHttp(config: KubeConfig): KubeConfig {
  config.clusters = config.clusters.map((cluster) => (cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster));
  return config;
}

function present(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

function describe(apiVersion: unknown, kind: unknown): string {
  return [apiVersion, kind]
    .filter((part) => part !== undefined)
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join(' ');
}

function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.split('\n')[0] ?? text;
}
