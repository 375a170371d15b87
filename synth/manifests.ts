import { ApiObject, App, type Chart } from 'cdk8s';
import { toYaml } from '../crds/yaml';
import { OperatorError } from '../operator/base/errors';
import { ApprovalChart } from './charts/approval';
import { CrdsChart } from './charts/crds';
import { MetricsChart, MonitoringChart } from './charts/monitoring';
import { NamespaceChart } from './charts/namespace';
import { OperatorChart, StaticPodChart } from './charts/operator';
import { RbacChart } from './charts/rbac';
import { UiChart } from './charts/ui';
import { WebhooksChart } from './charts/webhooks';
import { gitopsAnnotations } from './gitops';
import { settingsOf, workloadOf, type ManifestOptions } from './options';

export type {
  ControllerManager,
  DropIn,
  Endpoint,
  Extension,
  FlagProvider,
  LeaseName,
  ManifestOptions,
  Webhooks,
  Workload,
} from './options';

/** A Kubernetes object as it is applied. */
export interface ManifestObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

/** `crds` come first and outlive the rest; `monitoring` needs the kinds of others; `static-pod` is a file for a kubelet, and not applied. */
export type Part = 'crds' | 'operator' | 'monitoring' | 'static-pod';

/** One object and the file that it is written to. */
export interface ManifestFile {
  part: Part;
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
  const crds = objectsOf(new CrdsChart(new App({ outdir: 'dist' }))).map((object) => toFile('crds', object));
  return checked(options.crdsOnly === true ? crds : [...crds, ...installation(options)]);
}

/** The same without the CRDs. */
export function installation(options: ManifestOptions): ManifestFile[] {
  const settings = settingsOf(options);
  const app = new App({ outdir: 'dist' });
  const charts = [
    new NamespaceChart(app, settings),
    new RbacChart(app, settings),
    new ApprovalChart(app),
    ...(settings.webhooks === undefined ? [] : [new WebhooksChart(app, settings, settings.webhooks)]),
    ...(settings.monitoring ? [new MetricsChart(app, settings)] : []),
    ...(settings.ui ? [new UiChart(app, settings)] : []),
    ...(settings.dropIn === undefined ? [new OperatorChart(app, settings)] : []),
  ];
  const apart: [Part, Chart[]][] = [
    ['monitoring', settings.monitoring ? [new MonitoringChart(app, settings)] : []],
    ['static-pod', workloadOf(settings) === 'StaticPod' ? [new StaticPodChart(app, settings)] : []],
  ];
  const filesOf = (part: Part, made: Chart[]): ManifestFile[] => made.flatMap(objectsOf).map((object) => toFile(part, object));
  return checked([...filesOf('operator', charts), ...apart.flatMap(([part, made]) => filesOf(part, made))]);
}

/** In the order of their making: cdk8s itself would sort by dependency only. */
function objectsOf(chart: Chart): ManifestObject[] {
  return chart.node.findAll().flatMap((construct) => (construct instanceof ApiObject ? (construct.toJson() as ManifestObject) : []));
}

function toFile(part: Part, made: ManifestObject): ManifestFile {
  const object = staged(part, made);
  const { apiVersion, kind, metadata } = object;
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : 'core';
  const folder = metadata.namespace ?? 'cluster';
  const path = `${part}/${folder}/${group}.${kind.toLowerCase()}.${metadata.name}.yaml`;
  return { part, path, object, yaml: toYaml(object) };
}

function staged(part: Part, object: ManifestObject): ManifestObject {
  const { kind, metadata } = object;
  const keeps = part === 'crds' || kind === 'Namespace';
  const stage = keeps ? 'kept' : part === 'operator' ? 'operator' : 'after';
  const annotations = { ...metadata.annotations, ...gitopsAnnotations(stage, kind) };
  return Object.keys(annotations).length === 0 ? object : { ...object, metadata: { ...metadata, annotations } };
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
