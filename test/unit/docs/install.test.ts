import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CloudProviderKind, OLDEST_KUBERNETES, validateSpec } from '../../../crds';
import { providerInFile } from '../../../operator/cli/default-provider';
import { PROJECT_ROOT } from '../../../operator/entry';
import { snippetsOf } from '../../harness/snippets';

const page = readFileSync(join(PROJECT_ROOT, 'docs/install.md'), 'utf8');
const snippets = snippetsOf(page, 'yaml');

describe('docs/install.md', () => {
  it('names the oldest Kubernetes that takes the CRDs, as the chart does', () => {
    expect(page).toContain(`Kubernetes ${OLDEST_KUBERNETES} or newer`);
  });

  it('shows a CloudProvider that can be applied', () => {
    const object = parse(snippets.find((text) => text.includes('kind: CloudProvider')) ?? '') as { spec: unknown };
    expect(validateSpec(CloudProviderKind, object.spec)).toMatchObject({ ok: true });
  });

  it('shows what goes into the file of --cloud-config', () => {
    const text = snippets.find((one) => one.startsWith('local:')) ?? '';
    expect(providerInFile('local', { path: 'cloud.yaml', text })).toMatchObject({
      name: 'local',
      spec: { default: true, driftInterval: '1m', local: { tokenSecretRef: { name: 'local-cloud', key: 'token' } } },
      warnings: [],
    });
  });
});
