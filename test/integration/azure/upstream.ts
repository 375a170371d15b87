import type { Json, JsonObject } from '../../../operator/base/json';
import type { Service } from '../../../operator/kube/object';
import { ruleNameOf } from '../../../providers/azure/security-groups/security-rule';
import { type Part, partFrom, partsIn, type Resource } from '../../harness/arm/resource';
import { LOCATION, networkID } from '../../harness/arm/scene';
import type { ArmServer } from '../../harness/arm/arm-server';

const NETWORK = networkID('virtualNetworks', 'net');

interface Made {
  balancer: 'kubernetes' | 'kubernetes-internal';
  /** Of the public address, or in the subnet. */
  ip: string;
  /** Of Nodes by name. */
  nodes: Record<string, string>;
  zones?: string[];
  /** The frontend is another Service's, whose address it shares. */
  frontendOf?: Service;
  /** The public address that it names, in place of one of its own. */
  publicIPName?: string;
  /** Who is let in, as upstream writes it; absent = the internet. */
  sources?: string[];
}

/** Puts into Azure what cloud-provider-azure makes of Services, by its names, tags and forms (nodeIP pools, its own probes). */
export class UpstreamAzure {
  constructor(
    private readonly arm: ArmServer,
    private readonly securityGroup: string,
  ) {}

  serve(service: Service, { balancer, ip, nodes, zones, frontendOf, publicIPName, sources }: Made): void {
    const base = baseOf(service);
    const isPublic = balancer === 'kubernetes';
    const frontend = baseOf(frontendOf ?? service);
    const id = networkID('loadBalancers', balancer);
    if (this.arm.cloud.find(id) === undefined) this.seedBalancer(id, nodes);
    const publicIP = networkID('publicIPAddresses', publicIPName ?? `kubernetes-${frontend}`);
    if (isPublic && this.arm.cloud.find(publicIP) === undefined) {
      this.arm.cloud.seed(publicIP, {
        location: LOCATION,
        sku: { name: 'Standard', tier: 'Regional' },
        ...(zones !== undefined && { zones }),
        tags: { 'k8s-azure-service': `default/${service.metadata.name}`, 'k8s-azure-cluster-name': 'kubernetes' },
        properties: { publicIPAllocationMethod: 'Static', publicIPAddressVersion: 'IPv4', ipAddress: ip, idleTimeoutInMinutes: 4 },
      });
    }
    const subnet = { id: `${NETWORK}/subnets/nodes` };
    const at = isPublic
      ? { publicIPAddress: { id: publicIP }, privateIPAllocationMethod: 'Dynamic' }
      : { subnet, privateIPAddress: ip, privateIPAllocationMethod: 'Dynamic', privateIPAddressVersion: 'IPv4' };
    this.arm.cloud.tamper(id, (resource) => {
      if (frontendOf === undefined) add(resource, 'frontendIPConfigurations', { name: frontend, properties: at });
      for (const { port, nodePort = 0 } of service.spec.ports ?? []) {
        const name = `${base}-TCP-${port}`;
        add(resource, 'probes', {
          name,
          properties: { protocol: 'Tcp', port: nodePort, intervalInSeconds: 5, numberOfProbes: 2, probeThreshold: 2 },
        });
        add(resource, 'loadBalancingRules', { name, properties: ruleOf(id, { frontend, name, port }) });
      }
    });
    if (isPublic) this.letIn(service, ip, sources);
  }

  /** Names, settings and addresses of a load balancer's parts, without what Azure adds. */
  standing(balancer: string): unknown {
    const resource = this.arm.cloud.find(networkID('loadBalancers', balancer));
    const lists = ['frontendIPConfigurations', 'backendAddressPools', 'loadBalancingRules', 'probes', 'outboundRules'];
    return structuredClone(lists.map((list) => partsIn(resource, list).map(({ name, properties }) => [name, properties])));
  }

  private seedBalancer(id: string, nodes: Record<string, string>): void {
    const loadBalancerBackendAddresses = Object.entries(nodes).map(([name, ipAddress]) => ({ name, properties: { ipAddress } }));
    this.arm.cloud.seed(id, {
      location: LOCATION,
      sku: { name: 'Standard', tier: 'Regional' },
      properties: {
        backendAddressPools: [{ name: 'kubernetes', properties: { virtualNetwork: { id: NETWORK }, loadBalancerBackendAddresses } }],
      } as unknown as JsonObject,
    });
  }

  private letIn(service: Service, ip: string, sources = ['Internet']): void {
    this.arm.cloud.tamper(this.securityGroup, (resource) => {
      const ports = (service.spec.ports ?? []).map(({ port }) => port);
      const name = ruleNameOf({ access: 'Allow', family: 'IPv4', protocol: 'Tcp', sources, ports });
      const there = partsIn(resource, 'securityRules').find((one) => one.name === name);
      if (there !== undefined) {
        const { destinationAddressPrefixes: had = [] } = there.properties as { destinationAddressPrefixes?: string[] };
        there.properties.destinationAddressPrefixes = [...had, ip].sort();
        return;
      }
      const [only = '', ...more] = sources;
      const properties = {
        priority: 500 + partsIn(resource, 'securityRules').length,
        direction: 'Inbound',
        access: 'Allow',
        protocol: 'Tcp',
        sourcePortRange: '*',
        ...(more.length === 0 && { sourceAddressPrefix: only }),
        ...(more.length > 0 && { sourceAddressPrefixes: sources }),
        destinationAddressPrefixes: [ip],
        destinationPortRanges: ports.map(String),
      };
      add(resource, 'securityRules', { name, properties });
    });
  }
}

/** Upstream's name for what belongs to a Service. */
export function baseOf({ metadata: { uid } }: Service): string {
  return `a${uid.replaceAll('-', '')}`.slice(0, 32);
}

function ruleOf(id: string, { frontend, name, port }: { frontend: string; name: string; port: number }): JsonObject {
  const pool = { id: `${id}/backendAddressPools/kubernetes` };
  return {
    protocol: 'Tcp',
    frontendPort: port,
    backendPort: port,
    frontendIPConfiguration: { id: `${id}/frontendIPConfigurations/${frontend}` },
    backendAddressPool: pool,
    backendAddressPools: [pool],
    probe: { id: `${id}/probes/${name}` },
    enableFloatingIP: true,
    enableTcpReset: true,
    idleTimeoutInMinutes: 4,
    loadDistribution: 'Default',
    disableOutboundSnat: false,
  };
}

function add(resource: Resource, list: string, part: Pick<Part, 'name' | 'properties'>): void {
  const all = [...partsIn(resource, list), partFrom(`${resource.id}/${list}`, part)];
  resource.properties[list] = all as unknown as Json;
}
