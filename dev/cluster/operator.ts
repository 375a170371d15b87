import { mkdirSync, writeFileSync } from 'node:fs';
import { NODE_FLAGS } from '../../operator/base/node-flags';
import { compiled } from '../../operator/entry';
import { serviceAccount, type Identity } from './credentials';
import type { DevPaths } from './paths';
import { minimalEnvironment, type GuardedProcess, type ProcessGuard } from './process-guard';
import { whenReady } from './readiness';

export const OPERATOR_NAMESPACE = 'cloud-operator-system';
/** The operator has the rights of its ServiceAccount in the manifests, and no others. */
export const OPERATOR_IDENTITY: Identity = serviceAccount(OPERATOR_NAMESPACE, 'cloud-operator');

export interface OperatorProcessOptions {
  paths: DevPaths;
  /** Of OPERATOR_IDENTITY. */
  kubeconfig: string;
  /** Path of the Pulumi CLI. */
  pulumi: string;
  cloud: { endpoint: string; tokenFile: string };
  /** More fields of the CloudProvider's spec, for example driftInterval; its block `local` gains where the cloud is. */
  provider: Record<string, unknown>;
  /** Of its health and metrics server. */
  port: number;
  logLevel: string;
  /** More flags of `cloud-operator run`. */
  flags?: string[];
  /** Its whole environment, but for the path of the Pulumi CLI; absent = the minimal one. */
  environment?: Record<string, string>;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const GRACE_MS = 15_000;

/** Starts the operator and waits until it is ready. @throws OperatorError with the end of its log */
export async function startOperator(guard: ProcessGuard, options: OperatorProcessOptions): Promise<GuardedProcess> {
  const { paths, port, pulumi } = options;
  mkdirSync(paths.operator, { recursive: true, mode: 0o700 });
  writeCloudConfig(options);
  const process = await guard.start({
    name: 'operator',
    command: globalThis.process.execPath,
    args: [...NODE_FLAGS, compiled('operator/cli/main'), ...operatorArguments(options)],
    cwd: paths.root,
    environment: { ...(options.environment ?? minimalEnvironment()), CLOUD_OPERATOR_PULUMI: pulumi },
    log: `${paths.logs}/operator.log`,
    graceMs: GRACE_MS,
  });
  await whenReady(process, { probe: () => isReady(port), timeoutMs: READY_TIMEOUT_MS, pollMs: POLL_MS });
  return process;
}

/** Writes the spec of the CloudProvider that an operator here is started with: ours, or one that a person runs. */
export function writeCloudConfig({ paths, cloud, provider }: Pick<OperatorProcessOptions, 'paths' | 'cloud' | 'provider'>): void {
  const settings = {
    ...provider,
    local: { ...(provider['local'] as object | undefined), endpoint: cloud.endpoint, tokenFile: cloud.tokenFile },
  };
  writeFileSync(paths.operatorConfig, JSON.stringify(settings, undefined, 2));
}

/** The one place for the flags that the development cluster gives to `cloud-operator run`. */
function operatorArguments({ paths, kubeconfig, port, logLevel, flags = [] }: OperatorProcessOptions): string[] {
  return [
    'run',
    `--kubeconfig=${kubeconfig}`,
    `--namespace=${OPERATOR_NAMESPACE}`,
    '--cloud-provider=local',
    `--cloud-config=${paths.operatorConfig}`,
    '--leader-elect=false', // it is the only one, and a restart needn't wait for a lease to run out
    `--port=${port}`,
    `--log-level=${logLevel}`,
    ...flags,
  ];
}

/** @returns undefined while it isn't */
async function isReady(port: number): Promise<true | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok || undefined;
  } catch {
    return undefined; // not listening yet
  }
}
