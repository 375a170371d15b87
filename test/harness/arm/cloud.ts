import { systemClock, type Clock } from '../../../operator/base/clock';
import type { Json, JsonObject } from '../../../operator/base/json';
import { parseResourceID, resourceID, type ResourceName } from '../../../providers/azure/client/resource-id';
import { withAddresses, withConnections, withUsers } from './fill';
import { Operations, type RunningOperation } from './operations';
import type { Answer, ArmRequest } from './request';
import { refusal } from './request';
import { newEtag, partFrom, partsIn, resourceFrom, wholeOf, type Part, type Resource } from './resource';
import type { CloudLimits, CloudView, Rule, Write } from './rule';
import { RULES } from './rules';
import { Users } from './users';

/** Limits of a subscription that has not asked for more. */
export const LIMITS: CloudLimits = {
  rulesPerLoadBalancer: 1500,
  frontendsPerLoadBalancer: 600,
  rulesPerSecurityGroup: 1000,
  addressesPerSecurityGroup: 4000,
  routesPerTable: 1000,
  publicAddresses: 1000,
};

export interface CloudOptions {
  resourceGroups: string[];
  clock?: Clock;
  limits?: Partial<CloudLimits>;
  /** Milliseconds from a write to the end of its operation; 0 = it is done with the answer. */
  operationMs?: number;
}

/** What is in a subscription, and what becomes of writes. */
export class ArmCloud implements CloudView {
  readonly locks = new Map<string, 'ReadOnly' | 'CanNotDelete'>();
  readonly policies = new Map<string, string>();
  readonly forbidden = new Map<string, string>();
  readonly busy: CloudView['busy'] = new Map();
  readonly resourceGroups: Set<string>;
  readonly limits: CloudLimits;
  readonly operations: Operations;
  private readonly resources = new Map<string, Resource>();
  private readonly users = new Users(() => this.resources.values());
  private published = { 4: 0, 6: 0 };

  constructor(
    { resourceGroups, clock = systemClock, limits = {}, operationMs = 0 }: CloudOptions,
    private readonly rules: readonly Rule[] = RULES,
  ) {
    this.resourceGroups = new Set(resourceGroups.map((name) => name.toLowerCase()));
    this.limits = { ...LIMITS, ...limits };
    this.operations = new Operations(clock, operationMs);
  }

  find(id: string): Resource | undefined {
    this.operations.settle();
    return this.resources.get(id.toLowerCase());
  }

  all(): Resource[] {
    this.operations.settle();
    return [...this.resources.values()];
  }

  usersOf(id: string): string[] {
    return this.users.of(id);
  }

  /** Puts something there, past all rules: machines, networks. */
  seed(id: string, body: object): Resource {
    const resource = resourceFrom(parseResourceID(id), body as JsonObject);
    resource.properties.provisioningState ??= 'Succeeded';
    this.set(id, resource);
    return resource;
  }

  /** Takes something away behind everybody's back. */
  vanish(id: string): void {
    this.users.forget();
    this.resources.delete(id.toLowerCase());
  }

  /** Changes something behind everybody's back. */
  tamper(id: string, change: (resource: Resource) => void): void {
    const resource = this.resources.get(id.toLowerCase());
    if (resource === undefined) throw new Error(`${id} is not there`);
    change(resource);
    resource.etag = newEtag();
    this.users.forget();
  }

  get(name: ResourceName): Answer {
    const { whole, part } = wholeOf(name);
    const id = resourceID(whole);
    const resource = this.find(id);
    const shown = resource === undefined ? undefined : withUsers(resource, this);
    const body = part === undefined || shown === undefined ? shown : partOf(shown, part.list, part.name);
    if (body !== undefined) return { status: 200, body };
    const { resourceGroup } = name;
    if (!this.resourceGroups.has(resourceGroup.toLowerCase())) {
      return refusal(404, 'ResourceGroupNotFound', `Resource group '${resourceGroup}' could not be found.`);
    }
    return refusal(404, resource === undefined ? 'ResourceNotFound' : 'NotFound', `The Resource '${resourceID(name)}' was not found.`);
  }

  has(name: ResourceName): boolean {
    const { whole, part } = wholeOf(name);
    const resource = this.find(resourceID(whole));
    return resource !== undefined && (part === undefined || partOf(resource, part.list, part.name) !== undefined);
  }

  /** PUT of a resource or a part of one. */
  put(name: ResourceName, request: ArmRequest): Answer {
    const { whole, part } = wholeOf(name);
    const before = this.find(resourceID(whole));
    if (part !== undefined && before === undefined) return refusal(404, 'ParentResourceNotFound', `${resourceID(whole)} was not found.`);
    const after = part === undefined || before === undefined ? resourceFrom(name, request.body) : withPart(before, part, request.body);
    return this.write({ request, ...about(whole), ...(before !== undefined && { before }), after }, name);
  }

  /** PATCH of tags. */
  patch(name: ResourceName, request: ArmRequest): Answer {
    const before = this.find(resourceID(name));
    if (before === undefined) return this.get(name);
    const after: Resource = { ...structuredClone(before), etag: newEtag(), tags: request.body.tags as Record<string, string> };
    return this.write({ request, ...about(name), before, after }, name);
  }

  /** DELETE of a resource or a part of one. */
  delete(name: ResourceName, request: ArmRequest): Answer {
    const { whole, part } = wholeOf(name);
    const before = this.find(resourceID(whole));
    const isThere = before !== undefined && (part === undefined || partOf(before, part.list, part.name) !== undefined);
    const after = isThere && part !== undefined ? withoutPart(before, part) : undefined;
    const write: Write = { request, ...about(whole), ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
    if (!isThere) return this.refusedBy({ ...write }, this.rules.slice(0, 2)) ?? { status: 204 };
    return this.write(write, name);
  }

  private write(write: Write, asked: ResourceName): Answer {
    const refused = this.refusedBy(write, this.rules);
    if (refused !== undefined) return refused;
    const { id, before } = write;
    if (write.after === undefined) return this.begun(id, () => this.vanish(id), 'Deleting', 202);
    const filled = withAddresses(write.after, before, this, (family) => this.nextPublic(family));
    const after = write.request.method === 'PUT' ? withConnections(filled, before) : filled;
    this.set(id, after);
    const isDelete = write.request.method === 'DELETE';
    const status = isDelete ? 202 : before === undefined ? 201 : 200;
    const answer = this.begun(id, () => undefined, 'Updating', status);
    return isDelete ? answer : { ...answer, body: this.get(asked).body };
  }

  /** An operation for a write that has been accepted. */
  private begun(id: string, done: () => void, state: 'Updating' | 'Deleting', status: number): Answer {
    const resource = this.resources.get(id.toLowerCase());
    if (resource !== undefined) resource.properties.provisioningState = state;
    const operation = this.operations.begin(id, (succeeded) => {
      if (resource !== undefined) resource.properties.provisioningState = succeeded ? 'Succeeded' : 'Failed';
      if (succeeded) done();
    });
    if (operation.status === 'Succeeded') return { status: status === 202 ? 200 : status };
    return { status, headers: { 'azure-asyncoperation': operationPath(id, operation), 'retry-after': '0' } };
  }

  private set(id: string, resource: Resource): void {
    this.users.forget();
    this.resources.set(id.toLowerCase(), resource);
  }

  private refusedBy(write: Write, rules: readonly Rule[]): Answer | undefined {
    for (const rule of rules) {
      const answer = rule(write, this);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  private nextPublic(family: 4 | 6): string {
    const number = ++this.published[family];
    return family === 4 ? `20.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}` : `2603:1030::${number.toString(16)}`;
  }
}

function about(name: ResourceName): Pick<Write, 'id' | 'type'> {
  return { id: resourceID(name), type: [name.namespace, ...name.path.map(({ type }) => type)].join('/') };
}

/** Below the subscription; the server puts its own address before it. */
function operationPath(id: string, operation: RunningOperation): string {
  const { subscription, namespace } = parseResourceID(id);
  return `/subscriptions/${subscription}/providers/${namespace}/locations/westeurope/operations/${operation.id}?api-version=2024-05-01`;
}

function partOf(resource: Resource, list: string, name: string): Part | undefined {
  return partsIn(resource, list).find((one) => one.name.toLowerCase() === name.toLowerCase());
}

function withPart(before: Resource, { list, name }: { list: string; name: string }, body: JsonObject): Resource {
  const after = withoutPart(before, { list, name });
  const { properties = {}, zones } = body as Partial<Part>;
  const part = partFrom(`${before.id}/${list}`, { name, properties, ...(zones !== undefined && { zones }) });
  after.properties[list] = [...partsIn(after, list), part] as unknown as Json;
  return after;
}

function withoutPart(before: Resource, { list, name }: { list: string; name: string }): Resource {
  const after = { ...structuredClone(before), etag: newEtag() };
  after.properties[list] = partsIn(after, list).filter((one) => one.name.toLowerCase() !== name.toLowerCase()) as unknown as Json;
  return after;
}
