import { parse, parseAllDocuments } from 'yaml';
import { KINDS } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { parseFlags } from '../../../operator/flags/parse';
import { FLAGS, type FlagValues } from '../../../operator/flags/table';
import { validateFlags } from '../../../operator/flags/validate';
import {
  manifests,
  type ControllerManager,
  type Extension,
  type ManifestFile,
  type ManifestObject,
  type ManifestOptions,
  type Webhooks,
} from '../../../synth/manifests';
import { oneManifest, outputFiles } from '../../../synth/output';
import { settingsOf } from '../../../synth/options';
import { LOOP_ACCOUNTS, permissions, type Permission } from '../../../operator/permissions';
import { rulesIn, type PolicyRule } from '../../../synth/rbac';
import { expectGolden } from '../../golden/golden';

const provider = { kind: 'local', config: 'local:\n  endpoint: http://127.0.0.1:8080\n' };

interface DeploymentSpec {
  template: {
    metadata: { annotations?: Record<string, string> };
    spec: { volumes: object[]; containers: { args: string[]; volumeMounts: object[] }[] };
  };
}

function everyKey(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, below]) => [key, ...everyKey(below)]);
}

describe('manifests', () => {
  it('are those that were reviewed', () => {
    expectGolden('manifests/install.yaml.txt', outputFiles().get('install.yaml') ?? '');
  });

  it('with every option are those that were reviewed', () => {
    const options = {
      namespace: 'cloud',
      image: 'registry.example/cloud-operator@sha256:0000',
      replicas: 1,
      provider,
      leaderElection: { namespace: 'cloud-leases', name: 'cloud-operator' },
      stateNamespace: 'cloud-state',
    };
    expectGolden('manifests/install-with-options.yaml.txt', outputFiles(options).get('install.yaml') ?? '');
  });

  describe('with an extension', () => {
    const podOf = (extension: Extension) => {
      const files = manifests({ extension });
      const { template } = (files.find(({ object }) => object.kind === 'Deployment')!.object as unknown as { spec: DeploymentSpec }).spec;
      const { args, volumeMounts } = template.spec.containers[0]!;
      const map = files.find(({ object }) => object.kind === 'ConfigMap')?.object;
      return { annotations: template.metadata.annotations, flag: args.at(-1), mounts: volumeMounts, volumes: template.spec.volumes, map };
    };

    it('in a file bring it into the Pods, which a change rolls out', () => {
      const [pod, changed] = ['export default {};', 'export default { };'].map((text) => podOf({ file: 'spare.ts', text }));
      expect(pod?.flag).toBe('--extension=/etc/cloud-operator-extension/spare.ts');
      expect(pod?.mounts).toContainEqual({ name: 'extension', mountPath: '/etc/cloud-operator-extension', readOnly: true });
      expect(pod?.volumes).toContainEqual({ name: 'extension', configMap: { name: 'cloud-operator-extension' } });
      expect(pod?.map).toMatchObject({
        metadata: { name: 'cloud-operator-extension', namespace: 'cloud-operator-system' },
        data: { 'spare.ts': 'export default {};' },
      });
      expect(pod?.annotations).not.toEqual(changed?.annotations);
    });

    it('that has template literals hold them as base64: Flux would take them for variables', () => {
      const text = 'export default { extra: ({ stack }) => `${stack}` };';
      const { map } = podOf({ file: 'spare.ts', text });
      expect(map).toMatchObject({ binaryData: { 'spare.ts': Buffer.from(text).toString('base64') } });
    });

    it('in the image only name it', () => {
      const pod = podOf({ module: '/app/extension/index.ts' });
      expect(pod).toMatchObject({ flag: '--extension=/app/extension/index.ts', annotations: undefined, map: undefined });
      expect(pod.volumes).toHaveLength(1);
    });
  });

  describe('for controller-manager', () => {
    const controllerManager: ControllerManager = {
      workload: 'DaemonSet',
      flags: ['--cluster-cidr=10.0.0.0/16', '--allocate-node-cidrs'],
      health: { host: '127.0.0.1', port: 10258 },
      serviceAccountCredentials: false,
    };
    const objectsOf = (options: ManifestOptions): ManifestObject[] => manifests(options).map(({ object }) => object);

    it('are those that were reviewed', () => {
      const migrationConfig = 'kind: LeaderMigrationConfiguration\n';
      const leaderElection = { namespace: 'kube-system', name: 'cloud-controller-manager', migration: 'migration' };
      const options = {
        provider,
        leaderElection,
        controllerManager: { ...controllerManager, migrationConfig, serviceAccountCredentials: true },
      };
      expectGolden('manifests/install-controller-manager.yaml.txt', outputFiles(options).get('install.yaml') ?? '');
    });

    it('differ from those for run by workload, delegation and nothing else', () => {
      const usual = objectsOf({});
      const dropIn = objectsOf({ controllerManager });
      const words = ({ kind, metadata }: ManifestObject): string => `${kind} ${metadata.name}`;
      expect(dropIn.filter((object) => !usual.some((other) => words(other) === words(object))).map(words)).toEqual([
        'ClusterRoleBinding cloud-operator-auth-delegator',
        'RoleBinding cloud-operator-authentication-reader',
        'DaemonSet cloud-operator',
      ]);
      expect(usual.filter((object) => !dropIn.some((other) => words(other) === words(object))).map(words)).toEqual([
        'PodDisruptionBudget cloud-operator',
        'Deployment cloud-operator',
      ]);
    });

    it('run on the control-plane Nodes as a DaemonSet, in so many replicas as a Deployment', () => {
      const daemonSet = objectsOf({ controllerManager }).at(-1);
      expect(daemonSet).toMatchObject({
        kind: 'DaemonSet',
        spec: {
          updateStrategy: { type: 'RollingUpdate' },
          template: { spec: { hostNetwork: true, nodeSelector: { 'node-role.kubernetes.io/control-plane': '' } } },
        },
      });
      expect(everyKey(daemonSet)).not.toContain('replicas');
      const deployment = objectsOf({ controllerManager: { ...controllerManager, workload: 'Deployment' }, replicas: 3 }).at(-1);
      expect(deployment).toMatchObject({ kind: 'Deployment', spec: { replicas: 3 } });
    });

    it('pass flags that controller-manager takes, and ask for health where these say', () => {
      const health = { host: '10.0.0.1', port: 10443 };
      const flags = ['--bind-address=10.0.0.1', '--secure-port=10443', '--leader-elect-resource-name=mine'];
      const object = objectsOf({ controllerManager: { ...controllerManager, flags, health } }).at(-1) as unknown as {
        spec: DeploymentSpec;
      };
      const [container] = object.spec.template.spec.containers;
      const [command, ...args] = container?.args ?? [];
      expect(command).toBe('controller-manager');
      const { values } = parseFlags(FLAGS, args) as unknown as { values: FlagValues };
      validateFlags(values, { cloudProviderRequired: true });
      expect(values).toMatchObject({ 'cloud-provider': 'external', 'leader-elect-resource-name': 'mine', 'state-store': 'cluster' });
      expect(container).toMatchObject({
        livenessProbe: { httpGet: { host: '10.0.0.1', port: 10443, scheme: 'HTTPS', path: '/livez' } },
        readinessProbe: { httpGet: { host: '10.0.0.1', port: 10443, scheme: 'HTTPS', path: '/readyz' } },
      });
      expect(values['authorization-always-allow-paths']).toEqual(expect.arrayContaining(['/livez', '/readyz']));
    });

    it('give each loop’s ServiceAccount its own rights, and take them from the operator’s', () => {
      const rolesOf = (serviceAccountCredentials: boolean): Map<string, string[]> => {
        const objects = objectsOf({ controllerManager: { ...controllerManager, serviceAccountCredentials } });
        const roles = objects.filter(
          ({ kind, metadata }) => kind === 'ClusterRole' && metadata.labels?.['app.kubernetes.io/component'] === 'operator',
        );
        return new Map(
          roles.map(({ metadata, rules }) => [
            metadata.name,
            (rules as PolicyRule[]).flatMap(({ resources, verbs }) =>
              resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`)),
            ),
          ]),
        );
      };
      const shared = rolesOf(false);
      const own = rolesOf(true);
      expect([...own.keys()]).toEqual(['cloud-operator', ...LOOP_ACCOUNTS.map((account) => `cloud-operator-${account}`)]);
      expect([...new Set([...own.values()].flat())].sort()).toEqual([...(shared.get('cloud-operator') ?? [])].sort());
      for (const right of ['nodes patch', 'nodes delete', 'nodes/status patch', 'services/status patch']) {
        expect(shared.get('cloud-operator')).toContain(right);
        expect(own.get('cloud-operator')).not.toContain(right);
      }
      expect(own.get('cloud-operator-route-controller')).not.toContain('nodes patch');
      expect(own.get('cloud-operator-service-controller')).not.toContain('nodes/status patch');
      expect(
        [...own.values()]
          .slice(1)
          .flat()
          .filter((right) => / watch$/.test(right)),
      ).toEqual([]);
    });

    it('let it hold the second lease of a leader migration, and no other', () => {
      const rightsWith = (migration: object): unknown[] =>
        objectsOf({ controllerManager, leaderElection: { namespace: 'leases', name: 'main', ...migration } })
          .filter(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'leases')
          .map(({ rules }) => rules);
      const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
      const create = { ...lease, verbs: ['create'] };
      const hold = { ...lease, verbs: ['get', 'update'] };
      expect(rightsWith({})).toEqual([[create, { ...hold, resourceNames: ['main'] }]]);
      expect(rightsWith({ migration: 'second' })).toEqual([[create, { ...hold, resourceNames: ['main', 'second'] }]]);
    });
  });

  describe('for somebody’s own manifest of a cloud-controller-manager', () => {
    const serviceAccount = { namespace: 'kube-system', name: 'cloud-controller-manager' };
    const dropIn = { serviceAccount, serviceAccountCredentials: false };

    it('are those that were reviewed', () => {
      const documents = oneManifest({ dropIn }).split('---\n').slice(1);
      const rest = documents.filter((yaml) => !yaml.includes('kind: CustomResourceDefinition'));
      expect(documents).toHaveLength(KINDS.length + rest.length);
      expectGolden('manifests/drop-in.yaml.txt', rest.map((yaml) => `---\n${yaml}`).join(''));
    });

    it('are all that an installation has but its Pods and its ServiceAccount, with the rights for theirs', () => {
      const own = manifests({ dropIn });
      const kinds = (files: ManifestFile[]): string[] => files.map(({ object }) => `${object.kind} ${object.metadata.name}`);
      const health = { host: '127.0.0.1', port: 10258 };
      const whole = manifests({ controllerManager: { workload: 'DaemonSet', flags: [], health, serviceAccountCredentials: false } });
      expect(kinds(whole).filter((one) => !kinds(own).includes(one))).toEqual([
        'ServiceAccount cloud-operator',
        'DaemonSet cloud-operator',
      ]);
      expect(kinds(own).filter((one) => !kinds(whole).includes(one))).toEqual([]);
      const subjects = own.flatMap(({ object }) => (object.subjects as object[] | undefined) ?? []);
      expect(subjects.length).toBeGreaterThan(3);
      for (const subject of subjects) expect(subject).toEqual({ kind: 'ServiceAccount', ...serviceAccount });
    });

    it('leave the loops’ own ServiceAccounts theirs', () => {
      const bound = manifests({ dropIn: { ...dropIn, serviceAccountCredentials: true } }).flatMap(
        ({ object }) => (object.subjects as { name: string }[] | undefined) ?? [],
      );
      for (const name of LOOP_ACCOUNTS) expect(bound).toContainEqual({ kind: 'ServiceAccount', namespace: 'kube-system', name });
    });

    it('make no Namespace that is there already: to prune it would be the end of it', () => {
      const made = manifests({ dropIn, namespace: 'kube-system', stateNamespace: 'kube-system' });
      expect(made.filter(({ object }) => object.kind === 'Namespace')).toEqual([]);
    });
  });

  describe('with webhooks', () => {
    const ofWebhooks = (trust: Webhooks['trust'], port = 10260) => {
      const files = manifests({ namespace: 'cloud', webhooks: { names: ['persistent-volume-label'], trust, port } });
      const own = files.filter(({ object }) => object.metadata.labels?.['app.kubernetes.io/component'] === 'webhooks');
      const { spec } = files.at(-1)!.object as unknown as { spec: DeploymentSpec };
      return { yaml: own.map(({ yaml }) => `---\n${yaml}`).join(''), pod: spec.template.spec };
    };

    it('by somebody’s own CA are those that were reviewed', () => {
      expectGolden('manifests/webhooks.yaml.txt', ofWebhooks({ caBundle: 'PEM of a CA\n' }).yaml);
    });

    it('by cert-manager are those that were reviewed', () => {
      expectGolden('manifests/webhooks-cert-manager.yaml.txt', ofWebhooks('cert-manager', 10443).yaml);
    });

    it('have the operator serve them, and start without their certificate too: cert-manager may need it first', () => {
      const { pod } = ofWebhooks('cert-manager');
      const flags = ['--feature-gates=CloudControllerManagerWebhook=true', '--webhooks=persistent-volume-label'];
      expect(pod.containers[0]?.args).toEqual(expect.arrayContaining([...flags, '--webhook-cert-dir=/etc/cloud-operator-webhooks']));
      expect(pod.volumes).toContainEqual({
        name: 'webhooks',
        secret: {
          secretName: 'cloud-operator-webhooks',
          optional: true,
          items: [
            { key: 'tls.crt', path: 'cloud-controller-manager-webhook.crt' },
            { key: 'tls.key', path: 'cloud-controller-manager-webhook.key' },
          ],
        },
      });
      expect(pod.containers[0]?.volumeMounts).toContainEqual({
        name: 'webhooks',
        mountPath: '/etc/cloud-operator-webhooks',
        readOnly: true,
      });
    });
  });

  it('are the same bytes every time', () => {
    expect([...outputFiles()]).toEqual([...outputFiles()]);
  });

  it('put one object into one file, named by what it is', () => {
    expectGolden('manifests/files.txt', [...outputFiles().keys()].map((path) => `${path}\n`).join(''));
  });

  it('keep the CRDs apart', () => {
    const files = manifests();
    expect(files.filter(({ object }) => object.kind === 'CustomResourceDefinition').map(({ part }) => part)).toEqual(
      KINDS.map(() => 'crds'),
    );
    expect(files.filter(({ part }) => part === 'crds')).toHaveLength(KINDS.length);
    expect(manifests({ crdsOnly: true })).toEqual(files.slice(0, KINDS.length));
    expect([...outputFiles({ crdsOnly: true }).keys()].filter((path) => !path.startsWith('crds'))).toEqual([]);
  });

  it('hold nothing that GitOps tools or the API server would stumble over', () => {
    for (const { yaml, object, path } of manifests({ provider })) {
      expect(parse(yaml, { version: '1.1' })).toEqual(JSON.parse(JSON.stringify(object)));
      expect(yaml).not.toMatch(/\$\{|: null$|: ~$/m);
      const keys = everyKey(object);
      for (const banned of ['creationTimestamp', 'generateName', 'resourceVersion', 'caBundle', 'cdk8s.io/metadata.addr']) {
        expect(keys).not.toContain(banned);
      }
      expect(Object.keys(object)).not.toContain('status');
      expect(Object.keys(object.metadata.annotations ?? {}).filter((key) => key.includes('hook'))).toEqual([]);
      expect(object.metadata.namespace === undefined).toBe(path.split('/')[1] === 'cluster');
    }
  });

  it('refuse what Flux would take for a variable', () => {
    expect(() => manifests({ provider: { kind: 'local', config: 'local: {endpoint: "${ENDPOINT}"}' } })).toThrow(OperatorError);
  });

  it('list every object in the kustomization and in the flat file', () => {
    const files = outputFiles();
    for (const [part, flat] of [
      ['crds', 'crds.yaml'],
      ['operator', 'install.yaml'],
    ] as const) {
      const { resources } = parse(files.get(`${part}/kustomization.yaml`) ?? '') as { resources: string[] };
      const single = resources.map((path) => parse(files.get(`${part}/${path}`) ?? '') as unknown);
      expect(single).toEqual(parseAllDocuments(files.get(flat) ?? '').map((document) => document.toJS() as unknown));
      expect(single).toEqual(
        manifests()
          .filter((file) => file.part === part)
          .map(({ yaml }) => parse(yaml) as unknown),
      );
    }
  });

  it('are named and counted as asked', () => {
    const files = manifests({ namespace: 'cloud', replicas: 1, image: 'example:1' });
    const deployment = files.find(({ object }) => object.kind === 'Deployment');
    expect(deployment?.path).toBe('operator/cloud/apps.deployment.cloud-operator.yaml');
    expect(deployment?.object.spec).toMatchObject({ replicas: 1, template: { spec: { containers: [{ image: 'example:1' }] } } });
    expect(files.flatMap(({ object }) => object.metadata.namespace ?? [])).not.toContain('cloud-operator-system');
  });
});

describe('the rules of a role', () => {
  const row: Permission = { part: 'cloud', why: 'a test', group: 'g', resources: ['a'], verbs: ['get'] };

  it('are the union of what the parts need', () => {
    const rules = rulesIn([row, { ...row, part: 'route', verbs: ['patch', 'get'] }], undefined);
    expect(rules).toEqual([{ apiGroups: ['g'], resources: ['a'], verbs: ['get', 'patch'] }]);
  });

  it('never widen a right on one object to all of them', () => {
    const rules = rulesIn([row, { ...row, verbs: ['delete'], names: ['n'] }], undefined);
    expect(rules).toEqual([
      { apiGroups: ['g'], resources: ['a'], verbs: ['get'] },
      { apiGroups: ['g'], resources: ['a'], verbs: ['delete'], resourceNames: ['n'] },
    ]);
  });

  it('never carry a right from one namespace to another, or to the cluster', () => {
    const table = [row, { ...row, resources: ['b'], namespace: 'x' }, { ...row, resources: ['c'], namespace: 'y' }];
    expect([undefined, 'x', 'y'].map((at) => rulesIn(table, at).flatMap(({ resources }) => resources))).toEqual([['a'], ['b'], ['c']]);
  });

  it('hold finalizers of Services alone: nothing else is kept while what it owns is there', () => {
    const written = permissions(settingsOf({})).flatMap(({ resources }) =>
      resources.filter((resource) => resource.endsWith('/finalizers')),
    );
    expect(written).toEqual(['services/finalizers']);
  });

  it('hold no wildcard', () => {
    const words = permissions(settingsOf({})).flatMap(({ group, resources, verbs }) => [group, ...resources, ...verbs]);
    expect(words.filter((word) => word.includes('*'))).toEqual([]);
  });
});
