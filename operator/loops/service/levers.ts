import {
  ANNOTATIONS,
  DEFAULT_SERVICE_LEVERS,
  driftInterval,
  maintenanceWindow,
  maintenanceWindows,
  type CloudLoadBalancerSpecInput,
  type MaintenanceWindow,
  type ServiceLever,
} from '../../../crds';
import type { Service } from '../../kube/object';
import type { Problem } from './problem';
import { quoted } from './quoted';

type Fields = Pick<CloudLoadBalancerSpecInput, 'driftInterval' | 'maintenanceWindows' | 'managementPolicy' | 'deletionPolicy'>;

/** What a Service's annotations set on its CloudLoadBalancer. */
export interface ServiceLevers {
  /** Of its spec. */
  fields: Fields;
  annotations: Record<string, string>;
  problems: Problem[];
}

interface Entry {
  lever: ServiceLever;
  annotation: string;
  /** What may be written, in words. */
  words: string;
  /** undefined = it can't be read. */
  read: (text: string) => { fields: Fields } | { annotation: string } | undefined;
}

/** Only what holds changes back or looks more closely: an annotation takes no lever off that somebody has set. */
const ENTRIES: Entry[] = [
  // What counts as what is said by the CloudLoadBalancer: whoever writes anything wants things to stand still.
  { lever: 'Pause', annotation: ANNOTATIONS.pause, words: 'All or Updates', read: (text) => ({ annotation: text }) },
  { lever: 'Reconcile', annotation: ANNOTATIONS.reconcile, words: 'any text', read: (text) => ({ annotation: text }) },
  // No field: from Manual, only who may approve can take that back.
  {
    ...{ lever: 'Approval', annotation: ANNOTATIONS.approval, words: 'Manual' },
    read: (text) => (text === 'Manual' ? { annotation: text } : undefined),
  },
  {
    ...{ lever: 'DriftInterval', annotation: ANNOTATIONS.driftInterval, words: 'a duration from 10s to 8760h, or 0s for never' },
    read: (text) => (driftInterval.safeParse(text).success ? { fields: { driftInterval: text } } : undefined),
  },
  {
    ...{ lever: 'MaintenanceWindows', annotation: ANNOTATIONS.maintenanceWindows },
    words:
      'windows separated by ";", each a schedule of five fields as in a CronJob, a duration and a time zone, such as 0 2 * * SAT 4h Europe/Berlin',
    read: readWindows,
  },
  {
    ...{ lever: 'ManagementPolicy', annotation: ANNOTATIONS.managementPolicy, words: 'Observe' },
    read: (text) => word(text, 'Observe', { managementPolicy: 'Observe' }),
  },
  {
    ...{ lever: 'DeletionPolicy', annotation: ANNOTATIONS.deletionPolicy, words: 'Orphan or Delete' },
    read: (text) => word(text, 'Orphan', { deletionPolicy: 'Orphan' }) ?? word(text, 'Delete', { deletionPolicy: 'Delete' }),
  },
];

/** The annotations that set a lever. */
export const LEVER_ANNOTATIONS: readonly string[] = ENTRIES.map(({ annotation }) => annotation);

/**
 * What the Service's annotations say of how changes reach the cloud. Pure.
 * @param allowed by `CloudProvider.spec.policy.serviceLevers`
 */
export function leversOf(
  { metadata }: Service,
  provider: string,
  allowed: readonly ServiceLever[] = DEFAULT_SERVICE_LEVERS,
): ServiceLevers {
  const levers: ServiceLevers = { fields: {}, annotations: {}, problems: [] };
  for (const { lever, annotation, words, read } of ENTRIES) {
    const text = metadata.annotations?.[annotation]?.trim();
    if (text === undefined) continue;
    if (!allowed.includes(lever)) {
      levers.problems.push(denied(annotation, provider, lever));
      continue;
    }
    const found = read(text);
    if (found === undefined) levers.problems.push(unreadable(annotation, text, words));
    else if ('annotation' in found) levers.annotations[annotation] = found.annotation;
    else Object.assign(levers.fields, found.fields);
  }
  return levers;
}

function word(text: string, expected: string, fields: Fields): { fields: Fields } | undefined {
  return text === expected ? { fields } : undefined;
}

function readWindows(text: string): { fields: Fields } | undefined {
  const windows = text.split(';').map((one) => readWindow(one.trim()));
  const { success, data } = maintenanceWindows.safeParse(windows);
  return success ? { fields: { maintenanceWindows: data } } : undefined;
}

/** Five fields, duration, zone. */
function readWindow(text: string): MaintenanceWindow | undefined {
  const words = text.split(/\s+/);
  const [duration, timeZone] = words.slice(5);
  return words.length === 7 ? maintenanceWindow.safeParse({ schedule: words.slice(0, 5).join(' '), duration, timeZone }).data : undefined;
}

function denied(annotation: string, provider: string, lever: ServiceLever): Problem {
  const remedy = `remove it, or have who may change CloudProvider ${provider} add ${lever} to its spec.policy.serviceLevers`;
  return {
    reason: 'LeverDenied',
    message: `annotation ${annotation}: the policy of CloudProvider ${provider} does not allow Services to set it; ${remedy}`,
  };
}

function unreadable(annotation: string, text: string, words: string): Problem {
  const message = `annotation ${annotation}: ${quoted(text)} can't be read; write ${words} (docs/operate/levers.md), or remove it`;
  return { reason: 'InvalidLever', message };
}
