import { flag, type FlagGroup } from '../flag';
import { BOOLEAN, STRING } from '../types';

export const LEADER_MIGRATION = {
  'enable-leader-migration': flag(
    BOOLEAN,
    false,
    'Run the controllers of the migration under a Lease of their own, shared with another manager; needs --leader-elect',
  ),
  'leader-migration-config': flag(
    STRING,
    '',
    'File of kind LeaderMigrationConfiguration, group controllermanager.config.k8s.io, that says which manager runs which controller; empty = the built-in list',
  ),
} satisfies FlagGroup;
