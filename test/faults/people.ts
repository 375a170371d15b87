import { CLOUD_LOAD_BALANCERS } from '../../crds';
import { sleep, systemClock } from '../../operator/base/clock';
import { LABEL_EXCLUDE_FROM_LOAD_BALANCERS } from '../../operator/kube/well-known';
import { NODES, SERVICES } from '../../operator/kube/object';
import { nodePortsOf } from './carried';
import { OWNER_LABEL } from './providers';
import type { FaultSystem } from './system';
import {
  isOfBalancer,
  isOfNode,
  type BalancerChange,
  type Change,
  type NodeChange,
  type ProviderName,
  type ServiceChange,
  type WantedBalancer,
  type WantedService,
} from './world';

const RETRY_MS = 200;
/** Longer than any fault lasts. */
const CLOUD_BACK_MS = 60_000;
/** A Node that has not become a target by then goes all the same. */
const PASSING_MS = 5_000;
const POLL_MS = 20;

/** Does to the cluster what a plan says, as people, kubelets and machines do it: not through the operator's ways. */
export class People {
  constructor(private readonly system: FaultSystem) {}

  async make(change: Change): Promise<void> {
    const key = `default/${change.name}`;
    if (isOfNode(change)) return this.makeOfNode(change);
    return isOfBalancer(change) ? this.makeOfBalancer(key, change) : this.makeOfService(key, change);
  }

  private async makeOfService(key: string, change: ServiceChange): Promise<void> {
    const { kube } = this.system;
    switch (change.kind) {
      case 'createService':
        return void (await kube.create(SERVICES, 'default', serviceObject(change.name, change.service)));
      case 'deleteService':
        return kube.remove(SERVICES, key);
      case 'changePorts':
        return void (await kube.patch(SERVICES, key, 'merge', { spec: { ports: portsOf(change.ports) } }));
      case 'changeRanges':
        return void (await kube.patch(SERVICES, key, 'merge', { spec: { loadBalancerSourceRanges: change.sourceRanges } }));
      case 'changeType':
        return this.changeType(key, change);
    }
  }

  private async makeOfBalancer(key: string, change: BalancerChange): Promise<void> {
    const { kube } = this.system;
    switch (change.kind) {
      case 'createBalancer':
        return void (await kube.create(CLOUD_LOAD_BALANCERS, 'default', balancerObject(change.name, change.balancer)));
      case 'deleteBalancer':
        return kube.remove(CLOUD_LOAD_BALANCERS, key);
      case 'changeBalancer':
        return void (await kube.patch(CLOUD_LOAD_BALANCERS, key, 'merge', { spec: balancerFields(change.fields) }));
    }
  }

  private async makeOfNode(change: NodeChange): Promise<void> {
    switch (change.kind) {
      case 'addNode':
        return this.addNode(change.name, change.provider);
      case 'passNode':
        return this.passNode(change.name, change.provider);
      case 'removeNode':
        return this.removeNode(change.name);
      case 'loseNode':
        await this.machine(change.name, (id) => this.system.cloud.drift({ kind: 'power', id, power: 'terminated' }));
        return this.setReady(change.name, 'Unknown');
      case 'excludeNode':
        return this.exclude(change.name, change.excluded);
    }
  }

  /** Source ranges are refused on other types; they are back with the type. */
  private async changeType(key: string, { type, sourceRanges }: Extract<ServiceChange, { kind: 'changeType' }>): Promise<void> {
    const spec = { type, loadBalancerSourceRanges: type === 'LoadBalancer' ? sourceRanges : null };
    await this.system.kube.patch(SERVICES, key, 'merge', { spec });
  }

  private async addNode(name: string, provider: ProviderName = 'local'): Promise<void> {
    const { kube, resources } = this.system;
    await this.insist(() => resources.create('instances', { name }, `people-${name}`, {}));
    const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }];
    await kube.create(NODES, undefined, { metadata: { name, labels: { [OWNER_LABEL]: provider } }, spec: { taints } });
    await this.setReady(name, 'True');
  }

  /** The cloud may be broken just now, or have ended only now of a disk that was full, and whoever wants something of it comes again. */
  private async insist<T>(act: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + CLOUD_BACK_MS;
    for (;;) {
      try {
        return await act();
      } catch (thrown) {
        if (performance.now() > deadline) throw thrown;
        await this.system.startCloud();
        await sleep(systemClock, RETRY_MS);
      }
    }
  }

  private async removeNode(name: string): Promise<void> {
    await this.system.kube.remove(NODES, name);
    await this.machine(name, (id) => this.system.cloud.drift({ kind: 'delete', collection: 'instances', id }));
  }

  private async passNode(name: string, provider: ProviderName): Promise<void> {
    await this.addNode(name, provider);
    const deadline = performance.now() + PASSING_MS;
    while (!(await this.isTarget(name)) && performance.now() < deadline) await sleep(systemClock, POLL_MS);
    await this.removeNode(name);
  }

  private isTarget(name: string): Promise<boolean> {
    const { resources } = this.system;
    return this.insist(async () => {
      const [[machine], pools] = await Promise.all([resources.list('instances', { name }), resources.list('pools')]);
      return pools.some(({ targets }) => targets.some(({ instanceID }) => instanceID === machine?.id));
    });
  }

  private async setReady(name: string, status: 'True' | 'Unknown'): Promise<void> {
    const condition = { type: 'Ready', status, reason: 'Test', message: '', lastTransitionTime: new Date().toISOString() };
    await this.system.kube.patch(NODES, name, 'strategic', { status: { conditions: [condition] } }, { subresource: 'status' });
  }

  private async exclude(name: string, excluded: boolean): Promise<void> {
    const labels = { [LABEL_EXCLUDE_FROM_LOAD_BALANCERS]: excluded ? 'true' : null };
    await this.system.kube.patch(NODES, name, 'merge', { metadata: { labels } });
  }

  private machine(name: string, act: (id: string) => Promise<unknown>): Promise<void> {
    return this.insist(async () => {
      const [machine] = await this.system.resources.list('instances', { name });
      if (machine !== undefined) await act(machine.id);
    });
  }
}

function serviceObject(name: string, { type, ports, sourceRanges }: WantedService): object {
  const ranges = type === 'LoadBalancer' ? { loadBalancerSourceRanges: sourceRanges } : {};
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type, selector: { app: name }, ports: portsOf(ports), ...ranges },
  };
}

function portsOf(ports: readonly number[]): object[] {
  return ports.map((port) => ({ name: `p${port}`, port }));
}

function balancerObject(name: string, balancer: WantedBalancer): object {
  const spec = { ...balancerFields(balancer), local: {}, updatePolicy: { replace: 'Allow' } };
  return { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer', metadata: { name, namespace: 'default' }, spec };
}

function balancerFields({ ports, placement, ...fields }: Partial<WantedBalancer>): object {
  const listeners = Object.entries(nodePortsOf(ports ?? [])).map(([port, nodePort]) => ({
    name: `p${port}`,
    port: Number(port),
    nodePort,
  }));
  return {
    ...fields,
    ...(ports !== undefined && { listeners }),
    ...(placement !== undefined && { placement: placement === null ? null : { name: placement } }),
  };
}
