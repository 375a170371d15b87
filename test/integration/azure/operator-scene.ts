import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destinationsOf, portsOf, type SecurityRuleProperties, sourcesOf } from '../../../providers/azure/security-groups/security-rule';
import type { ArmServer, ArmServerOptions } from '../../harness/arm/arm-server';
import { partsIn } from '../../harness/arm/resource';
import type { Application } from '../../harness/arm/identity';
import { GROUP, LOCATION, networkID, OPERATOR, startScene, SUBSCRIPTION } from '../../harness/arm/scene';
import { OperatorCluster, type OperatorClusterOptions } from '../../harness/operator-cluster';
import { Scene } from '../operator/scene';
import { seedMachine } from './machines';

export const SECRET = 'planted-secret-of-the-application-0123456789';
export const SECURITY_GROUP = networkID('networkSecurityGroups', 'sg');

/** As somebody runs it in place of cloud-provider-azure: upstream's flags and file, with a subscription behind them. */
export class AzureScene {
  readonly scene: Scene;
  private machines = 0;

  private constructor(
    readonly arm: ArmServer,
    readonly cluster: OperatorCluster,
    /** Who the operator is. */
    readonly application: Application,
    private readonly files: { directory: string; settings: object },
  ) {
    this.scene = new Scene(cluster);
  }

  static async start(
    arm: Partial<ArmServerOptions> = {},
    { flags = [], azureJson: more, ...options }: OperatorClusterOptions & { azureJson?: object } = {},
  ): Promise<AzureScene> {
    const directory = mkdtempSync(join(tmpdir(), 'azure-operator-'));
    const application = { ...OPERATOR, secret: SECRET };
    const server = await startScene({ applications: [application], ...arm });
    server.cloud.seed(SECURITY_GROUP, { location: LOCATION, properties: { securityRules: [] } });
    const files = { directory, settings: { ...azureJson(server), ...more } };
    const file = writeSettings(files);
    const cluster = await OperatorCluster.start({ flags: ['--cloud-provider=azure', `--cloud-config=${file}`, ...flags], ...options });
    return new AzureScene(server, cluster, application, files);
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    await this.arm.stop();
    rmSync(this.files.directory, { recursive: true, force: true });
  }

  /** The application gets a new secret, which somebody writes into the file. */
  renewSecret(aadClientSecret: string): void {
    this.application.secret = aadClientSecret;
    writeSettings({ ...this.files, settings: { ...this.files.settings, aadClientSecret } });
  }

  /** A machine in the subscription, and the Node that its kubelet would register. @returns its name and address */
  async addNode(): Promise<{ name: string; address: string }> {
    const node = await this.addMachine(++this.machines);
    await this.scene.initialized(node.name);
    return node;
  }

  /** The same by its number, without waiting for the operator. */
  async addMachine(number: number): Promise<{ name: string; address: string }> {
    const node = { name: `node-${number}`, address: `10.0.${3 + (number >> 8)}.${number & 255}` };
    seedMachine(this.arm, node);
    await this.scene.addNodeObject(node.name);
    return node;
  }

  /** Addresses in a pool of a load balancer. */
  poolOf(balancer = 'kubernetes', pool = 'kubernetes'): string[] {
    const found = partsIn(this.balancer(balancer), 'backendAddressPools').find(({ name }) => name === pool);
    const addresses = (found?.properties.loadBalancerBackendAddresses ?? []) as unknown as { properties: { ipAddress: string } }[];
    return addresses.map(({ properties }) => properties.ipAddress).sort();
  }

  balancer(name = 'kubernetes'): ReturnType<ArmServer['cloud']['find']> {
    return this.arm.cloud.find(networkID('loadBalancers', name));
  }

  /** Public addresses by name. */
  publicAddresses(): string[] {
    const all = this.arm.cloud.all().filter(({ type }) => /publicIPAddresses$/i.test(type));
    return all.map(({ name }) => name).sort();
  }

  /** Destinations in our rules of the security group. */
  letInTo(): string[] {
    return this.securityRules()
      .flatMap(({ destinations }) => destinations)
      .sort();
  }

  /** Ports of an address that our rules let in to. */
  portsOf(address: string): string[] {
    return this.securityRules()
      .flatMap(({ destinations, ports }) => (destinations.includes(address) ? ports : []))
      .sort();
  }

  securityRules(): { access: string; sources: string[]; destinations: string[]; ports: string[] }[] {
    return partsIn(this.arm.cloud.find(SECURITY_GROUP), 'securityRules').map((rule) => {
      const properties = rule.properties as unknown as SecurityRuleProperties;
      const { access } = properties;
      return { access, sources: sourcesOf(properties), destinations: destinationsOf(properties), ports: portsOf(properties) ?? ['*'] };
    });
  }

  /** Writes since the calls were last forgotten, as `PUT loadBalancers`. */
  writes(): string[] {
    return this.arm.calls
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${/providers\/[^/]+\/([^/]+)/.exec(path)?.[1] ?? path}`);
  }

  forgetCalls(): void {
    this.arm.calls.length = 0;
  }
}

/** @returns the path of azure.json */
function writeSettings({ directory, settings }: { directory: string; settings: object }): string {
  const file = join(directory, 'azure.json');
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

/** What upstream's file says of the scene. */
function azureJson(server: ArmServer): object {
  return {
    resourceManagerEndpoint: server.url,
    tenantId: OPERATOR.tenantID,
    subscriptionId: SUBSCRIPTION,
    resourceGroup: GROUP,
    location: LOCATION,
    vnetName: 'net',
    subnetName: 'nodes',
    securityGroupName: 'sg',
    loadBalancerSku: 'standard',
    aadClientId: OPERATOR.clientID,
    aadClientSecret: SECRET,
  };
}
