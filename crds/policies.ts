import { z } from 'zod';

/** What the operator may do about an object; absent = Default. */
export const managementPolicy = z.enum(['Default', 'Observe']).meta({
  description:
    'Observe: nothing of it is written to the cloud, differences are shown, and its deletion only lets the object go. Absent = Default.',
});
export type ManagementPolicy = z.infer<typeof managementPolicy>;
