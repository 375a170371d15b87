import type { k8s } from 'cdk8s-plus-27';
import { hashJson } from '../operator/base/json';
import type { ControllerManager } from './options';

const NAME = 'cloud-operator-leader-migration';
const FOLDER = '/etc/cloud-operator-leader-migration';
const FILE = 'leader-migration.yaml';

/** The object that brings the file of the leader migration into the Pods. */
export function migrationConfigMap({ migrationConfig }: ControllerManager, metadata: k8s.ObjectMeta): k8s.KubeConfigMapProps | undefined {
  return migrationConfig === undefined ? undefined : { metadata: { ...metadata, name: NAME }, data: { [FILE]: migrationConfig } };
}

/** What the Pods of a `controller-manager` get: upstream's flags and, where controllers migrate by a file, that file. */
export function controllerManagerPod({ flags, migrationConfig }: ControllerManager): {
  args: string[];
  annotations?: Record<string, string>;
  volumes: k8s.Volume[];
  mounts: k8s.VolumeMount[];
} {
  if (migrationConfig === undefined) return { args: flags, volumes: [], mounts: [] };
  return {
    args: [...flags, '--enable-leader-migration', `--leader-migration-config=${FOLDER}/${FILE}`],
    // The file is read at the start only.
    annotations: { 'cloud-operator.dev/leader-migration-hash': hashJson(migrationConfig) },
    volumes: [{ name: 'leader-migration', configMap: { name: NAME } }],
    mounts: [{ name: 'leader-migration', mountPath: FOLDER, readOnly: true }],
  };
}
