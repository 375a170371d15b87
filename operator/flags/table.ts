import type { FlagGroup, ValuesOf } from './flag';
import { AUTHENTICATION, AUTHORIZATION } from './groups/authentication';
import { CLOUD_OPERATOR } from './groups/cloud-operator';
import { GLOBAL, LOGS, MISC } from './groups/common';
import { NODE_CONTROLLER, NODE_IPAM_CONTROLLER, NODE_LIFECYCLE_CONTROLLER, SERVICE_CONTROLLER } from './groups/controllers';
import { DEBUGGING } from './groups/debugging';
import { GENERIC } from './groups/generic';
import { LEADER_MIGRATION } from './groups/leader-migration';
import { SECURE_SERVING, WEBHOOK, WEBHOOK_SERVING } from './groups/serving';

/** Every flag, under the heading and in the order of --help (contract 7.3). */
export const FLAG_GROUPS = {
  Debugging: DEBUGGING,
  'Leader-migration': LEADER_MIGRATION,
  Generic: GENERIC,
  'Node controller': NODE_CONTROLLER,
  'Node-lifecycle controller': NODE_LIFECYCLE_CONTROLLER,
  'Service controller': SERVICE_CONTROLLER,
  'Node-ipam controller': NODE_IPAM_CONTROLLER,
  Webhook: WEBHOOK,
  'Webhook serving': WEBHOOK_SERVING,
  'Secure serving': SECURE_SERVING,
  Authentication: AUTHENTICATION,
  Authorization: AUTHORIZATION,
  Logs: LOGS,
  Misc: MISC,
  'Cloud operator': CLOUD_OPERATOR,
  Global: GLOBAL,
} satisfies Record<string, FlagGroup>;

export const FLAGS = {
  ...DEBUGGING,
  ...LEADER_MIGRATION,
  ...GENERIC,
  ...NODE_CONTROLLER,
  ...NODE_LIFECYCLE_CONTROLLER,
  ...SERVICE_CONTROLLER,
  ...NODE_IPAM_CONTROLLER,
  ...WEBHOOK,
  ...WEBHOOK_SERVING,
  ...SECURE_SERVING,
  ...AUTHENTICATION,
  ...AUTHORIZATION,
  ...LOGS,
  ...MISC,
  ...CLOUD_OPERATOR,
  ...GLOBAL,
} satisfies FlagGroup;

/** Flags whose default another command than `controller-manager` has. */
export type FlagDefaults = Partial<FlagValues>;

/** A value for every flag, by its name. */
export type FlagValues = ValuesOf<typeof FLAGS>;
