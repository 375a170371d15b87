import type { IpPermission, SecurityGroup } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { AwsError } from '../client/aws-error';
import { referencedBy, referencesTo } from '../nodes/group-references';
import { closeNodes } from '../nodes/node-rules';
import { fromAwsTags, TAG, tagChanges, toAwsTags, type Tags } from '../tags';
import type { Api, Listed, ResourceDescription } from './description';

/** Everything goes out: what a new group has by itself. Other rules are resources of their own. */
export const ALL_EGRESS = { fromPort: 0, toPort: 0, protocol: '-1', cidrBlocks: ['0.0.0.0/0'] };
const ALL_EGRESS_PERMISSION: IpPermission = { IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }] };

const schema = z.strictObject({
  /** AWS keeps what begins with `sg-` for its ids. */
  name: z
    .string()
    .min(1)
    .max(255)
    .regex(/^(?!sg-)/),
  description: z.string().min(1).max(255),
  vpcId: z.string().min(1),
  egress: z
    .array(
      z.strictObject({
        fromPort: z.literal(0),
        toPort: z.literal(0),
        protocol: z.literal('-1'),
        cidrBlocks: z.tuple([z.literal('0.0.0.0/0')]),
      }),
    )
    .length(1),
  tags: z.record(z.string(), z.string()),
});
export type SecurityGroupInputs = z.infer<typeof schema>;

/** A security group. What comes in is said by rules of their own (security-group-rule.ts). */
export const securityGroup: ResourceDescription<SecurityGroupInputs, SecurityGroup> = {
  token: 'aws:ec2/securityGroup:SecurityGroup',
  replaceOn: ['name', 'description', 'vpcId'],
  schema,

  async create({ name, description, vpcId, tags }, { ec2, options }) {
    const { GroupId = '' } = await ec2.createSecurityGroup(
      {
        GroupName: name,
        Description: description,
        VpcId: vpcId,
        TagSpecifications: [{ ResourceType: 'security-group', Tags: toAwsTags(tags) }],
      },
      options,
    );
    return { id: GroupId, observed: {} };
  },

  async find({ name, vpcId }, { ec2, options }) {
    const filters = [
      { Name: 'group-name', Values: [name] },
      { Name: 'vpc-id', Values: [vpcId] },
    ];
    return (await ec2.securityGroups(filters, options)).map(listed)[0];
  },

  /** By a filter, which gives nothing for what is gone. */
  async byID(id, { ec2, options }) {
    return (await ec2.securityGroups([{ Name: 'group-id', Values: [id] }], options)).map(listed)[0];
  },

  describe: ({ raw, tags }) => Promise.resolve({ inputs: { ...properties(raw), tags: { ...tags } }, observed: {} }),

  async change(id, has, wanted, api) {
    const { ec2, options } = api;
    await changeEc2Tags(id, has.tags, wanted.tags, api);
    if (has.egress.length === 0) await ec2.authorize('Egress', { GroupId: id, IpPermissions: [ALL_EGRESS_PERMISSION] }, options);
  },

  inUseForMinutes: true,

  remove: async (id, { ec2, options }) => {
    try {
      await ec2.deleteSecurityGroup(id, options);
    } catch (thrown) {
      if (!(thrown instanceof AwsError) || thrown.awsCode !== 'DependencyViolation') throw thrown;
      // Where the load balancer was let in to the Nodes in another way since, rules of ours may still speak of its group.
      const [group] = (await ec2.securityGroups([{ Name: 'group-id', Values: [id] }], options)).map(listed);
      const clusterID = group?.tags[TAG.clusterID];
      const closed = clusterID === undefined ? 0 : await closeNodes(ec2, id, clusterID, options);
      if (closed === 0) throw thrown;
      await ec2.deleteSecurityGroup(id, options);
    }
  },

  inUseBy: async (id, { ec2, options }) => referencedBy(await referencesTo(ec2, id, options)),
};

/** Pure. */
export function listed<Raw extends SecurityGroup>(raw: Raw): Listed<Raw> {
  return { id: raw.GroupId ?? '', raw, tags: fromAwsTags(raw.Tags) };
}

/** Brings the tags of a resource of EC2 to the wanted ones. */
export async function changeEc2Tags(id: string, has: Tags, wanted: Tags, { ec2, options }: Api): Promise<void> {
  const { set, remove } = tagChanges(has, wanted);
  if (Object.keys(set).length > 0) await ec2.createTags([id], toAwsTags(set), options);
  if (remove.length > 0) await ec2.deleteTags([id], remove, options);
}

/** Whether everything goes out is all that is seen of the egress: a VPC with IPv6 has one rule more by itself. */
function properties({ GroupName = '', Description = '', VpcId = '', IpPermissionsEgress = [] }: SecurityGroup): JsonObject {
  const everything = IpPermissionsEgress.some(
    ({ IpProtocol, IpRanges = [] }) => IpProtocol === '-1' && IpRanges.some(({ CidrIp }) => CidrIp === '0.0.0.0/0'),
  );
  return { name: GroupName, description: Description, vpcId: VpcId, egress: everything ? [{ ...ALL_EGRESS }] : [] };
}
