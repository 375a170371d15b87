import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../operator/entry';

/** README, CONTRIBUTING and docs/, without the decisions: paths in the project. */
export function pages(): string[] {
  const docs = readdirSync(join(PROJECT_ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', ...docs.filter((path) => !path.startsWith('decisions')).map((path) => `docs/${path}`)].sort();
}
