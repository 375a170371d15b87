import type { SecurityGroup } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import { CHOICE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { Ec2 } from '../client/ec2';
import { fromAwsTags } from '../tags';

/** Type token of security groups that are known by names. */
export const NAMED_GROUPS = CHOICE.securityGroups;

const schema = z.strictObject({
  vpcId: z.string().min(1),
  /** Ids, or values of the tag Name. */
  named: z.array(z.string().min(1)).min(1),
});
export type NamedGroupsInputs = z.infer<typeof schema>;

/** Pure. */
export function isGroupID(text: string): boolean {
  return /^sg-[0-9a-f]+$/.test(text);
}

/** A group of the VPC, as far as names go. */
export interface NamedGroup {
  id: string;
  name: string | undefined;
}

/**
 * Ids in the order in which they are named. Pure.
 * @param found the VPC's groups that have one of the names
 * @returns what is wrong, where a name is nobody's or several groups'
 */
export function resolveGroups(
  named: readonly string[],
  found: readonly NamedGroup[],
  vpcID: string,
): { ids: string[] } | { problem: string } {
  const ids: string[] = [];
  for (const name of named) {
    const all = isGroupID(name) ? [name] : found.filter((group) => group.name === name).map(({ id }) => id);
    const [id] = all;
    if (id === undefined) {
      return { problem: `there is no security group with the tag Name "${name}" in ${vpcID}. Give one that tag, or write the group's id.` };
    }
    if (all.length > 1) {
      return { problem: `${all.sort().join(' and ')} both have the tag Name "${name}". Write the id of the one that is meant.` };
    }
    ids.push(id);
  }
  return { ids: [...new Set(ids)] };
}

/**
 * Security groups that a load balancer names by the tag Name, looked for in one call when they are named; the ids stand in the state from then on, so
 * that no later update asks. It stands for nothing in the cloud.
 */
export function namedGroups(ec2: Ec2): ResourceType {
  const look = async (inputs: NamedGroupsInputs, { urn, signal }: ResourceContext): Promise<string[]> => {
    const names = inputs.named.filter((name) => !isGroupID(name));
    const filters = [
      { Name: 'vpc-id', Values: [inputs.vpcId] },
      { Name: 'tag:Name', Values: names },
    ];
    const found = names.length === 0 ? [] : await ec2.securityGroups(filters, { signal });
    const resolved = resolveGroups(inputs.named, found.map(namedOf), inputs.vpcId);
    if ('ids' in resolved) return resolved.ids;
    throw new OperatorError('Invalid', resolved.problem, { field: 'spec.aws.securityGroups.groups', resource: urn });
  };
  const made = async (inputs: NamedGroupsInputs, context: ResourceContext): Promise<{ id: string; groupIds: string[] }> => {
    const groupIds = await look(inputs, context);
    return { id: groupIds.join(','), groupIds };
  };
  return {
    token: NAMED_GROUPS,
    replaceOn: ['vpcId', 'named'],
    create: async (inputs, context) => {
      const { id, groupIds } = await made(schema.parse(inputs), context);
      return { id, outputs: { ...inputs, groupIds } };
    },
    read: (id) => Promise.resolve({ inputs: {}, outputs: { groupIds: id.split(',') } }),
    update: (id, _olds, news) => Promise.resolve({ outputs: { ...news, groupIds: id.split(',') } }),
    delete: () => Promise.resolve(),
  };
}

function namedOf({ GroupId: id = '', Tags }: SecurityGroup): NamedGroup {
  return { id, name: fromAwsTags(Tags).Name };
}
