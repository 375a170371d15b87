import { toYaml } from '../crds/yaml';
import { manifests, type ManifestFile, type ManifestOptions, type Part } from './manifests';
import { MARKER } from './marker';

const PARTS: readonly Part[] = ['crds', 'operator', 'monitoring', 'static-pod'];

/** Everything that `cloud-operator manifests` writes: path below the output folder → text. */
export function outputFiles(options: ManifestOptions = {}): Map<string, string> {
  const files = manifests(options);
  const parts = PARTS.map((part) => ({ part, files: files.filter((file) => file.part === part) }));
  const filled = parts.filter((at) => at.files.length > 0);
  return new Map(
    filled.flatMap(({ part, files: own }) => [
      ...own.map(({ path, yaml }): [string, string] => [path, `${MARKER}\n${yaml}`]),
      ...(part === 'static-pod' ? [] : together(part, own)),
    ]),
  );
}

/** The same objects as one manifest, in the order in which they can be applied. A static Pod is none of them. */
export function oneManifest(options: ManifestOptions): string {
  return `${MARKER}\n${manifests(options)
    .filter(({ part }) => part !== 'static-pod')
    .map(({ yaml }) => `---\n${yaml}`)
    .join('')}`;
}

/** All objects of a part in one file, for `kubectl apply -f`. */
const FLAT_FILES = { crds: 'crds.yaml', operator: 'install.yaml', monitoring: 'monitoring.yaml' };

function together(part: keyof typeof FLAT_FILES, files: ManifestFile[]): [string, string][] {
  return [
    [`${part}/kustomization.yaml`, `${MARKER}\n${toYaml(kustomization(part, files))}`],
    [FLAT_FILES[part], `${MARKER}\n${files.map(({ yaml }) => `---\n${yaml}`).join('')}`],
  ];
}

function kustomization(part: string, files: ManifestFile[]): object {
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: files.map(({ path }) => path.slice(part.length + 1)),
  };
}
