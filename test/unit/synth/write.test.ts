import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputFiles } from '../../../synth/output';
import { writeManifests } from '../../../synth/write';

describe('writeManifests', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cloud-operator-manifests-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('writes the files, and removes those that an earlier run left', () => {
    writeManifests(folder, {});
    writeFileSync(join(folder, 'operator', 'mine.yaml'), 'a: 1\n');
    writeManifests(folder, { namespace: 'cloud' });
    expect(readFileSync(join(folder, 'install.yaml'), 'utf8')).toBe(outputFiles({ namespace: 'cloud' }).get('install.yaml'));
    expect(existsSync(join(folder, 'operator/cloud-operator-system/apps.deployment.cloud-operator.yaml'))).toBe(false);
    expect(existsSync(join(folder, 'operator', 'mine.yaml'))).toBe(true);
  });

  it('writes nothing where a file of somebody else stands in the way', () => {
    mkdirSync(join(folder, 'crds'));
    writeFileSync(join(folder, 'crds', 'kustomization.yaml'), 'resources: []\n');
    expect(() => writeManifests(folder, {})).toThrow(/kustomization.yaml was not written by this command/);
    expect(existsSync(join(folder, 'install.yaml'))).toBe(false);
  });

  it('packs them as a chart and an artifact too, takes its own away again, and writes over nobody else’s', () => {
    const packages = { helm: '1.2.3', oci: 'v1' };
    const { paths, digest } = writeManifests(folder, {}, packages);
    const read = (): string[] => paths.map((path) => readFileSync(path).toString('base64'));
    const first = read();
    expect(writeManifests(folder, {}, packages)).toEqual({ paths, digest });
    expect(read()).toEqual(first);
    const schema = join(folder, 'helm/cloud-operator/values.schema.json');
    const made = [schema, join(folder, 'oci.tar'), join(folder, 'helm/cloud-operator/Chart.yaml')];
    for (const path of made) expect(paths).toContain(path);
    writeManifests(folder, {});
    expect(made.filter((path) => existsSync(path))).toEqual([]);
    writeFileSync(schema, '{}');
    expect(() => writeManifests(folder, {}, packages)).toThrow(/values.schema.json was not written by this command/);
  });
});
