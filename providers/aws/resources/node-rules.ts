import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import { clientRules } from '../nodes/client-rules';
import { closeRules } from '../nodes/close-rules';
import { ALL_TRAFFIC, readRule, writeRule, type NodeRule } from '../nodes/node-rule';
import { rangesOf } from './subnets';
import { openNodesToNew, rulesForPorts, rulesFrom, SHARED_RULES } from '../nodes/node-rules';
import type { Api } from './description';

/** Type tokens of a load balancer's rules in the Nodes' groups, and of the end of those that it does not need any more. */
export const NODE_RULES = `${STATE_PACKAGE}NodeRules`;
export const NODE_RULES_KEPT = `${STATE_PACKAGE}NodeRulesKept`;

const ports = z.array(z.string().regex(/^(tcp|udp)\/[0-9]+$/));

const schema = z
  .strictObject({
    /** Its name, which the rules' descriptions bear. */
    loadBalancer: z.string().min(1),
    /** Who comes to the Nodes through a load balancer without a security group. */
    clients: z
      .strictObject({
        /** By which the load balancer comes to the Nodes; absent = IPv4. */
        family: z.literal('IPv6').optional(),
        ranges: z.array(z.string()),
        ports,
        checks: ports,
        subnetIds: z.array(z.string()),
        hidesClients: z.boolean(),
        pathMtu: z.boolean(),
      })
      .optional(),
    /** The group of a load balancer that is let in. */
    group: z.string().optional(),
    /** By which ports: the set of all load balancers, all traffic (upstream's rule for Classic ones), or `ports` alone. */
    groupPorts: z.enum(['Shared', 'All', 'Own']).optional(),
    /** More of them. */
    ports: ports.optional(),
  })
  .refine(({ clients, group }) => (clients === undefined) !== (group === undefined), { message: 'either clients or a group' });
export type NodeRulesInputs = z.infer<typeof schema>;

const keptSchema = z.strictObject({
  loadBalancer: z.string().min(1),
  /** Of its target groups; absent = several share it. */
  ownerUid: z.string().optional(),
  /** Absent = it is the owner's alone. */
  loadBalancerArn: z.string().optional(),
  group: z.string().optional(),
  rules: z.array(z.string()),
  /** Another generation of the load balancer is there, and may need what this one does not. */
  waits: z.boolean(),
});
export type NodeRulesKeptInputs = z.infer<typeof keptSchema>;

export interface NodeRulesSettings {
  /** Groups of Nodes that are known by now; the members path opens others. */
  nodeGroups: readonly string[];
  maxRules: number;
  /** Upstream's name of the cluster. */
  clusterName?: string | undefined;
}

/**
 * The rules of one load balancer in the groups of the Nodes. They are widened before its target groups need them; NodeRulesKept narrows them
 * afterwards, and the delete takes all. Nobody owns those groups, so discovery does not find the rules.
 */
export function nodeRules(clients: Omit<Api, 'options'>, settings: NodeRulesSettings, update: UpdateContext): ResourceType {
  const { clusterID } = update;
  const open = async (given: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> => {
    const inputs = schema.parse(given);
    const api = apiOf(clients, update, context);
    const rules = await rulesOf(inputs, api);
    const target = { groups: settings.nodeGroups, clusterID, loadBalancer: inputs.loadBalancer, maxRules: settings.maxRules };
    await openNodesToNew(api.ec2, target, rules, api.options);
    return { id: idOf(inputs), outputs: { ...given, rules: rules.map(writeRule) } };
  };
  return {
    token: NODE_RULES,
    replaceOn: ['loadBalancer', 'group'],
    computed: ['rules'],
    foresee: async (inputs, context) => {
      const rules = await rulesOf(schema.parse(inputs), apiOf(clients, update, context));
      return { rules: rules.map(writeRule) };
    },
    create: open,
    read: (id) => Promise.resolve({ inputs: {}, outputs: { loadBalancer: id.split(' ')[0] ?? '' } }),
    update: async (_id, _olds, news, context) => ({ outputs: (await open(news, context)).outputs }),
    delete: (id, context) => {
      const [loadBalancer = '', group] = id.split(' ');
      const { nodeGroups: groups, maxRules, clusterName } = settings;
      return closeRules(apiOf(clients, update, context), { clusterID, clusterName, loadBalancer, group, groups, maxRules, wanted: [] });
    },
  };
}

/** Stands behind a load balancer's listeners, and stands for nothing itself: where the rules change, those that were are revoked when it is reached. */
export function nodeRulesKept(clients: Omit<Api, 'options'>, settings: NodeRulesSettings, update: UpdateContext): ResourceType {
  const { clusterID } = update;
  return {
    token: NODE_RULES_KEPT,
    replaceOn: ['loadBalancer'],
    create: (inputs) => Promise.resolve({ id: keptSchema.parse(inputs).loadBalancer, outputs: inputs }),
    read: (id) => Promise.resolve({ inputs: {}, outputs: { loadBalancer: id } }),
    update: async (_id, _olds, news, context) => {
      const { loadBalancer, ownerUid: ownerUID, loadBalancerArn, group, rules, waits } = keptSchema.parse(news);
      const { nodeGroups: groups, maxRules, clusterName } = settings;
      const [own, wanted] = [{ ownerUID, loadBalancerArn }, rules.map(readRule)];
      const closing = { clusterID, clusterName, loadBalancer, own, group, groups, maxRules, wanted };
      const api = apiOf(clients, update, context);
      if (!waits) await closeRules(api, closing);
      // A generation before it may have had no group, but rules for clients.
      if (!waits && group !== undefined && ownerUID !== undefined) await closeRules(api, { ...closing, group: undefined, wanted: [] });
      return { outputs: news };
    },
    delete: () => Promise.resolve(),
  };
}

function idOf({ loadBalancer, group }: NodeRulesInputs): string {
  return group === undefined ? loadBalancer : `${loadBalancer} ${group}`;
}

async function rulesOf(inputs: NodeRulesInputs, { ec2, options }: Api): Promise<NodeRule[]> {
  const { clients, group = '', groupPorts = 'Own', ports: more = [] } = inputs;
  if (clients === undefined) {
    const sets = { Shared: SHARED_RULES, All: [ALL_TRAFFIC], Own: SHARED_RULES.filter(({ protocol }) => protocol === 'icmp') };
    return rulesFrom(group, [...sets[groupPorts], ...rulesForPorts(more)]);
  }
  const { ranges, subnetIds, pathMtu, ...demand } = clients;
  const found = await ec2.subnets([{ Name: 'subnet-id', Values: subnetIds }], options);
  const subnets = found.flatMap((subnet) => rangesOf(subnet, clients.family ?? 'IPv4')).sort();
  return clientRules({ ...demand, clients: ranges, subnets, pathMTU: pathMtu });
}

function apiOf(clients: Omit<Api, 'options'>, update: UpdateContext, { signal }: ResourceContext): Api {
  return { ...clients, options: { signal, assertValid: () => update.assertValid() } };
}
