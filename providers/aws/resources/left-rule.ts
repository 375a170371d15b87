import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { DiscoveredResource, KnownOwners } from '../../provider';
import { OWN_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import { giveBack } from '../nodes/close-rules';
import { isLeftRulesStack, leftRulesStack } from '../nodes/left-rules';
import { lookForLeftRules, type LeftRulesPlace } from '../nodes/look-for-left-rules';
import { sourceOf } from '../nodes/node-rule';
import { revokeAll } from '../nodes/node-rules';
import type { Api } from './description';
import { leftBehind } from './left-behind';
import type { NodeRulesSettings } from './node-rules';

/** Type token of a rule in a group of Nodes that nothing accounts for, as a sweep tells it. */
export const LEFT_RULE = `${OWN_PACKAGE}:index:LeftNodeRule`;

type Place = Omit<LeftRulesPlace, 'clusterID'> & Pick<NodeRulesSettings, 'maxRules'>;

/** Rules of Nodes that nothing accounts for, by the stacks that they are told as. @param known what accounts for some beside what is in AWS */
export async function discoverLeftRules(
  api: Api,
  place: LeftRulesPlace,
  known?: () => KnownOwners,
): Promise<Map<string, DiscoveredResource[]>> {
  const left = await lookForLeftRules(api, place, { known });
  return new Map([...left].map(([of, rules]) => [leftRulesStack(of, rules), rules.map(describeRule)]));
}

/** Those of the named stacks; no call where none of these is one of left rules. */
export async function leftRulesIn(stacks: readonly string[], api: Api, place: LeftRulesPlace): Promise<Map<string, DiscoveredResource[]>> {
  if (!stacks.some(isLeftRulesStack)) return new Map();
  return new Map([...(await discoverLeftRules(api, place))].filter(([stack]) => stacks.includes(stack)));
}

/** What something needs by the time of the deletion is left alone. */
export function leftRule(clients: Omit<Api, 'options'>, place: Place, update: UpdateContext): ResourceType {
  const of = { ...place, clusterID: update.clusterID };
  return leftBehind(LEFT_RULE, 'ruleId', async (id, { signal }) => {
    const api = { ...clients, options: { signal, assertValid: () => update.assertValid() } };
    const isLeft = async (revoked: readonly SecurityGroupRule[] = []): Promise<SecurityGroupRule | undefined> => {
      const left = [...(await lookForLeftRules(api, of, { revoked })).values()].flat();
      return left.find(({ SecurityGroupRuleId }) => SecurityGroupRuleId === id);
    };
    const rule = await isLeft();
    if (rule === undefined) return;
    await revokeAll(api.ec2, [rule], api.options);
    // Who came meanwhile has seen it, and counts on it.
    if ((await isLeft([rule])) === undefined) await giveBack(api, { ...of, loadBalancer: '' }, [rule]);
  });
}

/** Named by what it lets in, which no other rule of its group does. */
function describeRule(rule: SecurityGroupRule): DiscoveredResource {
  const { SecurityGroupRuleId: id = '', GroupId = '', IpProtocol, FromPort, ToPort, Description = '' } = rule;
  // A URN is taken apart at its double colons.
  const source = (sourceOf(rule) ?? '').replaceAll(':', '_');
  const ports = IpProtocol === '-1' ? 'all' : `${IpProtocol}-${FromPort}-${ToPort}`;
  return {
    ...{ type: LEFT_RULE, name: `${GroupId}-${ports}-from-${source}`, id, inputs: {} },
    outputs: { ruleId: id, groupId: GroupId, description: Description },
  };
}
