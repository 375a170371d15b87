import type { k8s } from 'cdk8s-plus-27';
import { hashJson } from '../operator/base/json';
import type { Extension } from './options';

const NAME = 'cloud-operator-extension';
const FOLDER = '/etc/cloud-operator-extension';

/** The object that brings the module into the Pods. Base64 where Flux would take its template literals for variables. */
export function extensionConfigMap(extension: Extension, metadata: k8s.ObjectMeta): k8s.KubeConfigMapProps | undefined {
  if (!('file' in extension)) return undefined;
  const { file, text } = extension;
  const content = text.includes('${') ? { binaryData: { [file]: Buffer.from(text).toString('base64') } } : { data: { [file]: text } };
  return { metadata: { ...metadata, name: NAME }, ...content };
}

/** What the Pods get of it: the flag, the mounted file, and an annotation that rolls them out when the file changes. */
export function extensionPod(extension: Extension): {
  args: string[];
  annotations?: Record<string, string>;
  volumes: k8s.Volume[];
  mounts: k8s.VolumeMount[];
} {
  if ('module' in extension) return { args: [`--extension=${extension.module}`], volumes: [], mounts: [] };
  return {
    args: [`--extension=${FOLDER}/${extension.file}`],
    annotations: { 'cloud-operator.dev/extension-hash': hashJson(extension.text) },
    volumes: [{ name: 'extension', configMap: { name: NAME } }],
    mounts: [{ name: 'extension', mountPath: FOLDER, readOnly: true }],
  };
}
