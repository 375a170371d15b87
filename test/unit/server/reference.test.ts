import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { documentedMetrics, metricsReference } from '../../../operator/server/reference';

test('docs/reference/metrics.md is what the code says', () => {
  expect(readFileSync(join(PROJECT_ROOT, 'docs', 'reference', 'metrics.md'), 'utf8')).toBe(metricsReference());
});

test('every metric is explained, once', () => {
  const { metrics, slis } = documentedMetrics();
  const all = [...metrics, ...slis];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.filter(({ help }) => help.trim() === '')).toEqual([]);
});
