import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { OperatorError } from '../../operator/base/errors';
import { manifests } from '../../synth/manifests';
import { OPERATOR_NAMESPACE } from './operator';

/** Runs in the cluster, which has no machines for Pods: the supervisor runs the operator itself. */
const NOT_INSTALLED = new Set(['Deployment', 'PodDisruptionBudget', 'NetworkPolicy']);

export interface InstallOptions {
  kubectl: string;
  /** The admin's. */
  kubeconfig: string;
}

/** Applies the CRDs and the operator's rights, as an installation in a real cluster has them. @throws OperatorError with kubectl's words */
export async function install({ kubectl, kubeconfig }: InstallOptions): Promise<void> {
  const items = manifests({ namespace: OPERATOR_NAMESPACE })
    .map(({ object }) => object)
    .filter(({ kind }) => !NOT_INSTALLED.has(kind));
  const args = ['--kubeconfig', kubeconfig, 'apply', '--server-side', '--force-conflicts', '--field-manager=cloud-operator-dev', '-f', '-'];
  const applying = promisify(execFile)(kubectl, args, { maxBuffer: 16 * 1024 * 1024 });
  applying.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  try {
    await applying;
    // kubectl keeps what it has discovered for minutes; without this, `kubectl get cloud` would know nothing of the kinds just made.
    await promisify(execFile)(kubectl, ['--kubeconfig', kubeconfig, 'api-resources', '--cached=false']);
  } catch (thrown) {
    const { stderr } = thrown as { stderr?: string };
    throw new OperatorError('Unknown', `the manifests can't be applied: ${stderr?.trim() ?? (thrown as Error).message}`, { cause: thrown });
  }
}
