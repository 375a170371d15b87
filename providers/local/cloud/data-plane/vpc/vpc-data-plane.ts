import { sleep, systemClock } from '../../../../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../../../../operator/base/errors';
import type { Family, Instance, LoadBalancer, Route, TargetPool, Topology } from '../../../api';
import type { DataPlane, LoadBalancerPlan } from '../../data-plane';
import { loopbackPlan, planFor, vpcPlan, type AddressPlan } from '../address-plan';
import type { DataPlaneParts } from '../data-plane-parts';
import { addressInCIDR, familyOf, offsetInCIDR } from '../ip-range';
import { SocketFolder } from '../socket-folder';
import { AgentProcess } from './agent-process';
import { BridgeClient } from './bridge-client';
import { BRIDGE_SOCKET } from './bridge-protocol';
import { run, runIp } from './commands';
import { namespacesOf, removeLeftovers } from './namespaces';
import { hostLinkLines, vpcNamespace } from './network';
import { noPassthrough } from './passthrough-probe';
import type { AgentCalls, AgentConfig, AgentMethod, VpcTier } from './protocol';

const RESTART_MS = 500;
/** Half of the loopback addresses that a cloud has. */
const IPV6_OFFSET = 2048;

/**
 * The tiers with network namespaces: everything happens in an agent inside the VPC's namespace, this is the host's side of it.
 * An agent that dies is started again and told everything anew.
 */
export class VpcDataPlane implements DataPlane {
  private readonly plan: AddressPlan;
  private readonly sockets: SocketFolder;
  private readonly withoutPassthrough: Pick<Topology, 'noPassthrough'>;
  private readonly bridge: BridgeClient | undefined;
  private agent: Promise<AgentProcess>;
  private readonly stopping = new AbortController();
  private readonly instances = new Map<string, Instance>();
  private readonly loadBalancers = new Map<string, LoadBalancerPlan>();
  private routes: Route[] = [];

  constructor(
    private readonly tier: VpcTier,
    private readonly parts: DataPlaneParts,
  ) {
    const { claim } = parts;
    this.plan = vpcPlan(claim.number);
    this.sockets = new SocketFolder(claim.directory);
    const why = noPassthrough(tier);
    this.withoutPassthrough = why === undefined ? {} : { noPassthrough: why };
    this.agent = Promise.reject(new OperatorError('Unknown', 'the data plane was not started'));
    this.agent.catch(() => undefined);
    if (tier === 'vpc-userns') this.bridge = new BridgeClient(this.sockets.socket(BRIDGE_SOCKET), (ip) => this.hostAddress(ip));
  }

  get topology(): Topology {
    const { loadBalancerCIDR, nodeCIDR, podCIDR } = this.plan;
    const { ipv6 } = this.plan;
    const wide = { loadBalancerCIDR: ipv6.loadBalancerCIDR, nodeCIDR: ipv6.nodeCIDR };
    const netns = this.tier === 'vpc-root' ? namespacesOf(this.parts.claim.id) : [];
    const common = { tier: this.tier, reason: this.parts.reason, loadBalancerCIDR, podCIDR, netns, ...this.withoutPassthrough };
    // Its machines are made by others.
    if (this.tier === 'netns') return { ...common, ipv6: { loadBalancerCIDR: ipv6.loadBalancerCIDR } };
    return { ...common, nodeCIDR, ipv6: wide };
  }

  async start(): Promise<void> {
    this.agent = this.startAgent();
    await this.agent;
  }

  instanceAddress(index: number, family: Family): string {
    return planFor(this.plan, family).nodeAddress(index);
  }

  loadBalancerAddress(index: number, family: Family): string {
    return planFor(this.plan, family).loadBalancerAddress(index);
  }

  applyInstance(instance: Instance): Promise<{ netns?: string; socket?: string }> {
    this.instances.set(instance.id, instance);
    return this.call('applyInstance', instance);
  }

  async removeInstance(id: string): Promise<void> {
    this.instances.delete(id);
    await this.call('removeInstance', id);
  }

  async applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    this.loadBalancers.set(plan.id, plan);
    const ports = await this.call('applyLoadBalancer', plan);
    return this.bridge === undefined ? ports : this.bridge.applyLoadBalancer(plan);
  }

  async removeLoadBalancer(id: string): Promise<void> {
    this.loadBalancers.delete(id);
    await this.bridge?.removeLoadBalancer(id);
    await this.call('removeLoadBalancer', id);
  }

  async applyRoutes(routes: Route[]): Promise<Route['enforced']> {
    this.routes = routes;
    await this.call('applyRoutes', routes);
    return 'kernel';
  }

  async breakRoute(destinationCIDR: string): Promise<void> {
    await this.call('breakRoute', destinationCIDR);
  }

  async health(): Promise<Map<string, TargetPool['health']>> {
    return new Map(await this.call('health', undefined));
  }

  async stop(): Promise<void> {
    this.stopping.abort(new OperatorError('Canceled', 'the data plane was stopped'));
    await this.bridge?.close();
    const agent = await this.agent.catch(() => undefined);
    await agent?.stop();
    if (this.tier === 'vpc-root') await removeLeftovers(this.parts.claim.id);
    this.sockets.remove();
    this.parts.release();
  }

  /** The loopback address that stands for one in the VPC. There is only one IPv6 loopback address: the upper half of the IPv4 range stands for those. */
  private hostAddress(ip: string): string {
    const family = familyOf(ip);
    const { loadBalancerCIDR } = loopbackPlan(this.parts.claim.number);
    const offset = offsetInCIDR(planFor(this.plan, family).loadBalancerCIDR, ip);
    return addressInCIDR(loadBalancerCIDR, family === 'IPv4' ? offset : IPV6_OFFSET + (offset % IPV6_OFFSET));
  }

  private async call<M extends AgentMethod>(method: M, params: AgentCalls[M]['params']): Promise<AgentCalls[M]['result']> {
    return (await this.agent).call(method, params);
  }

  private async startAgent(): Promise<AgentProcess> {
    this.sockets.create();
    const { id, number, directory } = this.parts.claim;
    if (this.tier === 'vpc-root') {
      await removeLeftovers(id);
      await run(['ip', 'netns', 'add', vpcNamespace(id)]);
      await runIp(hostLinkLines(id, this.plan));
    }
    const config: AgentConfig = {
      ...{ id, number, directory, tier: this.tier, logLevel: this.parts.logger.level },
      ...(this.parts.namespace !== undefined && { namespace: this.parts.namespace }),
    };
    const agent = await AgentProcess.start(config, systemClock, this.parts.logger);
    void agent.ended.then(() => this.agentEnded());
    return agent;
  }

  private agentEnded(): void {
    if (this.stopping.signal.aborted) return;
    this.parts.logger.error('the data plane’s agent ended; it is started again, and connections through load balancers are lost');
    this.agent = this.restartAgent();
    // Who calls meanwhile waits for it; when nobody does, a failure is logged below and no more.
    this.agent.catch(() => undefined);
  }

  /** Tries until there is one. @throws OperatorError Canceled when the data plane is stopped */
  private async restartAgent(): Promise<AgentProcess> {
    for (;;) {
      await sleep(systemClock, RESTART_MS, this.stopping.signal);
      try {
        const agent = await this.startAgent();
        await this.restore(agent);
        return agent;
      } catch (error) {
        this.parts.logger.error({ error: toOperatorError(error).message }, 'the data plane’s agent can’t be started');
      }
    }
  }

  /** Tells a new agent everything that was wanted of the old one. What the old one could not do, the new one may not either. */
  private async restore(agent: AgentProcess): Promise<void> {
    const report = (error: unknown): void => this.parts.logger.warn({ error: toOperatorError(error).message }, 'could not be restored');
    await Promise.all([...this.instances.values()].map((instance) => agent.call('applyInstance', instance).catch(report)));
    await Promise.all([...this.loadBalancers.values()].map((plan) => agent.call('applyLoadBalancer', plan).catch(report)));
    await agent.call('applyRoutes', this.routes).catch(report);
  }
}
