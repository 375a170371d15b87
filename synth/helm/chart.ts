import { OLDEST_KUBERNETES } from '../../crds';
import { toYaml } from '../../crds/yaml';
import { OperatorError } from '../../operator/base/errors';
import { installation, manifests, type ManifestFile } from '../manifests';
import { GENERATED, MARKER } from '../marker';
import { settingsOf, workloadOf, type ManifestOptions } from '../options';
import { choicesOf, decisionsOf, type Choice } from './choices';
import { Condition } from './condition';
import { Template, type Variant } from './merge';
import { fileNameOf, isReleaseNamespace, optionsFor } from './values';

/** Folder of the chart below the output. */
const FOLDER = 'helm/cloud-operator';

/**
 * A Helm chart of an installation: the same objects as its manifests, and what may differ between clusters as values, whose defaults are the given
 * options. CRDs are in the folder that Helm installs once and never takes away.
 * @returns path → text
 * @throws OperatorError Invalid for what can be no chart
 */
export function helmChart(options: ManifestOptions, version: string): Map<string, string> {
  if (options.dropIn !== undefined || options.crdsOnly === true || workloadOf(settingsOf(options)) === 'StaticPod')
    throw new OperatorError('Invalid', 'a Helm chart is for a whole installation with a Deployment or a DaemonSet');
  const choices = choicesOf(options);
  const crds = manifests({ crdsOnly: true }).map(({ path, yaml }): [string, string] => [path.replace('/cluster/', '/'), yaml]);
  const files: [string, string][] = [
    ['Chart.yaml', toYaml(chartOf(version))],
    ['values.yaml', toYaml(defaultsOf(options, choices))],
    ['values.schema.json', `${JSON.stringify(schemaOf(choices), undefined, 2)}\n`],
    ...crds,
    ['templates/checks.yaml', checksOf(settingsOf(options).leaderElection.namespace)],
    ...templatesOf(options, choices),
  ];
  return new Map(files.map(([path, text]) => [`${FOLDER}/${path}`, path.endsWith('.yaml') ? `${MARKER}\n${text}` : text]));
}

function templatesOf(options: ManifestOptions, choices: Choice[]): [string, string][] {
  const decisions = decisionsOf(choices);
  const variants = new Map<string, Variant[]>();
  for (const decision of decisions) {
    for (const { path, object } of templated(installation(optionsFor(options, decision)))) {
      variants.set(path, [...(variants.get(path) ?? []), { decision, value: object }]);
    }
  }
  const template = new Template(new Condition(choices));
  return [...variants].map(([path, all]) => [`templates/${fileNameOf(path)}`, template.object(all, decisions)]);
}

function templated(files: ManifestFile[]): ManifestFile[] {
  return files.filter(({ object }) => !isReleaseNamespace(object));
}

function chartOf(version: string): object {
  return {
    apiVersion: 'v2',
    name: 'cloud-operator',
    description: 'A declarative cloud-controller-manager for Kubernetes',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: `>=${OLDEST_KUBERNETES}.0-0`,
  };
}

function defaultsOf(options: ManifestOptions, choices: Choice[]): object {
  const {
    image,
    replicas,
    workload,
    network,
    monitoring,
    ui,
    stateNamespace = '',
    secretsProvider = '',
    provider,
    apiServer,
  } = {
    ...settingsOf(options),
    stateNamespace: options.stateNamespace,
  };
  const shape = choices.some(({ name }) => name === 'workload') ? { workload, network } : {};
  return {
    ...{ image, replicas, monitoring, ui, stateNamespace, secretsProvider, ...shape },
    provider: provider ?? { kind: '', config: '' },
    apiServer: apiServer ?? { host: '', port: 6443 },
  };
}

/** What Helm checks values by: a name that is not there is a mistake, not a wish. */
function schemaOf(choices: Choice[]): object {
  const text = { type: 'string' };
  const name = { type: 'string', pattern: '^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$' };
  const object = (properties: object): object => ({ type: 'object', properties, additionalProperties: false });
  const words = choices.filter(({ outcomes }) => outcomes[0]?.value !== 'yes');
  const shape = Object.fromEntries(words.map(({ name: choice, outcomes }) => [choice, { enum: outcomes.map(({ value }) => value) }]));
  const both = { properties: { workload: { const: 'DaemonSet' }, network: { const: 'Pod' } } };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: GENERATED,
    ...object({
      ...shape,
      global: { type: 'object' },
      image: { type: 'string', pattern: '^[\\w.:/@-]+$' },
      replicas: { type: 'integer', minimum: 0, maximum: 10 },
      monitoring: { type: 'boolean' },
      ui: { type: 'boolean' },
      stateNamespace: name,
      secretsProvider: text,
      provider: object({ kind: text, config: text }),
      apiServer: object({ host: text, port: { type: 'integer', minimum: 1, maximum: 65_535 } }),
    }),
    ...(words.length === 0 ? {} : { not: both }),
  };
}

/** Two Roles of one name in one namespace: what a schema can't see. */
function checksOf(leases: string): string {
  const refuse = (test: string, message: string): string => `{{- if ${test} }}\n{{- fail ${JSON.stringify(message)} }}\n{{- end }}\n`;
  return [
    refuse(`eq .Release.Namespace "${leases}"`, `the Lease is in ${leases}: install into a namespace of its own (--namespace)`),
    refuse(
      `or (eq .Values.stateNamespace .Release.Namespace) (eq .Values.stateNamespace "${leases}")`,
      'stateNamespace is for a third namespace: leave it empty to keep state in that of the release',
    ),
    refuse(
      `and .Values.provider.config (not .Values.provider.kind)`,
      'provider.kind and provider.config need each other; without both, write CloudProvider objects',
    ),
  ].join('');
}
