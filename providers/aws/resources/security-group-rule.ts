import type { IpPermission, SecurityGroupRule, SecurityGroupRuleRequest } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { OperatorError } from '../../../operator/base/errors';
import type { Direction } from '../client/ec2';
import { fromAwsTags, toAwsTags } from '../tags';
import type { Listed, ResourceDescription } from './description';
import { present } from './present';
import { changeEc2Tags } from './security-group';

const SOURCES = ['cidrIpv4', 'cidrIpv6', 'prefixListId', 'referencedSecurityGroupId'] as const;

const schema = z
  .strictObject({
    securityGroupId: z.string().min(1),
    ipProtocol: z.string().min(1),
    fromPort: z.number().int().optional(),
    toPort: z.number().int().optional(),
    cidrIpv4: z.string().optional(),
    cidrIpv6: z.string().optional(),
    prefixListId: z.string().optional(),
    referencedSecurityGroupId: z.string().optional(),
    description: z.string().max(255).optional(),
    tags: z.record(z.string(), z.string()),
  })
  .refine((rule) => SOURCES.filter((source) => rule[source] !== undefined).length === 1, {
    message: `exactly one of ${SOURCES.join(', ')}`,
  });
export type SecurityGroupRuleInputs = z.infer<typeof schema>;

/** One rule of a security group, with one source or destination. */
export function securityGroupRule(direction: Direction): ResourceDescription<SecurityGroupRuleInputs, SecurityGroupRule> {
  return {
    token: `aws:vpc/securityGroup${direction}Rule:SecurityGroup${direction}Rule`,
    replaceOn: ['securityGroupId'],
    // A range that is written otherwise has another name, and AWS knows a rule by its place alone.
    movable: true,
    schema,

    async create(inputs, { ec2, options }) {
      const made = await ec2.authorize(
        direction,
        {
          GroupId: inputs.securityGroupId,
          IpPermissions: [permissionOf(inputs)],
          TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: toAwsTags(inputs.tags) }],
        },
        options,
      );
      const id = made[0]?.SecurityGroupRuleId;
      if (id === undefined) throw new OperatorError('Unknown', `AWS, ec2:AuthorizeSecurityGroup${direction}: the answer names no rule`);
      return { id, observed: { securityGroupRuleId: id } };
    },

    async find(inputs, { ec2, options }) {
      const all = await ec2.securityGroupRules([{ Name: 'group-id', Values: [inputs.securityGroupId] }], options);
      const place = canonicalJson(placeOf(inputs));
      return all.filter((rule) => isOf(direction, rule) && canonicalJson(placeOf(properties(rule))) === place).map(listedRule)[0];
    },

    /** By a filter, which gives nothing for what is gone. */
    async byID(id, { ec2, options }) {
      return (await ec2.securityGroupRules([{ Name: 'security-group-rule-id', Values: [id] }], options)).map(listedRule)[0];
    },

    describe: ({ id, raw, tags }) =>
      Promise.resolve({ inputs: { ...properties(raw), tags: { ...tags } }, observed: { securityGroupRuleId: id } }),

    async change(id, has, wanted, api) {
      const { ec2, options } = api;
      await changeEc2Tags(id, has.tags, wanted.tags, api);
      if (canonicalJson(requestOf(has)) !== canonicalJson(requestOf(wanted))) {
        await ec2.modifySecurityGroupRule(wanted.securityGroupId, id, requestOf(wanted), options);
      }
    },

    async remove(id, api) {
      const [rule] = await api.ec2.securityGroupRules([{ Name: 'security-group-rule-id', Values: [id] }], api.options);
      if (rule?.GroupId !== undefined) await api.ec2.revoke(direction, rule.GroupId, [id], api.options);
    },
  };
}

/** Pure. */
export function isOf(direction: Direction, { IsEgress = false }: SecurityGroupRule): boolean {
  return IsEgress === (direction === 'Egress');
}

/** Pure. */
export function listedRule(raw: SecurityGroupRule): Listed<SecurityGroupRule> {
  return { id: raw.SecurityGroupRuleId ?? '', raw, tags: fromAwsTags(raw.Tags) };
}

/** What two rules of a group can't have both: everything but words and tags. */
function placeOf(rule: JsonObject | SecurityGroupRuleInputs): JsonObject {
  const place = Object.entries(rule).filter(([key]) => key !== 'description' && key !== 'tags');
  return Object.fromEntries(place) as JsonObject;
}

function permissionOf(inputs: SecurityGroupRuleInputs): IpPermission {
  const { ipProtocol, fromPort, toPort, cidrIpv4, cidrIpv6, prefixListId, referencedSecurityGroupId, description } = inputs;
  const words = description === undefined ? {} : { Description: description };
  return {
    IpProtocol: ipProtocol,
    ...(fromPort !== undefined && { FromPort: fromPort }),
    ...(toPort !== undefined && { ToPort: toPort }),
    ...(cidrIpv4 !== undefined && { IpRanges: [{ CidrIp: cidrIpv4, ...words }] }),
    ...(cidrIpv6 !== undefined && { Ipv6Ranges: [{ CidrIpv6: cidrIpv6, ...words }] }),
    ...(prefixListId !== undefined && { PrefixListIds: [{ PrefixListId: prefixListId, ...words }] }),
    ...(referencedSecurityGroupId !== undefined && { UserIdGroupPairs: [{ GroupId: referencedSecurityGroupId, ...words }] }),
  };
}

function requestOf(inputs: SecurityGroupRuleInputs): SecurityGroupRuleRequest {
  const { ipProtocol, fromPort, toPort, cidrIpv4, cidrIpv6, prefixListId, referencedSecurityGroupId, description } = inputs;
  return {
    IpProtocol: ipProtocol,
    ...(fromPort !== undefined && { FromPort: fromPort }),
    ...(toPort !== undefined && { ToPort: toPort }),
    ...(cidrIpv4 !== undefined && { CidrIpv4: cidrIpv4 }),
    ...(cidrIpv6 !== undefined && { CidrIpv6: cidrIpv6 }),
    ...(prefixListId !== undefined && { PrefixListId: prefixListId }),
    ...(referencedSecurityGroupId !== undefined && { ReferencedGroupId: referencedSecurityGroupId }),
    ...(description !== undefined && { Description: description }),
  };
}

/** A rule of all protocols has no ports; AWS then says -1. */
function properties(rule: SecurityGroupRule): JsonObject {
  const { GroupId = '', IpProtocol = '' } = rule;
  const hasPorts = IpProtocol !== '-1';
  return present({
    securityGroupId: GroupId,
    ipProtocol: IpProtocol,
    ...(hasPorts && { fromPort: rule.FromPort, toPort: rule.ToPort }),
    cidrIpv4: rule.CidrIpv4,
    cidrIpv6: rule.CidrIpv6,
    prefixListId: rule.PrefixListId,
    referencedSecurityGroupId: rule.ReferencedGroupInfo?.GroupId,
    description: rule.Description === '' ? undefined : rule.Description,
  });
}
