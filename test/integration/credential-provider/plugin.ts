import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';

export interface PluginAnswer {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the plugin as a kubelet does. @param asked what of a request is told beside its kind and version */
export async function runPlugin(args: readonly string[], asked: object, environment: Record<string, string> = {}): Promise<PluginAnswer> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'bin/cloud-operator.js'), 'credential-provider', ...args], {
    env: { PATH, HOME, ...environment },
  });
  child.stdin.end(JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion: 'credentialprovider.kubelet.k8s.io/v1', ...asked }));
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}
