import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import type { LoadBalancer, PoolTarget, Route, TargetPool } from '../../../providers/local/api';
import { ApiFailure } from '../../../providers/local/cloud/api-failure';
import { Cloud } from '../../../providers/local/cloud/cloud';
import type { LoadBalancerPlan } from '../../../providers/local/cloud/data-plane';
import { NullDataPlane } from '../../../providers/local/cloud/null-data-plane';
import { Store } from '../../../providers/local/cloud/store';

/** Time that moves when a test says so. */
export class ManualClock implements Clock {
  private time = 0;
  private timers: { at: number; run: () => void }[] = [];

  now = () => this.time;
  monotonic = () => this.time;

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }

  advance(ms: number): void {
    this.time += ms;
    const due = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter(({ at }) => at > this.time);
    for (const { run } of due) run();
  }

  get waiting(): number {
    return this.timers.length;
  }
}

/** A data plane that moves nothing, but keeps what it was told, and fails or waits when a test wants it to. */
export class RecordingDataPlane extends NullDataPlane {
  readonly plans = new Map<string, LoadBalancerPlan>();
  readonly instances = new Set<string>();
  routes: Route[] = [];
  broken: string | undefined;
  gate: Promise<void> | undefined;
  applications = 0;

  override applyInstance(instance?: { id: string }): Promise<object> {
    if (instance !== undefined) this.instances.add(instance.id);
    return Promise.resolve({ netns: `ns-${instance?.id}` });
  }

  override removeInstance(id?: string): Promise<void> {
    this.instances.delete(id ?? '');
    return Promise.resolve();
  }

  override async applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    this.applications++;
    await this.gate;
    if (this.broken !== undefined) throw new Error(this.broken);
    this.plans.set(plan.id, plan);
    return super.applyLoadBalancer(plan);
  }

  override async removeLoadBalancer(id?: string): Promise<void> {
    await this.gate;
    if (this.broken !== undefined) throw new Error(this.broken);
    this.plans.delete(id ?? '');
  }

  override applyRoutes(routes: Route[] = []): Promise<Route['enforced']> {
    this.routes = routes;
    return Promise.resolve('kernel');
  }

  override health(): Promise<Map<string, TargetPool['health']>> {
    const health = [...this.plans.values()].flatMap(({ listeners }) =>
      listeners.map(({ pool }): [string, TargetPool['health']] => [
        pool.id,
        pool.targets.map(({ instanceID, port }) => ({ instanceID, port, state: 'healthy', connections: 1 })),
      ]),
    );
    return Promise.resolve(new Map(health));
  }
}

export interface Fixture {
  directory: string;
  store: Store;
  plane: RecordingDataPlane;
  clock: ManualClock;
  cloud: Cloud;
  close(): Promise<void>;
}

export function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'local-cloud-test-'));
}

/** A cloud on a directory of its own, or on one that is given: then it is a restart. */
export async function openCloud(options: { directory?: string; clock?: ManualClock; plane?: RecordingDataPlane } = {}): Promise<Fixture> {
  const directory = options.directory ?? (await temporaryDirectory());
  const clock = options.clock ?? new ManualClock();
  const plane = options.plane ?? new RecordingDataPlane();
  const store = new Store({ directory, now: () => clock.monotonic() });
  await store.open();
  let id = store.state.takeOrder() * 1000;
  const cloud = new Cloud({ store, plane, clock, logger: silentLogger, randomHex: () => (++id).toString(16).padStart(6, '0') });
  await cloud.start();
  const close = async () => {
    await cloud.stop();
    await store.close();
  };
  return { directory, store, plane, clock, cloud, close };
}

export async function dispose(fixture: Fixture): Promise<void> {
  await fixture.close();
  await rm(fixture.directory, { recursive: true });
}

/** What a call was refused with. */
export async function refusal(promise: Promise<unknown>): Promise<{ code: string; field?: string; message: string; status: number }> {
  const outcome: unknown = await promise.then(
    () => 'it was not refused',
    (error: unknown) => error,
  );
  if (!(outcome instanceof ApiFailure)) throw new Error(`expected a refusal, got ${String(outcome)}`);
  return { ...outcome.body, status: outcome.status };
}

/** One instance, one pool with it as target, one address and a load balancer in front. */
export async function makeLoadBalancer(cloud: Cloud, name = 'web') {
  const instance = (await cloud.create('instances', { name: `${name}-node`, podCIDRs: ['10.244.1.0/24'] })).resource;
  const address = (await cloud.create('addresses', { name: `${name}-address` })).resource;
  const targets: PoolTarget[] = [{ instanceID: instance.id, port: 30080 }];
  const pool = (await cloud.create('pools', { name: `${name}-pool`, protocol: 'TCP', targets })).resource;
  const spec = { name, addressIDs: [address.id], listeners: [{ name: 'http', protocol: 'TCP', port: 80, poolID: pool.id }] };
  const balancer = (await cloud.create('loadbalancers', spec)).resource as LoadBalancer;
  return { instance, address, pool, balancer, spec };
}

/** A text that contains `part`, for toMatchObject. */
export function containing(part: string): string {
  return expect.stringContaining(part) as string;
}
