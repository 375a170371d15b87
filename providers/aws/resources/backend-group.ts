import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { systemClock } from '../../../operator/base/clock';
import type { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { OWN_PACKAGE, STATE_PACKAGE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import { retry } from '../../retry';
import type { UpdateContext } from '../../worker-module';
import { BackendGroup } from '../nodes/backend-group';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';
import { openNodes, openNodesToNew, rulesForPorts, rulesFrom, rulesOfNodes, SHARED_RULES } from '../nodes/node-rules';
import { leftBehind } from './left-behind';
import type { NodeRulesSettings } from './node-rules';

/** Type token of a load balancer's part in the backend group. */
export const BACKEND = `${STATE_PACKAGE}BackendGroup`;

/** Type token of a backend group that no load balancer uses any more, as a sweep tells it. */
export const LEFT_BACKEND = `${OWN_PACKAGE}:index:LeftBackendGroup`;

const schema = z.strictObject({
  vpcId: z.string().min(1),
  /** Name in the program of the load balancer's own group. */
  frontend: z.string().min(1),
  /** Ports of Nodes that the load balancer needs, such as tcp/10256; the NodePort range is open for all. */
  ports: z.array(z.string().regex(/^(tcp|udp)\/[0-9]+$/)),
});
export type BackendGroupInputs = z.infer<typeof schema>;

/**
 * A load balancer's part in the cluster's backend group: while it is there, the group is, and lets it in to the Nodes. What comes in that way does not
 * grow with Services. It is no resource of one stack's, so discovery does not find it.
 */
export function backendGroup(ec2: Ec2, { nodeGroups: groups, maxRules }: NodeRulesSettings, update: UpdateContext): ResourceType {
  const { clusterID, stack } = update;
  const target = { groups, clusterID, maxRules };
  const backend = new BackendGroup(ec2, clusterID, systemClock);
  const options = ({ signal }: ResourceContext): CallOptions => ({ signal, assertValid: () => update.assertValid() });
  const ensure = async (inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> => {
    const wanted = schema.parse(inputs);
    const isRace = (error: OperatorError): boolean => error.code === 'Transient';
    // The load balancer waits for this, so the rules are read beside: who closes them meanwhile has marked the group before the look at it, which is a race.
    const attempt = (): Promise<[string, SecurityGroupRule[]]> =>
      Promise.all([
        backend.ensure({ stack, frontend: wanted.frontend }, wanted.vpcId, options(context)),
        rulesOfNodes(ec2, target, options(context)),
      ]);
    const [id, has] = await retry(ec2.retryPolicy, attempt, isRace, context.signal);
    await openNodesToNew(ec2, { ...target, has }, rulesFrom(id, [...SHARED_RULES, ...rulesForPorts(wanted.ports)]), options(context));
    return { id, outputs: { ...inputs, groupId: id } };
  };
  return {
    token: BACKEND,
    replaceOn: ['vpcId', 'frontend'],
    create: ensure,
    read: (id) => Promise.resolve({ inputs: {}, outputs: { groupId: id } }),
    update: async (id, _olds, news, context) => {
      const { ports } = schema.parse(news);
      await openNodes(ec2, target, rulesFrom(id, rulesForPorts(ports)), options(context));
      return { outputs: { ...news, groupId: id } };
    },
    delete: (_id, context) => backend.release({ stack, frontend: frontendOf(context.name) }, options(context)),
  };
}

/** A backend group that was left behind. */
export function leftBackendGroup(ec2: Ec2, update: UpdateContext): ResourceType {
  const backend = new BackendGroup(ec2, update.clusterID, systemClock);
  return leftBehind(LEFT_BACKEND, 'groupId', (id, { signal }) =>
    backend.removeLeft(id, { signal, assertValid: () => update.assertValid() }),
  );
}

/** Their names in the program differ in their ends (security-groups.ts). */
function frontendOf(backend: string): string {
  return backend.replace(/-backend$/, '-frontend');
}
