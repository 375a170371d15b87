import { canonicalJson } from '../../../operator/base/json';
import type { Change } from './entry';
import type { Part } from './collections/rules';
import type { DataPlane } from './data-plane';
import { planLoadBalancer, planRoutes } from './plan';
import type { State } from './state';

interface Lane {
  running: Promise<Change[]>;
  next?: Promise<Change[]>;
}

/**
 * Brings parts of the data plane to what the state says. One run at a time for each part; calls that come during a run share the next one, which reads the
 * state when it starts, so that a thousand changes of one load balancer cost two runs.
 */
export class Applier {
  private readonly lanes = new Map<string, Lane>();

  constructor(
    private readonly state: State,
    private readonly plane: DataPlane,
  ) {}

  /**
   * Applies the part as the state is now or later.
   * @returns what the data plane found out, to be committed
   */
  apply(part: Part): Promise<Change[]> {
    const key = keyOfPart(part);
    const lane = this.lanes.get(key);
    if (lane === undefined) return this.begin(key, part);
    lane.next ??= settled(lane.running).then(() => this.begin(key, part));
    return lane.next;
  }

  private begin(key: string, part: Part): Promise<Change[]> {
    const lane: Lane = { running: this.run(part) };
    this.lanes.set(key, lane);
    void settled(lane.running).then(() => {
      if (lane.next === undefined && this.lanes.get(key) === lane) this.lanes.delete(key);
    });
    return lane.running;
  }

  private async run(part: Part): Promise<Change[]> {
    switch (part.kind) {
      case 'instance':
        return this.runInstance(part.id);
      case 'loadbalancer':
        return this.runLoadBalancer(part.id);
      case 'routes':
        return this.runRoutes();
    }
  }

  private async runInstance(id: string): Promise<Change[]> {
    const instance = this.state.get('instances', id)?.resource;
    if (instance === undefined || instance.state === 'deleting' || instance.power === 'terminated') {
      await this.plane.removeInstance(id);
      return [];
    }
    const { netns, socket } = await this.plane.applyInstance(instance);
    if (netns === instance.netns && socket === instance.socket) return [];
    return [{ kind: 'merge', collection: 'instances', id, fields: { netns: netns ?? null, socket: socket ?? null } }];
  }

  private async runLoadBalancer(id: string): Promise<Change[]> {
    const balancer = this.state.get('loadbalancers', id)?.resource;
    if (balancer === undefined || balancer.state === 'deleting') {
      await this.plane.removeLoadBalancer(id);
      return [];
    }
    const hostPorts = await this.plane.applyLoadBalancer(planLoadBalancer(balancer, this.state));
    if (canonicalJson(hostPorts) === canonicalJson(balancer.hostPorts)) return [];
    return [{ kind: 'merge', collection: 'loadbalancers', id, fields: { hostPorts } }];
  }

  private async runRoutes(): Promise<Change[]> {
    const routes = planRoutes(this.state);
    const enforced = await this.plane.applyRoutes(routes);
    return routes
      .filter((route) => route.enforced !== enforced)
      .map(({ id }) => ({ kind: 'merge', collection: 'routes', id, fields: { enforced } }));
  }
}

/** Equal keys, equal parts. */
export function keyOfPart(part: Part): string {
  return part.kind === 'routes' ? 'routes' : `${part.kind}/${part.id}`;
}

function settled(promise: Promise<unknown>): Promise<void> {
  const done = (): void => undefined;
  return promise.then(done, done);
}
