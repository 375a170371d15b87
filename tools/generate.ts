import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../operator/entry';
import { thirdPartyPage, type Lock } from './licences';

const lock = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')) as Lock;
writeFileSync(join(PROJECT_ROOT, 'THIRD_PARTY.md'), thirdPartyPage(lock));
