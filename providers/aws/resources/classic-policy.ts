import type { LoadBalancerDescription, PolicyDescription } from '@aws-sdk/client-elastic-load-balancing';
import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import { holderOf, isOfStack } from '../tags';
import { classicByName } from './classic-load-balancer';
import type { Api } from './description';

/** A part of a Classic load balancer: a policy, or what policies one of its ports has. It bears no tags; its load balancer's say whose it is. */
export interface ClassicPart<Inputs extends { loadBalancerName: string }> {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly schema: z.ZodType<Inputs>;
  idOf(inputs: Inputs): string;
  /** The inputs by what AWS has; undefined = there is none. `policies` are those of the load balancer. */
  read(id: string, raw: LoadBalancerDescription, policies: readonly PolicyDescription[]): JsonObject | undefined;
  /** Makes it as it is wanted, whatever was there. */
  put(inputs: Inputs, api: Api): Promise<void>;
  remove(inputs: Inputs, api: Api): Promise<void>;
}

const names = z.array(z.string().min(1)).min(1);

const policySchema = z.strictObject({
  loadBalancerName: z.string().min(1),
  policyName: z.string().min(1),
  policyTypeName: z.string().min(1),
  policyAttributes: z.array(z.strictObject({ name: z.string(), value: z.string() })),
});
const backendSchema = z.strictObject({ loadBalancerName: z.string().min(1), instancePort: z.number().int(), policyNames: names });
const listenerSchema = z.strictObject({
  loadBalancerName: z.string().min(1),
  loadBalancerPort: z.number().int(),
  policyNames: names,
  /** What the listener is: one that is made anew has lost its policies. */
  triggers: z.record(z.string(), z.string()),
});

/** AWS can't change one: another one has another name. */
export const classicPolicy: ClassicPart<z.infer<typeof policySchema>> = {
  token: 'aws:elb/loadBalancerPolicy:LoadBalancerPolicy',
  replaceOn: ['loadBalancerName', 'policyName', 'policyTypeName', 'policyAttributes'],
  schema: policySchema,
  idOf: ({ loadBalancerName, policyName }) => `${loadBalancerName}:${policyName}`,
  read(id, { LoadBalancerName = '' }, policies) {
    const [, policyName = ''] = id.split(':');
    const found = policies.find(({ PolicyName }) => PolicyName === policyName);
    if (found === undefined) return undefined;
    const { PolicyTypeName = '', PolicyAttributeDescriptions = [] } = found;
    const all = PolicyAttributeDescriptions.map(({ AttributeName = '', AttributeValue = '' }) => ({
      name: AttributeName,
      value: AttributeValue,
    }));
    // a policy that refers to one of AWS's is described with every cipher of that
    const reference = all.filter(({ name }) => name === REFERENCE);
    return {
      loadBalancerName: LoadBalancerName,
      policyName,
      policyTypeName: PolicyTypeName,
      policyAttributes: reference.length > 0 ? reference : all,
    };
  },
  async put({ loadBalancerName, policyName, policyTypeName, policyAttributes }, { classic, options }) {
    const PolicyAttributes = policyAttributes.map(({ name, value }) => ({ AttributeName: name, AttributeValue: value }));
    const input = { LoadBalancerName: loadBalancerName, PolicyName: policyName, PolicyTypeName: policyTypeName, PolicyAttributes };
    await classic.createPolicy(input, options);
  },
  remove: ({ loadBalancerName, policyName }, { classic, options }) =>
    classic.deletePolicy({ LoadBalancerName: loadBalancerName, PolicyName: policyName }, options),
};
export const REFERENCE = 'Reference-Security-Policy';

/** What policies the traffic to one port of the Nodes has. They stay where a listener to that port goes, or is made anew. */
export const classicBackendPolicy: ClassicPart<z.infer<typeof backendSchema>> = {
  token: 'aws:elb/loadBalancerBackendServerPolicy:LoadBalancerBackendServerPolicy',
  replaceOn: ['loadBalancerName', 'instancePort'],
  schema: backendSchema,
  idOf: ({ loadBalancerName, instancePort }) => `${loadBalancerName}:${instancePort}`,
  read(id, { LoadBalancerName = '', BackendServerDescriptions = [] }) {
    const port = portOf(id);
    const policyNames = BackendServerDescriptions.find(({ InstancePort }) => InstancePort === port)?.PolicyNames ?? [];
    return policyNames.length === 0 ? undefined : { loadBalancerName: LoadBalancerName, instancePort: port, policyNames };
  },
  put: ({ loadBalancerName, instancePort, policyNames }, { classic, options }) =>
    classic.setBackendPolicies({ LoadBalancerName: loadBalancerName, InstancePort: instancePort, PolicyNames: policyNames }, options),
  remove: ({ loadBalancerName, instancePort }, { classic, options }) =>
    classic.setBackendPolicies({ LoadBalancerName: loadBalancerName, InstancePort: instancePort, PolicyNames: [] }, options),
};

/** What policies a listener has. */
export const classicListenerPolicy: ClassicPart<z.infer<typeof listenerSchema>> = {
  token: 'aws:elb/listenerPolicy:ListenerPolicy',
  replaceOn: ['loadBalancerName', 'loadBalancerPort'],
  schema: listenerSchema,
  idOf: ({ loadBalancerName, loadBalancerPort }) => `${loadBalancerName}:${loadBalancerPort}`,
  read(id, { LoadBalancerName = '', ListenerDescriptions = [] }) {
    const port = portOf(id);
    const found = ListenerDescriptions.find(({ Listener }) => Listener?.LoadBalancerPort === port);
    const policyNames = found?.PolicyNames ?? [];
    if (policyNames.length === 0) return undefined;
    const { InstancePort: instancePort = 0, InstanceProtocol: instanceProtocol = '', Protocol: lbProtocol = '' } = found?.Listener ?? {};
    return {
      loadBalancerName: LoadBalancerName,
      loadBalancerPort: port,
      policyNames,
      triggers: triggersOf({ instancePort, instanceProtocol, lbProtocol }),
    };
  },
  put: ({ loadBalancerName, loadBalancerPort, policyNames }, { classic, options }) =>
    classic.setListenerPolicies(
      { LoadBalancerName: loadBalancerName, LoadBalancerPort: loadBalancerPort, PolicyNames: policyNames },
      options,
    ),
  remove: ({ loadBalancerName, loadBalancerPort }, { classic, options }) =>
    classic.setListenerPolicies({ LoadBalancerName: loadBalancerName, LoadBalancerPort: loadBalancerPort, PolicyNames: [] }, options),
};

/** What a change is seen by for which a listener is made anew: all of it but its port and its certificate. Pure. */
export function triggersOf({ instancePort, instanceProtocol, lbProtocol }: Made): Record<string, string> {
  return { listener: `${lbProtocol.toLowerCase()} ${instancePort}`, nodes: instanceProtocol.toLowerCase() };
}

interface Made {
  instancePort: number;
  instanceProtocol: string;
  lbProtocol: string;
}

function portOf(id: string): number {
  return Number(id.split(':')[1]);
}

/** Serves one kind of part to the engine. */
export class ClassicPartResource<Inputs extends { loadBalancerName: string }> implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly part: ClassicPart<Inputs>,
    private readonly clients: Omit<Api, 'options'>,
    private readonly updateContext: UpdateContext,
  ) {
    this.token = part.token;
    this.replaceOn = part.replaceOn;
  }

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(this.part.schema, inputs);
  }

  /** What is there already as it is wanted, by an earlier try, is left. */
  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = this.part.schema.parse(inputs);
    const id = this.part.idOf(wanted);
    const there = await this.look(id, context);
    if (canonicalJson(there) !== canonicalJson(inputs)) await this.part.put(wanted, this.api(context));
    return { id, outputs: inputs };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const inputs = await this.look(id, context);
    return inputs === undefined ? undefined : { inputs, outputs: inputs };
  }

  async update(id: string, _olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    await this.look(id, context);
    await this.part.put(this.part.schema.parse(news), this.api(context));
    return { outputs: news };
  }

  async delete(id: string, context: ResourceContext): Promise<void> {
    const inputs = await this.look(id, context);
    if (inputs !== undefined) await this.part.remove(this.part.schema.parse(inputs), this.api(context));
  }

  /** @throws OperatorError Conflict where the load balancer is somebody else's */
  private async look(id: string, context: ResourceContext): Promise<JsonObject | undefined> {
    const api = this.api(context);
    const name = id.split(':')[0] ?? '';
    const found = await classicByName(name, api);
    if (found === undefined) return undefined;
    if (!isOfStack(this.updateContext, found.tags)) {
      const message = `${this.token} ${context.name}: load balancer ${name} is not changed, because by its tags it belongs to ${holderOf(found.tags)}`;
      throw new OperatorError('Conflict', message, { resource: context.urn });
    }
    return this.part.read(id, found.raw, await api.classic.policies(name, api.options));
  }

  private api({ signal }: ResourceContext): Api {
    return { ...this.clients, options: { signal, assertValid: () => this.updateContext.assertValid() } };
  }
}
