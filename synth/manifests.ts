import { ApiObject, App, type Chart } from 'cdk8s';
import { toYaml } from '../crds/yaml';
import { OperatorError } from '../operator/base/errors';
import { ApprovalChart } from './charts/approval';
import { CrdsChart } from './charts/crds';
import { NamespaceChart } from './charts/namespace';
import { OperatorChart } from './charts/operator';
import { RbacChart } from './charts/rbac';
import { WebhooksChart } from './charts/webhooks';
import { settingsOf, type ManifestOptions } from './options';

export type { ControllerManager, DropIn, Extension, FlagProvider, LeaseName, ManifestOptions, Webhooks } from './options';

/** A Kubernetes object as it is applied. */
export interface ManifestObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

/** One object and the file that it is written to. */
export interface ManifestFile {
  /** `crds` come first and outlive the rest. */
  part: 'crds' | 'operator';
  /** `operator/cluster/rbac.authorization.k8s.io.clusterrole.cloud-operator.yaml`. */
  path: string;
  object: ManifestObject;
  yaml: string;
}

/**
 * Every object of an installation, in the order in which it can be applied.
 * @throws OperatorError Invalid when two objects would be one file, or a manifest holds what a GitOps tool would trip over
 */
export function manifests(options: ManifestOptions = {}): ManifestFile[] {
  const settings = settingsOf(options);
  const app = new App({ outdir: 'dist' });
  const crds = objectsOf(new CrdsChart(app)).map((object) => toFile('crds', object));
  if (settings.crdsOnly) return checked(crds);
  const charts = [
    new NamespaceChart(app, settings),
    new RbacChart(app, settings),
    new ApprovalChart(app),
    ...(settings.webhooks === undefined ? [] : [new WebhooksChart(app, settings, settings.webhooks)]),
    ...(settings.dropIn === undefined ? [new OperatorChart(app, settings)] : []),
  ];
  return checked([...crds, ...charts.flatMap(objectsOf).map((object) => toFile('operator', object))]);
}

/** In the order of their making: cdk8s itself would sort by dependency only. */
function objectsOf(chart: Chart): ManifestObject[] {
  return chart.node.findAll().flatMap((construct) => (construct instanceof ApiObject ? (construct.toJson() as ManifestObject) : []));
}

function toFile(part: ManifestFile['part'], object: ManifestObject): ManifestFile {
  const { apiVersion, kind, metadata } = object;
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : 'core';
  const folder = metadata.namespace ?? 'cluster';
  const path = `${part}/${folder}/${group}.${kind.toLowerCase()}.${metadata.name}.yaml`;
  return { part, path, object, yaml: toYaml(object) };
}

function checked(files: ManifestFile[]): ManifestFile[] {
  const paths = new Set<string>();
  for (const { path, yaml } of files) {
    if (paths.has(path)) throw new OperatorError('Invalid', `two objects would be written to ${path}`);
    paths.add(path);
    // null would ask the API server to remove a field
    if (yaml.includes('${')) throw new OperatorError('Invalid', `${path} contains "\${", which Flux takes for a variable`);
    if (/: null$/m.test(yaml)) throw new OperatorError('Invalid', `${path} contains null`);
  }
  return files;
}
