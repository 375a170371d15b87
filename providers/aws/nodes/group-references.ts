import type { SecurityGroup } from '@aws-sdk/client-ec2';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';

/** Groups with a rule that names another group, by the side of that rule. */
const FILTERS = ['ip-permission.group-id', 'egress.ip-permission.group-id'];

/** Security groups whose rules name a group, such as `sg-0a (app)`: AWS does not delete it before they are gone. Two reads. */
export async function referencesTo(ec2: Ec2, group: string, options: CallOptions): Promise<string[]> {
  const found = await Promise.all(FILTERS.map((Name) => ec2.securityGroups([{ Name, Values: [group] }], options)));
  return namesOf(found.flat(), group);
}

/** Each once, without the group itself. Pure. */
export function namesOf(groups: readonly SecurityGroup[], but: string): string[] {
  const others = groups.filter(({ GroupId }) => GroupId !== but);
  return [...new Set(others.map(({ GroupId = '', GroupName = '' }) => `${GroupId} (${GroupName})`))].sort();
}

/** What is said of a group that AWS does not delete because of those; undefined = there are none. Pure. */
export function referencedBy(references: readonly string[]): { why: string; remedy: string } | undefined {
  const [first, ...others] = references;
  if (first === undefined) return undefined;
  const remedy = 'Remove what names it there; the deletion then goes on by itself.';
  if (others.length === 0) return { why: `a rule of security group ${first} names it`, remedy };
  return { why: `rules of security groups ${references.join(', ')} name it`, remedy };
}
