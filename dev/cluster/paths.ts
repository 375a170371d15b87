import { homedir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../operator/base/errors';

/** Where a development cluster keeps what. Everything is under `root`. */
export interface DevPaths {
  root: string;
  /** Data, keys and kubeconfigs of the control plane. */
  controlPlane: string;
  /** Journal and token of the local cloud. */
  cloud: string;
  cloudToken: string;
  cloudConfig: string;
  /** Stack state of the operator. */
  operator: string;
  /** The CloudProvider settings that the operator is started with. */
  operatorConfig: string;
  logs: string;
  /** What `status` shows; written by the supervisor. */
  state: string;
  /** Held by the supervisor for its life. */
  lock: string;
  ports: string;
}

/** @param root any folder; a test or the demo uses a temporary one */
export function devPathsIn(root: string): DevPaths {
  const cloud = join(root, 'cloud');
  return {
    root,
    controlPlane: join(root, 'control-plane'),
    cloud,
    cloudToken: join(cloud, 'token'),
    cloudConfig: join(root, 'local-cloud.json'),
    operator: join(root, 'operator'),
    operatorConfig: join(root, 'cloud-config.json'),
    logs: join(root, 'logs'),
    state: join(root, 'state.json'),
    lock: join(root, 'lock'),
    ports: join(root, 'ports.json'),
  };
}

/**
 * The folder of a named development cluster, as the XDG base directory specification has it.
 * @throws OperatorError Invalid on a name that can't be a folder's
 */
export function devPaths(name: string, environment: NodeJS.ProcessEnv = process.env): DevPaths {
  if (!/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) {
    throw new OperatorError('Invalid', `--name "${name}" can't be used`, { remedy: 'use up to 40 small letters, digits and hyphens' });
  }
  return devPathsIn(join(devBase(environment), name));
}

/** The folder that holds one folder for each development cluster. */
export function devBase(environment: NodeJS.ProcessEnv): string {
  const base = environment['XDG_DATA_HOME'];
  const data = base !== undefined && base.startsWith('/') ? base : join(homedir(), '.local', 'share');
  return join(data, 'cloud-operator', 'dev');
}
