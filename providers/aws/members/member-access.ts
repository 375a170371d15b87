import { z } from 'zod';

/** What the members path knows of a target group beside its port: who is to be let in to a Node before it becomes a target. */
export const memberAccess = z.object({
  /** Name of the load balancer, for the rules' descriptions; absent = they are of the cluster's backend group. */
  loadBalancer: z.string().optional(),
  /** Rules in the Nodes' groups, as texts (nodes/node-rule.ts). */
  rules: z.array(z.string()),
  /** How many target groups the load balancer has; absent = one. */
  targetGroups: z.number().int().optional(),
  /** The target group sends to targets of all zones; absent = to those of the zone that a client has come to. */
  crossZone: z.literal(true).optional(),
});
export type MemberAccess = z.infer<typeof memberAccess>;
