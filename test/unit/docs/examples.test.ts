import { compile } from '../../../operator/loops/service/compile';
import { localProvider } from '../../../providers/local';
import { docObjects } from '../../harness/doc-objects';
import { service } from '../loops/objects';

const shown = docObjects('Service').flatMap(({ page, object }) =>
  Object.keys(object.metadata.annotations ?? {}).map((key) => ({ page, key, object })),
);

/** What the Service is told, by annotations that are not as the page shows them. */
function told(object: (typeof shown)[number]['object'], annotations: Record<string, string>): string[] {
  const given = service({ metadata: { annotations } });
  const changed = { ...given, spec: { ...given.spec, ...object.spec } };
  const { problems, warnings } = compile(changed, 'local', { blockName: 'local', ...localProvider.compile(annotations) });
  return [...problems, ...warnings].map(({ message }) => message);
}

test('there are Services with annotations, and they are as they should be', () => {
  expect(shown.length).toBeGreaterThan(4);
  for (const { object } of shown) expect(told(object, object.metadata.annotations ?? {})).toEqual([]);
});

test('the clouds’ pages and examples/ are among what the API server is given with each field spoilt (crds.test.ts)', () => {
  const pagesOf = (kind: string): string[] => docObjects(kind).map(({ page }) => page);
  expect(pagesOf('CloudProvider')).toEqual(expect.arrayContaining(['docs/clouds/aws.md', 'docs/clouds/azure.md']));
  expect(pagesOf('CloudLoadBalancer')).toContain('examples/load-balancer.yaml');
});

describe.each(shown)('$page: $key', ({ key, object }) => {
  const { [key]: value = '', ...others } = object.metadata.annotations ?? {};

  test('misspelt', () => expect(told(object, { ...others, [`${key}x`]: value }).join()).toContain(`annotation ${key}x`));

  test('with a value that can’t be', () =>
    expect(told(object, { ...others, [key]: 'spoilt value!' }).join()).toContain(`annotation ${key}`));
});
