import { parse } from 'yaml';
import { parseFlags } from '../../../operator/flags/parse';
import { RUN_DEFAULTS } from '../../../operator/flags/run-defaults';
import { FLAGS, type FlagValues } from '../../../operator/flags/table';
import { validateFlags } from '../../../operator/flags/validate';
import { manifests, type ManifestFile, type ManifestOptions } from '../../../synth/manifests';
import { oneManifest, outputFiles } from '../../../synth/output';
import { expectGolden } from '../../golden/golden';

interface Pod {
  serviceAccountName?: string;
  automountServiceAccountToken: boolean;
  priorityClassName: string;
  hostNetwork?: boolean;
  dnsPolicy: string;
  nodeSelector?: Record<string, string>;
  tolerations: { key?: string; operator: string; effect?: string }[];
  affinity?: { podAntiAffinity: object };
  volumes: { name: string; hostPath?: object }[];
  containers: {
    args: string[];
    env: { name: string; value: string }[];
    ports?: { containerPort: number; hostPort?: number; protocol: string }[];
    readinessProbe: { httpGet: object };
  }[];
}

const WORKLOADS = ['Deployment', 'DaemonSet', 'Pod'];

function podOf(options: ManifestOptions): Pod {
  const { object } = manifests(options).find((file) => WORKLOADS.includes(file.object.kind))!;
  const spec = object.spec as Pod & { template: { spec: Pod } };
  return object.kind === 'Pod' ? spec : spec.template.spec;
}

function valuesOf(args: readonly string[]): FlagValues {
  const [command, ...flags] = args;
  const { values } = parseFlags(FLAGS, flags, command === 'run' ? RUN_DEFAULTS : {});
  validateFlags(values as FlagValues);
  return values as FlagValues;
}

const named = (files: ManifestFile[], kind: string): ManifestFile['object'][] =>
  files.map(({ object }) => object).filter((object) => object.kind === kind);

describe('what runs the operator', () => {
  it.each(['Deployment', 'DaemonSet', 'StaticPod'] as const)('as %s works before there is a network, DNS or a ready Node', (workload) => {
    const pod = podOf({ workload });
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'Default' });
    const tolerated = (key: string): boolean =>
      pod.tolerations.some((one) => one.operator === 'Exists' && (one.key ?? key) === key && (one.effect ?? 'NoSchedule') === 'NoSchedule');
    for (const key of [
      'node.cloudprovider.kubernetes.io/uninitialized',
      'node.kubernetes.io/not-ready',
      'node-role.kubernetes.io/control-plane',
    ])
      expect({ key, tolerated: tolerated(key) }).toEqual({ key, tolerated: true });
    const flags = valuesOf(pod.containers[0]?.args ?? []);
    expect(flags).toMatchObject({ port: 10258, 'secure-port': 0 });
    expect(pod.containers[0]?.readinessProbe.httpGet).toEqual({ host: '127.0.0.1', path: '/readyz', port: 10258, scheme: 'HTTP' });
  });

  const health = { host: '127.0.0.1', port: 10443 };
  const managed = { workload: 'Deployment' as const, flags: ['--secure-port=10443'], health, serviceAccountCredentials: false };
  const webhooks = { names: ['persistent-volume-label' as const], trust: 'cert-manager' as const, port: 10260 };

  it.each<[string, ManifestOptions, number[]]>([
    ['a Deployment', {}, [10258]],
    ['a DaemonSet', { workload: 'DaemonSet' }, [10258]],
    ['a Deployment of controller-manager', { controllerManager: managed }, [10443]],
    ['a Deployment with webhooks', { webhooks }, [10258, 10260]],
  ])('as %s takes its ports from its Node: a second Pod, which could not listen there, waits for another one', (_, options, taken) => {
    const wanted = taken.map((port) => expect.objectContaining({ containerPort: port, hostPort: port, protocol: 'TCP' }) as unknown);
    expect(podOf(options).containers[0]?.ports).toEqual(wanted);
    const { spec } = manifests(options).find(({ object }) => WORKLOADS.includes(object.kind))!.object as unknown as {
      spec: { strategy?: object; updateStrategy?: object };
    };
    // The new Pod of an update comes when an old one has gone.
    expect(spec.strategy ?? spec.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } });
  });

  it.each<ManifestOptions>([{ network: 'Pod' }, { workload: 'StaticPod' }])('takes none of its Node where %p', (options) => {
    expect(podOf(options).containers[0]?.ports).toBeUndefined();
  });

  it.each(['Deployment', 'DaemonSet'] as const)(
    'as a %s stays on a Node that has no network yet, and goes from one that is lost',
    (workload) => {
      const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
      const pod = podOf({ workload });
      expect(pod.tolerations).toContainEqual(notReady);
      expect(pod.tolerations.map(({ key }) => key)).not.toContain('node.kubernetes.io/unreachable');
      expect(pod.nodeSelector).toMatchObject({ 'kubernetes.io/os': 'linux' });
      expect(podOf({ network: 'Pod' }).tolerations).not.toContainEqual(notReady);
    },
  );

  it('as a Deployment spreads, and keeps one Pod while Nodes are drained', () => {
    const files = manifests({ replicas: 3 });
    expect(podOf({ replicas: 3 })).toMatchObject({ priorityClassName: 'system-cluster-critical' });
    expect(podOf({ replicas: 3 }).affinity?.podAntiAffinity).toBeDefined();
    const selector = { matchLabels: { 'app.kubernetes.io/component': 'operator', 'app.kubernetes.io/name': 'cloud-operator' } };
    expect(named(files, 'PodDisruptionBudget')).toMatchObject([{ spec: { maxUnavailable: 1, selector } }]);
    expect(named(files, 'Deployment')).toMatchObject([{ spec: { replicas: 3, selector } }]);
  });

  it('as a DaemonSet is on the control plane, with the priority of a Node’s own parts', () => {
    const pod = podOf({ workload: 'DaemonSet' });
    expect(pod).toMatchObject({ priorityClassName: 'system-node-critical', nodeSelector: { 'node-role.kubernetes.io/control-plane': '' } });
    expect(named(manifests({ workload: 'DaemonSet' }), 'PodDisruptionBudget')).toEqual([]);
  });

  it('as a static Pod needs no object, is no part of what is applied, and works as the user of its kubeconfig', () => {
    const files = manifests({ workload: 'StaticPod' });
    const pod = files.filter(({ part }) => part === 'static-pod');
    expect(pod.map(({ path }) => path)).toEqual(['static-pod/cloud-operator-system/core.pod.cloud-operator.yaml']);
    expectGolden('manifests/static-pod.yaml.txt', pod[0]?.yaml ?? '');
    expect(podOf({ workload: 'StaticPod' }).serviceAccountName).toBeUndefined();
    expect(valuesOf(podOf({ workload: 'StaticPod' }).containers[0]?.args ?? []).kubeconfig).toBe('/etc/kubernetes/cloud-operator.conf');
    expect(named(files, 'ServiceAccount')).toEqual([]);
    const subjects = files.flatMap(({ object }) => (object.subjects as object[] | undefined) ?? []);
    expect(new Set(subjects.map((subject) => JSON.stringify(subject))).size).toBe(1);
    expect(subjects[0]).toEqual({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'cloud-operator' });
    expect(oneManifest({ workload: 'StaticPod' })).not.toContain('kind: Pod\n');
  });

  it('as a static Pod of controller-manager asks by the same kubeconfig who its callers are', () => {
    const health = { host: '127.0.0.1', port: 10258 };
    const controllerManager = { workload: 'StaticPod' as const, flags: ['--v=2'], health, serviceAccountCredentials: false };
    const flags = valuesOf(podOf({ controllerManager }).containers[0]?.args ?? []);
    expect(flags).toMatchObject({ 'authentication-kubeconfig': flags.kubeconfig, 'authorization-kubeconfig': flags.kubeconfig, v: 2 });
  });

  it('finds the API server where it is told to', () => {
    const { env } = podOf({ apiServer: { host: '192.0.2.1', port: 6443 } }).containers[0]!;
    expect(env).toEqual(
      expect.arrayContaining([
        { name: 'KUBERNETES_SERVICE_HOST', value: '192.0.2.1' },
        { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
      ]),
    );
    expect(podOf({}).containers[0]?.env.map(({ name }) => name)).not.toContain('KUBERNETES_SERVICE_HOST');
  });

  it('on the Pods’ network has no right on its host, answers the kubelet at its own address, and lets nothing else in', () => {
    const files = manifests({ network: 'Pod' });
    const pod = podOf({ network: 'Pod' });
    expect(pod.hostNetwork).toBeUndefined();
    expect(pod.volumes.filter(({ hostPath }) => hostPath !== undefined)).toEqual([]);
    expect(pod.containers[0]?.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 10258, scheme: 'HTTPS' });
    expect(valuesOf(pod.containers[0]?.args ?? [])).toMatchObject({ port: -1, 'secure-port': 10258 });
    expect(named(files, 'Namespace')).toMatchObject([{ metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }]);
    expect(named(files, 'NetworkPolicy')).toMatchObject([
      { spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 10258, protocol: 'TCP' }] }] } },
    ]);
    expect(named(manifests(), 'NetworkPolicy')).toEqual([]);
  });

  it('keeps state where no Pod can run but one that may do nothing', () => {
    expect(named(manifests({ stateNamespace: 'state' }), 'Namespace').at(-1)).toMatchObject({
      metadata: { name: 'state', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
  });
});

describe('the order of installation and removal', () => {
  const files = manifests({ monitoring: true, stateNamespace: 'state' });
  const wave = ({ object }: ManifestFile): number => Number(object.metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);

  it('brings CRDs and namespaces first, then the operator with its rights, all before what people write; it goes in reverse', () => {
    for (const file of files) {
      const kept = file.part === 'crds' || file.object.kind === 'Namespace';
      expect({ path: file.path, wave: wave(file) }).toEqual({ path: file.path, wave: kept ? -2 : file.part === 'operator' ? -1 : 0 });
    }
  });

  it('leaves people’s objects and the stacks’ state when an application or a release goes', () => {
    const kept = files.filter(({ object }) => object.metadata.annotations?.['helm.sh/resource-policy'] === 'keep');
    expect(new Set(kept.map(({ object }) => object.kind))).toEqual(new Set(['CustomResourceDefinition', 'Namespace']));
    for (const { object } of kept) {
      expect(object.metadata.annotations?.['argocd.argoproj.io/sync-options']).toMatch(
        /^Prune=false,Delete=false(,ServerSideApply=true)?$/,
      );
      expect(object.metadata.annotations?.['kustomize.toolkit.fluxcd.io/prune']).toBe('disabled');
    }
    expect(kept).toHaveLength(files.filter(({ object }) => ['CustomResourceDefinition', 'Namespace'].includes(object.kind)).length);
  });
});

describe('monitoring', () => {
  const files = manifests({ monitoring: true });

  it('is what was reviewed, apart from the rest', () => {
    expectGolden('manifests/monitoring.yaml.txt', outputFiles({ monitoring: true }).get('monitoring.yaml') ?? '');
    expect(manifests().map(({ part }) => part)).not.toContain('monitoring');
  });

  it('serves metrics over HTTPS to whom the cluster lets read them', () => {
    const pod = podOf({ monitoring: true });
    expect(valuesOf(pod.containers[0]?.args ?? [])).toMatchObject({ port: -1, 'secure-port': 10258 });
    expect(pod.containers[0]?.readinessProbe.httpGet).toEqual({ host: '127.0.0.1', path: '/readyz', port: 10258, scheme: 'HTTPS' });
    expect(named(files, 'ClusterRoleBinding').map(({ roleRef }) => roleRef)).toContainEqual(
      expect.objectContaining({ name: 'system:auth-delegator' }),
    );
    expect(named(files, 'ClusterRole').find(({ metadata }) => metadata.name === 'cloud-operator-metrics-reader')).toMatchObject({
      rules: [{ nonResourceURLs: ['/metrics', '/metrics/slis'], verbs: ['get'] }],
    });
  });

  it('has a ServiceMonitor that selects its Service, and a port that it has', () => {
    const [service] = named(files, 'Service') as unknown as { metadata: { labels: object }; spec: { ports: { name: string }[] } }[];
    const [monitor] = named(files, 'ServiceMonitor') as unknown as {
      spec: { selector: { matchLabels: object }; endpoints: { port: string }[] };
    }[];
    expect(service?.metadata.labels).toMatchObject(monitor?.spec.selector.matchLabels ?? { none: '' });
    expect(service?.spec.ports.map(({ name }) => name)).toEqual(monitor?.spec.endpoints.map(({ port }) => port));
  });

  it('has a dashboard that Grafana can read', () => {
    const map = named(files, 'ConfigMap').find(({ metadata }) => metadata.name === 'cloud-operator-dashboard');
    const { 'cloud-operator.json': text = '' } = map?.data as Record<string, string>;
    const { panels } = parse(text) as { panels: { gridPos: { x: number; y: number } }[] };
    expect(new Set(panels.map(({ gridPos }) => `${gridPos.x}/${gridPos.y}`)).size).toBe(panels.length);
  });
});
