import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { KubeApi } from '../../operator/kube/api';
import { SERVICES, type Service, type ServiceIngress } from '../../operator/kube/object';
import type { LoadBalancer } from '../../providers/local/api';
import type { Fleet } from '../nodes/fleet';
import type { DemoCloud } from './cloud';
import type { Report } from './report';
import type { Endpoint } from './traffic';

export interface WorldParts {
  report: Report;
  kube: KubeApi;
  kubeconfig: string;
  kubectl: string;
  cloud: DemoCloud;
  fleet: Fleet;
  /** Ends what waits. */
  signal: AbortSignal;
}

const POLL_MS = 25;

/** Everything that the demo's steps act on. */
export class World {
  constructor(readonly parts: WorldParts) {}

  get report(): Report {
    return this.parts.report;
  }

  get cloud(): DemoCloud {
    return this.parts.cloud;
  }

  get kube(): KubeApi {
    return this.parts.kube;
  }

  get fleet(): Fleet {
    return this.parts.fleet;
  }

  /** Runs kubectl as a person would. @returns what it printed */
  async kubectl(...args: string[]): Promise<string> {
    const { kubectl, kubeconfig, signal } = this.parts;
    const { stdout } = await promisify(execFile)(kubectl, ['--kubeconfig', kubeconfig, ...args], { signal });
    return stdout.trimEnd();
  }

  /** Waits until `probe` gives something. @returns that, and how long it took in seconds. @throws when it gives nothing within the time */
  async until<T>(what: string, probe: () => Promise<T | undefined | false>, timeoutMs = 30_000): Promise<{ value: T; seconds: number }> {
    const startedAt = performance.now();
    let last: unknown;
    for (;;) {
      this.parts.signal.throwIfAborted();
      const value = await probe().catch((error: unknown) => ((last = error), undefined));
      const elapsed = performance.now() - startedAt;
      if (value !== undefined && value !== false) return { value, seconds: elapsed / 1000 };
      if (elapsed > timeoutMs)
        throw new Error(`${what}: not within ${timeoutMs / 1000} s${last instanceof Error ? ` (last: ${last.message})` : ''}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async ingressOf(name: string): Promise<ServiceIngress | undefined> {
    const service = await this.kube.get<Service>(SERVICES, `default/${name}`);
    return service?.status?.loadBalancer?.ingress?.[0];
  }

  /** Where a client on this machine reaches a Service of one port whose load balancer others use too. */
  async sharedEndpoint(name: string): Promise<Endpoint> {
    const { loadBalancer, listener } = await this.cloud.listenerOf(`default/${name}`);
    return endpointOf(loadBalancer, listener);
  }

  /** Where a client on this machine reaches a listener. */
  async endpoint(name: string, listener: string): Promise<Endpoint> {
    return endpointOf(await this.cloud.loadBalancerOf(`default/${name}`), listener);
  }
}

export function endpointOf(loadBalancer: LoadBalancer, listener: string): Endpoint {
  const found = loadBalancer.hostPorts.find((port) => port.listener === listener);
  if (found === undefined) throw new Error(`load balancer ${loadBalancer.name} has no listener "${listener}"`);
  return { ip: found.ip, port: found.port };
}
