import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the directory store is when nobody says otherwise. */
export const STATE_DIRECTORY = join(homedir(), '.local', 'share', 'cloud-operator', 'state');
