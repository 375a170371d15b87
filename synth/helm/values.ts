import type { ManifestOptions } from '../options';
import type { Decision } from './choices';

/** A value of the chart, which stands in the manifests as a word (or number) that nothing else has. */
interface Stand {
  word: string;
  template: string;
}

const STANDS = {
  namespace: { word: 'helm-release-namespace', template: '.Release.Namespace' },
  image: { word: 'helm-value-image', template: '.Values.image' },
  replicas: { word: '4242421', template: '.Values.replicas' },
  stateNamespace: { word: 'helm-value-state-namespace', template: '.Values.stateNamespace' },
  secretsProvider: { word: 'helm-value-secrets-provider', template: '.Values.secretsProvider' },
  kind: { word: 'helm-value-provider-kind', template: '.Values.provider.kind' },
  config: { word: 'helm-value-provider-config', template: '.Values.provider.config' },
  host: { word: 'helm-value-api-server-host', template: '.Values.apiServer.host' },
  port: { word: '4242422', template: '.Values.apiServer.port' },
} satisfies Record<string, Stand>;
const WORDS = new Map(Object.values(STANDS).map(({ word, template }) => [word, template]));
const ANY_WORD = new RegExp([...WORDS.keys()].join('|'), 'g');

/** The options whose manifests have the words in place of values. */
export function optionsFor(base: ManifestOptions, decision: Decision): ManifestOptions {
  const { namespace, image, replicas, stateNamespace, secretsProvider, kind, config, host, port } = STANDS;
  const chosen = (name: string, options: ManifestOptions): ManifestOptions => (decision[name] === 'yes' ? options : {});
  const fixed = { ...base };
  for (const name of ['stateNamespace', 'secretsProvider', 'provider', 'apiServer'] as const) delete fixed[name];
  return {
    ...fixed,
    namespace: namespace.word,
    image: image.word,
    replicas: Number(replicas.word),
    monitoring: decision.monitoring === 'yes',
    ui: decision.ui === 'yes',
    ...('workload' in decision ? { workload: decision.workload as 'Deployment', network: decision.network as 'Host' } : {}),
    ...chosen('stateNamespace', { stateNamespace: stateNamespace.word }),
    ...chosen('secretsProvider', { secretsProvider: secretsProvider.word }),
    ...chosen('provider', { provider: { kind: kind.word, config: config.word } }),
    ...chosen('apiServer', { apiServer: { host: host.word, port: Number(port.word) } }),
  };
}

/** What stands in a template for a text of the manifests; undefined = the text itself. JSON is YAML, whatever characters a value has. */
export function templateOf(scalar: unknown): string | undefined {
  if (typeof scalar === 'number') {
    const template = WORDS.get(String(scalar));
    return template === undefined ? undefined : `{{ ${template} | int }}`;
  }
  if (typeof scalar !== 'string') return undefined;
  const values = [...scalar.matchAll(ANY_WORD)].map(([word]) => WORDS.get(word) ?? '');
  if (values.length === 0) return undefined;
  const format = scalar.replaceAll('%', '%%').replaceAll(ANY_WORD, '%v');
  return `{{ printf ${JSON.stringify(format)} ${values.join(' ')} | toJson }}`;
}

/** The name of a template file: no value is known yet. */
export function fileNameOf(path: string): string {
  return path.split('/').slice(1).join('.').replaceAll(STANDS.namespace.word, 'release').replaceAll(STANDS.stateNamespace.word, 'state');
}

/** Whether an object is the Namespace that Helm itself makes, or finds. */
export function isReleaseNamespace({ kind, metadata }: { kind: string; metadata: { name: string } }): boolean {
  return kind === 'Namespace' && metadata.name === STANDS.namespace.word;
}
