import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ControlPlane } from '../../dev/cluster/control-plane';
import type { Identity } from '../../dev/cluster/credentials';
import { ensureTools } from '../../tools/ensure';

export interface TestClusterOptions {
  /** Default true: namespace deletion and garbage collection work. */
  controllerManager?: boolean;
  /** Others who get a token; their kubeconfig is `cluster.controlPlane.kubeconfigFor(user)`. */
  identities?: Identity[];
}

export interface TestCluster {
  controlPlane: ControlPlane;
  /** Everything of this cluster: a temporary folder, removed by `stop`. */
  directory: string;
  kubeconfigPath: string;
  url: string;
  caPath: string;
  /** The admin's bearer token. */
  token: string;
  /** Path of the kubectl binary. */
  kubectlPath: string;
  /** Runs kubectl as the admin and gives its standard output; throws with its standard error. `input` goes to its standard input. */
  kubectl(args: string[], input?: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a real control plane for one test file in about 4 s. Call it in `beforeAll` (with `CLUSTER_START_MS`) and `stop()` in `afterAll`.
 */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const tools = await ensureTools(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']);
  const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-test-'));
  const controlPlane = await ControlPlane.start({
    directory,
    tools,
    logDirectory: join(directory, 'logs'),
    controllerManager: options.controllerManager ?? true,
    fsync: false,
    identities: options.identities ?? [],
  });
  const kubeconfigPath = controlPlane.kubeconfigPath;
  return {
    controlPlane,
    directory,
    kubeconfigPath,
    url: controlPlane.url,
    caPath: controlPlane.caPath,
    token: controlPlane.token(),
    kubectlPath: tools.kubectl,
    kubectl: (args, input) => runKubectl(tools.kubectl, ['--kubeconfig', kubeconfigPath, ...args], input),
    stop: async () => {
      await controlPlane.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Time to give `beforeAll`, in milliseconds: the start itself and a first use of the tools. */
export const CLUSTER_START_MS = 120_000;

async function runKubectl(path: string, args: string[], input = ''): Promise<string> {
  const running = promisify(execFile)(path, args, { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, KUBECONFIG: '' } });
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (thrown) {
    const { stderr } = thrown as { stderr?: string };
    throw new Error(`kubectl ${args.slice(2).join(' ')}: ${stderr?.trim() ?? String(thrown)}`, { cause: thrown });
  }
}
