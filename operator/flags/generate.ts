import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../entry';
import { flagsReference } from './reference';

writeFileSync(join(PROJECT_ROOT, 'docs', 'reference', 'flags.md'), flagsReference());
