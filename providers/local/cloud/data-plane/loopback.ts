import { systemClock } from '../../../../operator/base/clock';
import type { Family, Instance, LoadBalancer, Route, TargetPool, Topology } from '../../api';
import type { DataPlane, LoadBalancerPlan } from '../data-plane';
import { loopbackPlan, planFor, type AddressPlan } from './address-plan';
import type { DataPlaneParts } from './data-plane-parts';
import { Engine } from './engine/engine';
import { KeyedLock } from './keyed-lock';
import { parentDeathWrapper } from './parent-death';
import { SocketFolder } from './socket-folder';
import { SupervisedProcess, type ProcessPlan } from './supervised-process';
import { UserlandRouter } from './userland-router';

const NO_PASSTHROUGH = 'the tier loopback has no network of its own; run the local cloud as root where network namespaces can be made';

/**
 * The tier for every machine: load balancers and instances have addresses of 127.0.0.0/8, and routes hold only for those who ask the
 * userland router.
 */
export class LoopbackDataPlane implements DataPlane {
  readonly topology: Topology;
  private readonly plan: AddressPlan;
  private readonly engine: Engine;
  private readonly sockets: SocketFolder;
  private readonly router: UserlandRouter;
  private readonly processes = new Map<string, SupervisedProcess>();
  private readonly lock = new KeyedLock();

  constructor(private readonly parts: DataPlaneParts) {
    const { claim, logger, reason } = parts;
    const plan = loopbackPlan(claim.number);
    this.plan = plan;
    this.engine = new Engine({ clock: systemClock, logger, offsetPorts: true });
    this.sockets = new SocketFolder(claim.directory);
    this.router = new UserlandRouter(this.sockets.socket('router'));
    const { loadBalancerCIDR, nodeCIDR, podCIDR } = plan;
    const ipv6 = { loadBalancerCIDR: plan.ipv6.loadBalancerCIDR };
    this.topology = { tier: 'loopback', reason, loadBalancerCIDR, nodeCIDR, podCIDR, ipv6, netns: [], noPassthrough: NO_PASSTHROUGH };
  }

  async start(): Promise<void> {
    this.sockets.create();
    await this.router.start();
  }

  instanceAddress(index: number, family: Family): string {
    return planFor(this.plan, family).nodeAddress(index);
  }

  loadBalancerAddress(index: number, family: Family): string {
    return planFor(this.plan, family).loadBalancerAddress(index);
  }

  applyInstance(instance: Instance): Promise<{ netns?: string; socket?: string }> {
    return this.lock.run(instance.id, async () => {
      const wanted = instance.power === 'running' ? this.processPlan(instance) : undefined;
      const running = this.processes.get(instance.id);
      if (JSON.stringify(running?.plan) !== JSON.stringify(wanted)) {
        await this.endProcess(instance.id);
        if (wanted !== undefined) this.startProcess(instance.id, wanted);
      }
      if (wanted === undefined) return {};
      this.router.attach({ instanceID: instance.id, podCIDRs: instance.podCIDRs, podSocket: this.podSocket(instance.id) });
      return { socket: this.instanceSocket(instance.id) };
    });
  }

  removeInstance(id: string): Promise<void> {
    return this.lock.run(id, () => this.endProcess(id));
  }

  applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    return this.engine.applyLoadBalancer(plan);
  }

  removeLoadBalancer(id: string): Promise<void> {
    return this.engine.removeLoadBalancer(id);
  }

  applyRoutes(routes: Route[]): Promise<Route['enforced']> {
    this.router.setRoutes(routes);
    return Promise.resolve('userland');
  }

  breakRoute(destinationCIDR: string): Promise<void> {
    this.router.breakRoute(destinationCIDR);
    return Promise.resolve();
  }

  health(): Promise<Map<string, TargetPool['health']>> {
    return Promise.resolve(this.engine.health());
  }

  async stop(): Promise<void> {
    await this.engine.close();
    await Promise.all([...this.processes.keys()].map((id) => this.removeInstance(id)));
    await this.router.stop();
    this.sockets.remove();
    this.parts.release();
  }

  private processPlan(instance: Instance): ProcessPlan | undefined {
    if (instance.process === undefined) return undefined;
    const env = {
      ...instance.process.env,
      ...instanceEnvironment(instance, this.instanceSocket(instance.id)),
      LOCALCLOUD_ROUTER: this.router.socketPath,
      LOCALCLOUD_POD_SOCKET: this.podSocket(instance.id),
    };
    const sockets = [this.instanceSocket(instance.id), this.podSocket(instance.id)];
    return { command: [...parentDeathWrapper(), ...instance.process.command], env, sockets };
  }

  private startProcess(id: string, plan: ProcessPlan): void {
    const child = new SupervisedProcess(plan, systemClock, this.parts.logger.child({ instance: id }));
    this.processes.set(id, child);
    child.start();
  }

  private async endProcess(id: string): Promise<void> {
    this.router.detach(id);
    await this.processes.get(id)?.stop();
    this.processes.delete(id);
  }

  private instanceSocket(id: string): string {
    return this.sockets.socket(`${id}.sock`);
  }

  private podSocket(id: string): string {
    return this.sockets.socket(`${id}.pods`);
  }
}

/** What every instance's process finds in its environment (local cloud's API, Instance.process). Pure. */
export function instanceEnvironment(instance: Instance, socket: string): Record<string, string> {
  return {
    LOCALCLOUD_INSTANCE: instance.id,
    LOCALCLOUD_ADDRESS: instance.addresses.map(({ ip }) => ip).join(','),
    LOCALCLOUD_POD_CIDRS: instance.podCIDRs.join(','),
    LOCALCLOUD_SOCKET: socket,
  };
}
