import { z } from 'zod';
import { durationFrom } from './duration';

/** What the operator may do about an object; absent = Default. */
export const managementPolicy = z.enum(['Default', 'Observe']).meta({
  description:
    'Observe: nothing of it is written to the cloud, differences are shown, and its deletion only lets the object go. Absent = Default.',
});

/** The same for what can be given up to others. */
export const releasablePolicy = z.enum(['Default', 'Observe', 'Released']).meta({
  description:
    'Observe: nothing of it is written to the cloud, differences are shown, and its deletion only lets the object go. Released: the same, after what it has in the cloud was marked as given up, so that another object or cluster may take it over. Absent = Default.',
});
export type ManagementPolicy = z.infer<typeof releasablePolicy>;

/** What becomes of the cloud when an object is deleted; absent = Delete. */
export const deletionPolicy = z.enum(['Delete', 'Orphan']).meta({
  description: 'Orphan: when the object is deleted, what it has in the cloud stays there, marked as released. Absent = Delete.',
});
export type DeletionPolicy = z.infer<typeof deletionPolicy>;

/** Whether a person must approve changes; absent = Auto. */
export const approval = z.enum(['Auto', 'Manual']).default('Auto').meta({
  description: 'Manual: creation and every change wait until a person has approved the plan; deletion and members go on.',
});

/** The same for all of a CloudProvider. */
export const providerPolicy = z.enum(['Default', 'Observe']).meta({
  description:
    'Observe: nothing is written to the cloud, nor to the Services and Nodes that are its own; what would be done is shown. For a look beside another controller that runs. Absent = Default.',
});

/** Whose load balancers may be taken over. */
export const formerOwner = z.enum(['Released', 'Upstream', 'Unowned']);
export type FormerOwner = z.infer<typeof formerOwner>;

/** How often an object's stack is compared with the cloud, where the CloudProvider's interval does not fit. */
export const driftInterval = durationFrom(10, 'Never').meta({
  description:
    'How often the cloud is compared with what is wanted, from 10s; jittered; of several objects in one stack the shortest counts. 0s = never. Absent = as the CloudProvider says.',
});

/** What Services may set by annotation of how changes of their load balancers reach the cloud. */
export const serviceLever = z.enum([
  'Pause',
  'Reconcile',
  'Approval',
  'DriftInterval',
  'MaintenanceWindows',
  'ManagementPolicy',
  'DeletionPolicy',
]);
export type ServiceLever = z.infer<typeof serviceLever>;

/** What holds changes back or looks more closely, and leaves nothing behind that costs. */
export const DEFAULT_SERVICE_LEVERS: readonly ServiceLever[] = ['Pause', 'Reconcile', 'Approval', 'DriftInterval', 'MaintenanceWindows'];
