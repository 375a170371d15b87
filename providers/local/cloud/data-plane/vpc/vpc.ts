import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../../../operator/base/clock';
import { OperatorError } from '../../../../../operator/base/errors';
import type { Logger } from '../../../../../operator/base/log';
import type { Family, Instance, Route, TargetPool } from '../../../api';
import type { LoadBalancerPlan } from '../../data-plane';
import { planFor, vpcPlan, type AddressPlan } from '../address-plan';
import { Engine } from '../engine/engine';
import { contains, familyOf, widthOf } from '../ip-range';
import { KeyedLock } from '../keyed-lock';
import { instanceEnvironment } from '../loopback';
import { SocketFolder } from '../socket-folder';
import { SupervisedProcess, type ProcessPlan } from '../supervised-process';
import { inNamespace, removeLink, run, runIp } from './commands';
import { fileNamespaces, namedNamespaces, type Namespaces } from './namespaces';
import * as network from './network';
import { Passthrough } from './passthrough';
import type { AgentConfig } from './protocol';

/** An instance that runs a process, and so has a namespace. */
interface RunningInstance {
  name: string;
  netns: string;
  /** What its namespace was made for; other values need a new one. */
  shape: string;
  process: SupervisedProcess;
}

/**
 * The network of one cloud, from inside its namespace: router, instances, load balancers, route table.
 * An instance without a process is an address and no more: thousands of them cost nothing.
 */
export class Vpc {
  readonly engine: Engine;
  private readonly passthrough: Passthrough;
  private readonly plan: AddressPlan;
  private readonly namespaces: Namespaces;
  private readonly sockets: SocketFolder;
  private readonly running = new Map<string, RunningInstance>();
  private readonly addresses = new Map<string, readonly string[]>();
  private readonly loadBalancerIPs = new Map<string, string[]>();
  private routes: Route[] = [];
  private readonly lock = new KeyedLock();

  constructor(
    private readonly config: AgentConfig,
    private readonly logger: Logger,
  ) {
    this.plan = vpcPlan(config.number);
    this.namespaces = config.tier === 'vpc-root' ? namedNamespaces : fileNamespaces(join(config.directory, 'netns'));
    this.sockets = new SocketFolder(config.directory);
    this.engine = new Engine({ clock: systemClock, logger, offsetPorts: false });
    this.passthrough = new Passthrough(logger);
  }

  /** Brings the router up. */
  async start(): Promise<void> {
    setKernel('ipv4/ip_forward', 1);
    setKernel('ipv6/conf/all/forwarding', 1);
    if (this.config.tier === 'netns') return this.clear();
    // Else the router tells nodes of a shorter way, and they no longer take its route table.
    setKernel('ipv4/conf/all/send_redirects', 0);
    setKernel('ipv4/conf/default/send_redirects', 0);
    await runIp(network.routerLines(this.plan, this.config.tier === 'vpc-root'));
  }

  applyInstance(instance: Instance): Promise<{ netns?: string; socket?: string }> {
    return this.lock.run(`instance/${instance.id}`, async () => {
      await this.setAddresses(instance.id, ipsOf(instance));
      if (instance.power !== 'running' || instance.process === undefined) {
        await this.takeDown(instance.id);
        return {};
      }
      const shape = JSON.stringify([instance.addresses, instance.podCIDRs]);
      if (this.running.get(instance.id)?.shape !== shape) await this.takeDown(instance.id);
      const running = this.running.get(instance.id) ?? (await this.bringUp(instance, shape));
      await this.keepProcess(running, instance);
      return {
        ...(this.config.tier === 'vpc-root' && { netns: running.name }),
        socket: this.sockets.socket(`${instance.id}.sock`),
      };
    });
  }

  async removeInstance(id: string): Promise<void> {
    await this.lock.run(`instance/${id}`, async () => {
      await this.takeDown(id);
      await this.setAddresses(id, []);
    });
  }

  applyLoadBalancer(plan: LoadBalancerPlan): ReturnType<Engine['applyLoadBalancer']> {
    // Its address is nobody's own: what is for it must go on.
    if (plan.mode === 'passthrough') return this.lock.run(`loadbalancer/${plan.id}`, () => this.passthrough.applyLoadBalancer(plan));
    return this.lock.run(`loadbalancer/${plan.id}`, async () => {
      const before = this.loadBalancerIPs.get(plan.id) ?? [];
      const fresh = plan.ips.filter((ip) => !before.includes(ip));
      // Both, until the listeners have moved.
      this.loadBalancerIPs.set(plan.id, [...before, ...fresh]);
      await runIp(fresh.map((ip) => `address replace ${ownAddress(ip)}`));
      const ports = await this.engine.applyLoadBalancer(plan);
      this.loadBalancerIPs.set(plan.id, plan.ips);
      await this.dropAddresses(before.filter((ip) => !plan.ips.includes(ip)));
      return ports;
    });
  }

  async removeLoadBalancer(id: string): Promise<void> {
    await this.lock.run(`loadbalancer/${id}`, async () => {
      await this.passthrough.removeLoadBalancer(id);
      await this.engine.removeLoadBalancer(id);
      const ips = this.loadBalancerIPs.get(id) ?? [];
      this.loadBalancerIPs.delete(id);
      await this.dropAddresses(ips);
    });
  }

  /** Makes the kernel's route table equal to `routes`; routes of others are left alone. */
  async applyRoutes(routes: Route[]): Promise<void> {
    this.routes = routes;
    await this.lock.run('routes', async () => {
      const current = [...(await kernelRoutes('IPv4')), ...(await kernelRoutes('IPv6'))];
      await runIp(network.routeLines(current, this.wantedRoutes(this.routes)));
    });
  }

  async breakRoute(destinationCIDR: string): Promise<void> {
    await this.lock
      .run('routes', () => runIp([network.deleteRouteLine(destinationCIDR)]))
      .catch((error: Error) => {
        // The kernel's words for a route that is not there.
        if (!/No such process/.test(error.message)) throw error;
      });
  }

  health(): [string, TargetPool['health']][] {
    return [...this.engine.health(), ...this.passthrough.health()];
  }

  /** Ends every process and removes the namespaces, this one's name too: it is gone when this process is. */
  async stop(): Promise<void> {
    await Promise.all([this.engine.close(), this.passthrough.close()]);
    await Promise.all([...this.running.keys()].map((id) => this.lock.run(`instance/${id}`, () => this.takeDown(id))));
    if (this.config.tier === 'netns') await this.clear();
    if (this.config.tier === 'vpc-root') await namedNamespaces.remove(network.vpcNamespace(this.config.id));
  }

  /** Takes what is ours out of a namespace of others: what a cloud that was killed left there, or this one at its end. */
  private async clear(): Promise<void> {
    await this.passthrough.clear();
    for (const family of ['IPv4', 'IPv6'] as const) {
      const current = await kernelRoutes(family);
      await runIp(network.routeLines(current, []));
      const range = planFor(this.plan, family).loadBalancerCIDR;
      const shown = await run(['ip', family === 'IPv4' ? '-4' : '-6', '-json', 'address', 'show', 'dev', 'lo']);
      const [link] = JSON.parse(shown) as { addr_info?: { local: string }[] }[];
      const ours = (link?.addr_info ?? []).map(({ local }) => local).filter((ip) => contains(range, ip));
      await runIp(ours.map((ip) => `address del ${ip}/${widthOf(family)} dev lo`));
    }
  }

  private async bringUp(instance: Instance, shape: string): Promise<RunningInstance> {
    const addresses = ipsOf(instance);
    const [first] = addresses;
    if (first === undefined) throw new OperatorError('Invalid', `instance ${instance.id} has no address`);
    const name = `${network.namespacePrefix(this.config.id)}${instance.id}`;
    const netns = await this.namespaces.create(name);
    try {
      await runIp(network.attachLines(instance.id, first, netns));
      await runIp(network.instanceLines(addresses, instance.podCIDRs, this.plan), netns);
      await run(inNamespace(netns, ['sh', '-c', FORWARD]));
    } catch (error) {
      await this.namespaces.remove(name);
      throw error;
    }
    const running = { name, netns, shape, process: this.newProcess(netns, instance) };
    this.running.set(instance.id, running);
    running.process.start();
    return running;
  }

  private async keepProcess(running: RunningInstance, instance: Instance): Promise<void> {
    const next = this.newProcess(running.netns, instance);
    if (JSON.stringify(next.plan) === JSON.stringify(running.process.plan)) return;
    await running.process.stop();
    running.process = next;
    next.start();
  }

  private newProcess(netns: string, instance: Instance): SupervisedProcess {
    const socket = this.sockets.socket(`${instance.id}.sock`);
    const plan: ProcessPlan = {
      sockets: [socket],
      command: inNamespace(netns, instance.process?.command ?? []),
      env: { ...instance.process?.env, ...instanceEnvironment(instance, socket) },
    };
    return new SupervisedProcess(plan, systemClock, this.logger.child({ instance: instance.id }));
  }

  private async takeDown(id: string): Promise<void> {
    const running = this.running.get(id);
    if (running === undefined) return;
    await running.process.stop();
    this.running.delete(id);
    await this.namespaces.remove(running.name);
    // The kernel removes the link with the namespace, but later; a new instance of this id must not find it.
    await removeLink(network.instanceLink(id));
  }

  /** Where an instance is decides where its routes lead; routes of others are not looked at, so that a broken one stays broken. */
  private async setAddresses(id: string, addresses: readonly string[]): Promise<void> {
    if (JSON.stringify(this.addresses.get(id) ?? []) === JSON.stringify(addresses)) return;
    this.addresses.set(id, addresses);
    if (addresses.length === 0) this.addresses.delete(id);
    await this.lock.run('routes', async () => {
      const own = this.routes.filter((route) => route.instanceID === id);
      await runIp(this.wantedRoutes(own).map(network.replaceRouteLine));
    });
  }

  private wantedRoutes(routes: Route[]): network.WantedRoute[] {
    return network.wantedRoutes(routes, (id, family) => this.addresses.get(id)?.find((ip) => familyOf(ip) === family));
  }

  private async dropAddresses(ips: string[]): Promise<void> {
    const used = new Set([...this.loadBalancerIPs.values()].flat());
    await runIp(ips.filter((ip) => !used.has(ip)).map((ip) => `address del ${ownAddress(ip)}`));
  }
}

/** An instance's namespace forwards, as a node does for its pods. */
const FORWARD = 'echo 1 > /proc/sys/net/ipv4/ip_forward && echo 1 > /proc/sys/net/ipv6/conf/all/forwarding';

function ipsOf({ addresses }: Instance): string[] {
  return addresses.map(({ ip }) => ip);
}

/** One of this namespace's own addresses, in the words of `ip address`. */
function ownAddress(ip: string): string {
  const family = familyOf(ip);
  return `${ip}/${widthOf(family)} dev lo${family === 'IPv6' ? ' nodad' : ''}`;
}

async function kernelRoutes(family: Family): Promise<network.KernelRoute[]> {
  const protocol = String(network.ROUTE_PROTOCOL);
  const listing = await run(['ip', family === 'IPv4' ? '-4' : '-6', '-json', 'route', 'show', 'proto', protocol]);
  const routes = JSON.parse(listing.trim() === '' ? '[]' : listing) as network.KernelRoute[];
  return routes.map((route) => ({ ...route, family }));
}

/** A kernel setting of this process's network namespace. */
function setKernel(name: string, value: number): void {
  writeFileSync(`/proc/sys/net/${name}`, String(value));
}
