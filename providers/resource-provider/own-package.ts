import { MEMBERS_READY } from './members-ready';

/** Pulumi package of the types that a cloud's official plugin doesn't have: it is ours with either plugin. */
export const OWN_PACKAGE = 'cloudoperator';

/** What types of ours that stand in a state alone begin with: discovery finds nothing of them. */
export const STATE_PACKAGE = `${OWN_PACKAGE}:state:`;

/** True for what stands in a state but is nothing that discovery would find: barriers, choices, our part of what is not ours alone. Pure. */
export function isStateOnly(type: string): boolean {
  return isBarrier(type) || type.startsWith(STATE_PACKAGE);
}

/** Types of choices among what is there: of subnets, of security groups by their names, of addresses by what a spec asks for. They read, and write nothing. */
export const CHOICE = {
  subnets: `${STATE_PACKAGE}Subnets`,
  securityGroups: `${STATE_PACKAGE}SecurityGroups`,
  addresses: `${STATE_PACKAGE}Addresses`,
} as const;

/** True for what writes nothing to a cloud: it only waits, or chooses. Pure. */
export function writesNothing(type: string): boolean {
  return isBarrier(type) || Object.values<string>(CHOICE).includes(type);
}

function isBarrier(type: string): boolean {
  return type.endsWith(MEMBERS_READY);
}
