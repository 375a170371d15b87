import { parse, parseAllDocuments } from 'yaml';
import { helmChart } from '../../../synth/helm/chart';
import { choicesOf, decisionsOf, type Decision } from '../../../synth/helm/choices';
import { installation, manifests, type ManifestObject, type ManifestOptions } from '../../../synth/manifests';
import { helmRender, type HelmInput } from '../../harness/helm-render';
import { expectGolden } from '../../golden/golden';

const CHART = 'helm/cloud-operator';
const NAMESPACE = 'cloud';
const config = 'local:\n  endpoint: "http://127.0.0.1:8080"\n# 100 % <of> it & more\n';

/** The values, and the options that mean the same, for one decision. */
function alternatives(decision: Decision): { values: Record<string, unknown>; options: ManifestOptions } {
  const values: Record<string, unknown> = { image: 'registry.example/x@sha256:00', replicas: 3, ...decision };
  const options: ManifestOptions = { namespace: NAMESPACE, image: 'registry.example/x@sha256:00', replicas: 3 };
  if (decision.workload !== undefined) Object.assign(options, { workload: decision.workload, network: decision.network });
  for (const name of ['monitoring', 'ui']) Object.assign(options, { [name]: (values[name] = decision[name] === 'yes') });
  values.stateNamespace = decision.stateNamespace === 'yes' ? 'cloud-state' : '';
  values.secretsProvider = decision.secretsProvider === 'yes' ? 'awskms://alias/x?region=eu-west-1#"' : '';
  values.provider = decision.provider === 'yes' ? { kind: 'local', config } : { kind: '', config: '' };
  values.apiServer = decision.apiServer === 'yes' ? { host: '2001:db8::1', port: 443 } : { host: '', port: 6443 };
  for (const name of ['stateNamespace', 'secretsProvider', 'provider', 'apiServer'])
    if (decision[name] === 'yes') Object.assign(options, { [name]: values[name] });
  return { values, options };
}

function rendered(chart: ReadonlyMap<string, string>, input: HelmInput): ManifestObject[] {
  const templates = [...chart].filter(([path]) => path.startsWith(`${CHART}/templates/`));
  return templates.flatMap(([, text]) =>
    parseAllDocuments(helmRender(text, input), { version: '1.1' }).flatMap((document) => {
      expect(document.errors).toEqual([]);
      return (document.toJS() as ManifestObject | null) ?? [];
    }),
  );
}

const words = ({ kind, metadata }: ManifestObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const sorted = (objects: ManifestObject[]): ManifestObject[] => [...objects].sort((a, b) => (words(a) < words(b) ? -1 : 1));

describe('the Helm chart', () => {
  const chart = helmChart({}, '1.2.3');

  it('renders, for each way to decide, the objects of the manifests', () => {
    const decisions = decisionsOf(choicesOf({}));
    expect(decisions).toHaveLength(192);
    for (const decision of decisions) {
      const { values, options } = alternatives(decision);
      const wanted = installation(options)
        .map(({ object }) => JSON.parse(JSON.stringify(object)) as ManifestObject)
        .filter(({ kind, metadata }) => kind !== 'Namespace' || metadata.name !== NAMESPACE);
      const input = { Values: values, Release: { Namespace: NAMESPACE } };
      expect({ decision, objects: sorted(rendered(chart, input)) }).toEqual({ decision, objects: sorted(wanted) });
    }
  });

  it('is what was reviewed, and the same bytes every time', () => {
    expect([...helmChart({}, '1.2.3')]).toEqual([...chart]);
    const templates = [...chart].filter(([path]) => !path.includes('/crds/'));
    expectGolden('manifests/helm.txt', templates.map(([path, text]) => `=== ${path}\n${text}`).join(''));
  });

  it('has the CRDs where Helm leaves them', () => {
    const crds = [...chart].filter(([path]) => path.startsWith(`${CHART}/crds/`)).map(([, text]) => parse(text) as unknown);
    expect(crds).toEqual(manifests({ crdsOnly: true }).map(({ yaml }) => parse(yaml) as unknown));
  });

  it('has the given options as values, and what else they say for good', () => {
    const options = { image: 'example:1', replicas: 1, network: 'Pod' as const, stateNamespace: 'state', extension: { module: 'spare' } };
    const made = helmChart(options, '1.2.3');
    const values = parse(made.get(`${CHART}/values.yaml`) ?? '') as Record<string, unknown>;
    expect(values).toMatchObject({ image: 'example:1', replicas: 1, workload: 'Deployment', network: 'Pod', stateNamespace: 'state' });
    const objects = rendered(made, { Values: values, Release: { Namespace: NAMESPACE } });
    expect(JSON.stringify(objects)).toContain('--extension=spare');
  });

  it('of a controller-manager has its workload for good', () => {
    const health = { host: '127.0.0.1', port: 10258 };
    const controllerManager = { workload: 'DaemonSet' as const, flags: ['--v=2'], health, serviceAccountCredentials: true };
    const made = helmChart({ controllerManager }, '1.2.3');
    const values = parse(made.get(`${CHART}/values.yaml`) ?? '') as Record<string, unknown>;
    expect(values).not.toHaveProperty('workload');
    const objects = rendered(made, { Values: values, Release: { Namespace: NAMESPACE } });
    expect(sorted(objects)).toEqual(
      sorted(
        installation({ namespace: NAMESPACE, controllerManager })
          .map(({ object }) => JSON.parse(JSON.stringify(object)) as ManifestObject)
          .filter(({ kind }) => kind !== 'Namespace'),
      ),
    );
  });

  it.each([
    ['kube-system', {}, 'the Lease is in kube-system'],
    [NAMESPACE, { stateNamespace: NAMESPACE }, 'stateNamespace is for a third namespace'],
    [NAMESPACE, { stateNamespace: 'kube-system' }, 'stateNamespace is for a third namespace'],
    [NAMESPACE, { provider: { kind: '', config: 'local: {}' } }, 'provider.kind and provider.config need each other'],
  ])('is refused in %s with %j', (namespace, values, message) => {
    const defaults = parse(chart.get(`${CHART}/values.yaml`) ?? '') as Record<string, unknown>;
    expect(() => rendered(chart, { Values: { ...defaults, ...values }, Release: { Namespace: namespace } })).toThrow(message);
  });

  it('is for a whole installation in a cluster', () => {
    expect(() => helmChart({ workload: 'StaticPod' }, '1.2.3')).toThrow('a Helm chart is for a whole installation');
  });
});
