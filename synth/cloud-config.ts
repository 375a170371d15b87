import type { k8s } from 'cdk8s-plus-27';
import type { FlagProvider } from './options';

const CONFIG_MAP = 'cloud-operator-cloud-config';
const FOLDER = '/etc/cloud-operator';
const FILE = 'cloud.yaml';

/** The object that brings the spec of the flags' CloudProvider into the Pods. */
export function cloudConfigMap({ config }: FlagProvider, metadata: k8s.ObjectMeta): k8s.KubeConfigMapProps {
  return { metadata: { ...metadata, name: CONFIG_MAP }, data: { [FILE]: config } };
}

/** What the Pods get of it. */
export function cloudConfigPod({ kind }: FlagProvider): { args: string[]; volumes: k8s.Volume[]; mounts: k8s.VolumeMount[] } {
  return {
    args: [`--cloud-provider=${kind}`, `--cloud-config=${FOLDER}/${FILE}`],
    volumes: [{ name: 'config', configMap: { name: CONFIG_MAP } }],
    mounts: [{ name: 'config', mountPath: FOLDER, readOnly: true }],
  };
}
