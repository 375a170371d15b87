import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../entry';
import { metricsReference } from '../server/reference';
import { flagsReference } from './reference';

const PAGES = { 'flags.md': flagsReference(), 'metrics.md': metricsReference() };
for (const [page, text] of Object.entries(PAGES)) writeFileSync(join(PROJECT_ROOT, 'docs', 'reference', page), text);
