import { z } from 'zod';
import { namespaceName } from './address';
import { setOf } from './list';
import { DEFAULT_SERVICE_LEVERS, formerOwner, serviceLever } from './policies';
import { withRules } from './rule';

/** The lists that judge what load balancers name of the account. */
export const NAMING_LISTS = ['subnets', 'securityGroups', 'certificates', 'buckets', 'reservedTagKeys'] as const;
export type NamingList = (typeof NAMING_LISTS)[number];

/** @param what begins the description */
function patterns(what: string): z.ZodOptional<z.ZodArray<z.ZodString>> {
  const description = `${what} * stands for any text.`;
  return setOf(z.string().min(1).max(2048), { max: 256, description }).optional();
}

/** What objects of one cloud may ask for. */
export const policy = withRules(
  z
    .object({
      namespaces: setOf(namespaceName, { max: 1000, description: 'Namespaces whose load balancers are allowed; absent = all.' }).optional(),
      schemes: setOf(z.enum(['Public', 'Internal']), { max: 2, description: 'Schemes allowed; absent = both.' }).optional(),
      sharing: z
        .enum(['None', 'SameNamespace', 'Namespaces'])
        .default('SameNamespace')
        .meta({ description: 'Who may name the placement or address of somebody else.' }),
      sharingNamespaces: setOf(namespaceName, { max: 1000, description: 'The namespaces of sharing: Namespaces.' }).optional(),
      adoption: setOf(formerOwner, {
        max: 3,
        description: 'Whose load balancers may be taken over (CloudLoadBalancer.spec.adopt); absent = nobody’s.',
      }).optional(),
      serviceLevers: setOf(serviceLever, {
        max: 7,
        description: `Levers that Services may set by annotation; absent = ${DEFAULT_SERVICE_LEVERS.join(', ')}. The others leave something in the cloud that nobody looks after.`,
      }).optional(),
      subnets: patterns('Subnets that load balancers may name, by id or by name as it is written there; absent = all.'),
      securityGroups: patterns('Security groups that load balancers may name, by id or by name as it is written there; absent = all.'),
      certificates: patterns('Certificates that load balancers may name, by ARN; absent = all.'),
      buckets: patterns('Buckets that access logs may go to; absent = all.'),
      reservedTagKeys: patterns('Keys of tags that load balancers may not set; absent = only those that are ours or the cloud’s.'),
    })
    .meta({ description: 'What objects of this cloud may ask for.' }),
  [
    {
      cel: "has(self.sharingNamespaces) == (self.sharing == 'Namespaces')",
      holds: (at) => (at.sharingNamespaces !== undefined) === (at.sharing === 'Namespaces'),
      message: 'sharingNamespaces and sharing: Namespaces need each other',
      field: 'sharingNamespaces',
    },
  ],
);
