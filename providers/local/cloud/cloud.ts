import type { Clock } from '../../../operator/base/clock';
import { hashJson } from '../../../operator/base/json';
import type { Logger } from '../../../operator/base/log';
import type { Operation, TargetPool } from '../api';
import { addressPools } from './address-plan';
import { ApiFailure, notFound } from './api-failure';
import { rulesOf } from './collections';
import { digestOf, parseTargets, partsOfPool, withHealth } from './collections/pools';
import { MAIN_ROUTE_TABLE } from './collections/routetables';
import type { View } from './collections/rules';
import type { DataPlane } from './data-plane';
import { etagOf, type AnyResource, type Change, type Entry, type ResourceCollection } from './entry';
import type { CrashPoint } from './journal';
import { changedFields, splitToken } from './spec';
import { resume } from './resume';
import { parse } from './schema';
import { Settler, type Task } from './settler';
import { merged } from './state';
import type { Store } from './store';

export interface CloudOptions {
  store: Store;
  plane: DataPlane;
  clock: Clock;
  logger: Logger;
  /** Random hex digits for ids. */
  randomHex: (digits: number) => string;
}

/** How a write goes differently from usual: fault rules and If-Match. */
export interface WriteOptions {
  ifMatch?: string;
  crash?: CrashPoint;
  beforeRecord?: () => void;
  stuck?: boolean;
  /** Refuses a create, given how many resources the collection holds. */
  quota?: (living: number) => void;
}

export interface Written {
  resource: AnyResource;
  operation: Operation;
  /** False: an earlier call with this client token made it. */
  fresh: boolean;
}

/** The verbs of the cloud: each checks, commits, has the data plane apply it, and answers with the resource as it is then. */
export class Cloud {
  readonly view: View;
  private readonly store: Store;
  private readonly settler: Settler;
  /** Creates and deletes on their way, by resource: a repeated call waits for the first one. */
  private readonly underway = new Map<string, Promise<void>>();
  private healthRead: Promise<Map<string, TargetPool['health']>> | undefined;

  constructor(private readonly options: CloudOptions) {
    const { store, plane, clock, logger } = options;
    this.store = store;
    this.view = {
      state: store.state,
      ...addressPools(plane),
      ...(plane.topology.noPassthrough !== undefined && { noPassthrough: plane.topology.noPassthrough }),
    };
    this.settler = new Settler({ store, view: this.view, plane, clock, logger });
  }

  /** Makes what the cloud itself has, and brings the data plane to the recorded state. The data plane must have started. */
  async start(): Promise<void> {
    if (this.store.state.get('routetables', MAIN_ROUTE_TABLE) === undefined) {
      await this.store.commit([{ kind: 'put', collection: 'routetables', entry: this.mainRouteTable() }]);
    }
    await resume(this.store, this.view, this.settler);
  }

  async stop(): Promise<void> {
    await this.settler.stop();
  }

  /** Takes up what the fault stuckPending left. */
  release(): Promise<void> {
    return this.settler.release();
  }

  /** @throws ApiFailure NotFound */
  entry(collection: ResourceCollection, id: string): Entry {
    const entry = this.store.state.get(collection, id);
    if (entry === undefined) throw notFound(collection, id);
    return entry;
  }

  /** The resources as they are shown: pools with their health. */
  async show(resources: AnyResource[]): Promise<AnyResource[]> {
    if (!resources.some((resource) => 'health' in resource)) return resources;
    this.healthRead ??= this.options.plane.health().finally(() => (this.healthRead = undefined));
    const health = await this.healthRead;
    return resources.map((resource) => ('health' in resource ? withHealth(resource, health.get(resource.id)) : resource));
  }

  async create(collection: ResourceCollection, body: unknown, options: WriteOptions = {}): Promise<Written> {
    const { clientToken, spec: raw } = splitToken(body);
    const specHash = hashJson(raw);
    const known = clientToken === undefined ? undefined : this.store.state.tokened(collection, clientToken);
    if (known !== undefined) return this.repeat(collection, known, specHash);

    const rules = rulesOf(collection);
    const spec = parse(rules.createSchema, raw);
    const holder = this.store.state.named(collection, spec.name)?.resource;
    if (holder !== undefined) {
      throw new ApiFailure('NameTaken', `${collection} has a "${spec.name}" already: ${holder.id}`, { field: 'name' });
    }
    options.quota?.(this.store.state.count(collection));

    const id = this.newID(rules.idPrefix);
    const made = rules.create(spec, id, this.view);
    const entry: Entry = {
      resource: { ...this.resourceFields(id, spec.name), tags: spec.tags ?? {}, ...made.fields } as AnyResource,
      order: this.store.state.takeOrder(),
      generation: 1,
      ...(made.index === undefined ? {} : { index: made.index }),
      ...(clientToken === undefined ? {} : { token: { value: clientToken, specHash } }),
    };
    rules.check?.(entry, this.view, undefined);
    const effects = rules.effects(undefined, entry, this.view);
    return this.write(
      'create',
      { collection, id, parts: effects.parts },
      [{ kind: 'put', collection, entry }, ...effects.changes],
      options,
    );
  }

  async update(collection: ResourceCollection, id: string, body: unknown, options: WriteOptions = {}): Promise<Written> {
    const before = this.entry(collection, id);
    refuseDeleting(before);
    checkEtag(before, options.ifMatch);
    const rules = rulesOf(collection);
    const changed = changedFields(rules, before, body);
    if (Object.keys(changed).length === 0) return this.unchanged(collection, before, options);
    const fields = { ...changed, ...rules.derive?.(changed), state: 'updating', updatedAt: this.now() };
    const change = { kind: 'merge', collection, id, fields, generation: before.generation + 1 } satisfies Change;
    const after = merged(before, change);
    rules.check?.(after, this.view, before);
    const effects = rules.effects(before, after, this.view);
    return this.write('update', { collection, id, parts: effects.parts }, [change, ...effects.changes], options);
  }

  /** The whole target set of a pool; its etag stays. */
  async setTargets(id: string, body: unknown, options: WriteOptions = {}): Promise<Written> {
    const before = this.entry('pools', id) as Entry<TargetPool>;
    refuseDeleting(before);
    const targets = parseTargets(body, this.view);
    if (digestOf({ targets }) === digestOf(before.resource)) return this.unchanged('pools', before, options, 'targets');
    const fields = { targets, state: 'updating', updatedAt: this.now() };
    const task: Task = { collection: 'pools', id, parts: partsOfPool(id, this.view) };
    return this.write('targets', task, [{ kind: 'merge', collection: 'pools', id, fields }], options);
  }

  async remove(collection: ResourceCollection, id: string, options: WriteOptions = {}): Promise<Operation> {
    const before = this.entry(collection, id);
    checkEtag(before, options.ifMatch);
    const earlier = this.underway.get(`${collection}/${id}/delete`);
    if (earlier !== undefined) {
      await earlier;
      return this.lastOperation('delete', collection, id);
    }
    const rules = rulesOf(collection);
    const user = rules.inUseBy?.(before, this.view);
    if (user !== undefined) throw new ApiFailure('InUse', `${collection}/${id} is used by ${user}`);
    const change = { kind: 'merge', collection, id, fields: { state: 'deleting', updatedAt: this.now() } } satisfies Change;
    const effects = rules.effects(before, merged(before, change), this.view);
    const task: Task = { collection, id, parts: effects.parts, removes: true };
    return (await this.write('delete', task, [change, ...effects.changes], options)).operation;
  }

  /** The same client token again: the resource that it made, once that is settled. */
  private async repeat(collection: ResourceCollection, known: Entry, specHash: string): Promise<Written> {
    const { id } = known.resource;
    if (known.token?.specHash !== specHash) {
      throw new ApiFailure('TokenMismatch', `this clientToken made ${collection}/${id} from another spec; use a new token`, {
        field: 'clientToken',
      });
    }
    refuseDeleting(known);
    await this.underway.get(`${collection}/${id}/create`);
    if (this.entry(collection, id).resource.state === 'error') await this.settler.settle(this.again(collection, id));
    return { resource: this.entry(collection, id).resource, operation: this.lastOperation('create', collection, id), fresh: false };
  }

  /** A write that changes nothing still waits for what failed before. */
  private async unchanged(
    collection: ResourceCollection,
    entry: Entry,
    options: WriteOptions,
    verb: Operation['verb'] = 'update',
  ): Promise<Written> {
    if (entry.resource.state === 'error') return this.write(verb, this.again(collection, entry.resource.id), [], options);
    const operation: Operation = { ...this.newOperation(verb, collection, entry.resource.id), state: 'done' };
    await this.store.commit([{ kind: 'operation', operation }], options.crash);
    return { resource: entry.resource, operation, fresh: true };
  }

  private async write(verb: Operation['verb'], task: Task, changes: Change[], options: WriteOptions): Promise<Written> {
    const { collection, id } = task;
    const operation = this.newOperation(verb, collection, id);
    const whole: Task = { ...task, operation, ...(options.beforeRecord === undefined ? {} : { beforeRecord: options.beforeRecord }) };
    const committed = this.store.commit([...changes, { kind: 'operation', operation }], options.crash);
    const ended = options.stuck === true ? committed.then(() => this.settler.hold(whole)) : this.settler.settle(whole, committed);
    const key = `${collection}/${id}/${verb}`;
    this.underway.set(key, ended);
    try {
      await ended;
    } finally {
      if (this.underway.get(key) === ended) this.underway.delete(key);
    }
    const resource = this.store.state.get(collection, id)?.resource;
    if (resource === undefined && verb !== 'delete') throw notFound(collection, id);
    return { resource: resource as AnyResource, operation: this.store.state.operation(operation.id) ?? operation, fresh: true };
  }

  private again(collection: ResourceCollection, id: string): Task {
    const entry = this.entry(collection, id);
    return { collection, id, parts: rulesOf(collection).effects(entry, entry, this.view).parts };
  }

  private lastOperation(verb: Operation['verb'], collection: ResourceCollection, id: string): Operation {
    const found = this.store.state.operations().findLast(({ operation }) => operation.resourceID === id && operation.verb === verb);
    return found?.operation ?? { ...this.newOperation(verb, collection, id), state: 'done' };
  }

  private newOperation(verb: Operation['verb'], collection: ResourceCollection, resourceID: string): Operation {
    return { id: this.newID('op'), verb, collection, resourceID, state: 'running' };
  }

  private mainRouteTable(): Entry {
    const resource = { ...this.resourceFields(MAIN_ROUTE_TABLE, 'main'), state: 'active', tags: {}, main: true } as AnyResource;
    return { resource, order: this.store.state.takeOrder(), generation: 1 };
  }

  private resourceFields(id: string, name: string): object {
    const now = this.now();
    return { id, name, etag: etagOf(1), state: 'pending', createdAt: now, updatedAt: now };
  }

  private newID(prefix: string): string {
    return `${prefix}-${this.options.randomHex(16)}`;
  }

  private now(): string {
    return new Date(this.options.clock.now()).toISOString();
  }
}

function refuseDeleting({ resource }: Entry): void {
  if (resource.state !== 'deleting') return;
  throw new ApiFailure('InUse', `${resource.name} (${resource.id}) is being deleted; try again when it is gone`, { retryAfterMs: 200 });
}

function checkEtag({ resource }: Entry, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.replace(/^"(.*)"$/, '$1') === resource.etag) return;
  throw new ApiFailure('EtagMismatch', `${resource.id} has etag ${resource.etag}, not ${ifMatch}; read it again`);
}
