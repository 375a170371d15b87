import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from '../../../operator/entry';
import type { Family, Instance, LoadBalancer, TargetPool } from '../../../providers/local/api';
import { LocalCloudClient } from '../../../providers/local/client';
import { LocalCloudAdmin } from '../../../providers/local/cloud/admin-client';
import type { Tier } from '../../../providers/local/cloud/data-plane/index';
import { NodeletClient } from '../../../dev/nodes/nodelet-client';
import type { Endpoint } from './client';

/** An ordinary user, for the tier that must work without root. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const ordinary = isRoot ? ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', '--'] : [];

/** The tiers that this machine can run now; the others are named by the tests that skip them. */
export function tierWorks(tier: Tier): boolean {
  if (tier === 'loopback') return true;
  if (tier === 'vpc-root' || tier === 'netns') return isRoot && spawnSync('ip', ['-Version']).status === 0;
  const command = [
    ...ordinary,
    'unshare',
    '--user',
    '--map-root-user',
    '--net',
    '--mount',
    '--pid',
    '--fork',
    'ip',
    'link',
    'add',
    'x',
    'type',
    'bridge',
  ];
  return spawnSync(command[0] ?? '', command.slice(1)).status === 0;
}

interface Ready {
  endpoint: string;
  tier: string;
  reason: string;
}

/** A local cloud in a process of its own, as its users run it; `vpc-userns` runs as an ordinary user even where the tests are root. */
export class CloudProcess {
  readonly client: LocalCloudClient;
  readonly admin: LocalCloudAdmin;
  /** Of the cloud's API. */
  readonly url: string;
  readonly token: string;
  readonly tier: string;
  readonly reason: string;
  private readonly nodelets = new Map<string, NodeletClient>();

  private constructor(
    readonly directory: string,
    readonly child: ChildProcess,
    { endpoint, tier, reason }: Ready,
  ) {
    this.tier = tier;
    this.reason = reason;
    const token = readFileSync(join(directory, 'token'), 'utf8').trim();
    this.url = endpoint;
    this.token = token;
    this.client = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: 'test' });
    this.admin = new LocalCloudAdmin(endpoint, token);
  }

  static newFolder(tier: Tier): string {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'lc-')));
    if (isRoot && tier === 'vpc-userns') chownSync(directory, NOBODY, NOBODY);
    return directory;
  }

  static async start(tier: Tier, directory: string, more: { namespace?: string } = {}): Promise<CloudProcess> {
    const file = join(directory, 'config.json');
    const config = {
      directory: join(directory, 'data'),
      listen: { port: 0 },
      tokenFile: join(directory, 'token'),
      tier,
      logLevel: 'warn',
      exitWithParent: true,
      ...more,
    };
    writeFileSync(file, JSON.stringify(config));
    const command = [
      ...(tier === 'vpc-userns' ? ordinary : []),
      realpathSync(process.execPath),
      compiled('providers/local/cloud/main'),
      '--config',
      file,
    ];
    const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } });
    let log = '';
    child.stderr.on('data', (data: Buffer) => (log += data.toString()));
    const ready = await new Promise<Ready>((resolve, reject) => {
      child.stdout.on('data', (data: Buffer) => resolve(JSON.parse(data.toString().split('\n')[0] ?? '') as never));
      child.on('exit', (code) => reject(new Error(`the cloud ended with ${code}: ${log}`)));
    });
    return new CloudProcess(directory, child, ready);
  }

  /** An instance with a nodelet on it that serves NodePort 30080 (TCP) and 30053 (UDP); with IPv6 too where the tier's machines have it. */
  async addNode(number: number, ipFamilies: Family[] = ['IPv4']): Promise<Instance> {
    const name = `node-${number}`;
    const process_ = { command: [realpathSync(process.execPath), compiled('dev/nodes/nodelet')], env: { NODE_NAME: name } };
    const podCIDRs = [`10.244.${number}.0/24`, ...(ipFamilies.includes('IPv6') ? [`fd00:10:244:${number}::/64`] : [])];
    const made = await this.client.create('instances', { name, ipFamilies, podCIDRs, process: process_ }, name, {});
    const instance = await this.whenReady(
      () => this.client.get('instances', made.id),
      ({ socket }) => socket !== undefined,
    );
    await this.nodelet(instance).serve({
      ports: [
        { port: 30080, protocol: 'TCP' },
        { port: 30053, protocol: 'UDP' },
      ],
      healthChecks: [],
    });
    return instance;
  }

  nodelet({ id, socket }: Instance): NodeletClient {
    let nodelet = this.nodelets.get(id);
    if (nodelet === undefined) {
      nodelet = new NodeletClient(socket ?? '', () => undefined);
      this.nodelets.set(id, nodelet);
    }
    return nodelet;
  }

  async addPool(protocol: 'TCP' | 'UDP', port: number, instances: Instance[], name = `pool-${protocol}`): Promise<TargetPool> {
    const healthCheck = { protocol: 'TCP', port: 30080, intervalMs: 500, timeoutMs: 500, healthyThreshold: 1, unhealthyThreshold: 2 };
    const spec = {
      name,
      protocol,
      healthCheck,
      drainMs: 5000,
      targets: instances.map(({ id }) => ({ instanceID: id, port })),
    };
    return this.client.create('pools', spec, spec.name, {});
  }

  /** TCP 80 and UDP 53. */
  async addLoadBalancer(tcp: TargetPool, udp: TargetPool): Promise<LoadBalancer> {
    const address = await this.client.create('addresses', { name: 'address' }, 'address', {});
    const listeners = [
      { name: 'http', protocol: 'TCP', port: 80, poolID: tcp.id },
      { name: 'dns', protocol: 'UDP', port: 53, poolID: udp.id },
    ];
    const made = await this.client.create('loadbalancers', { name: 'web', addressIDs: [address.id], listeners }, 'web', {});
    return this.whenReady(
      () => this.client.get('loadbalancers', made.id),
      ({ state, hostPorts }) => state === 'active' && hostPorts.length === 2,
    );
  }

  endpoint(loadBalancer: LoadBalancer, listener: string): Endpoint {
    const found = loadBalancer.hostPorts.find((port) => port.listener === listener);
    if (found === undefined) throw new Error(`no listener ${listener} in ${JSON.stringify(loadBalancer)}`);
    return found;
  }

  async whenReady<T>(get: () => Promise<T | undefined>, ready: (found: T) => boolean): Promise<T> {
    const end = Date.now() + 15_000;
    for (;;) {
      const found = await get();
      if (found !== undefined && ready(found)) return found;
      if (Date.now() > end) throw new Error(`not ready: ${JSON.stringify(found)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Ends the cloud with a signal, and this side of it. @returns its exit code */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    for (const nodelet of this.nodelets.values()) nodelet.close();
    this.nodelets.clear();
    await Promise.all([this.client.close(), this.admin.close()]);
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const ended = new Promise<number | null>((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    return ended;
  }

  async remove(): Promise<void> {
    await this.end('SIGTERM');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Processes whose command line or environment names the folder: whatever a cloud started. */
export function processesOf(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => ['cmdline', 'environ'].some((file) => readProc(`/proc/${pid}/${file}`).includes(directory)) && !isZombie(pid));
}

function isZombie(pid: number): boolean {
  return !existsSync(`/proc/${pid}/exe`) || safely(() => readlinkSync(`/proc/${pid}/exe`)) === undefined;
}

/** Empty where the process has ended meanwhile. */
export function readProc(path: string): string {
  return safely(() => readFileSync(path, 'utf8')) ?? '';
}

/** Processes come and go while we look. */
function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Network namespaces, links and routes of this machine that are the cloud's: other clouds may run beside it. */
export function kernelPartsOf(directory: string): string[] {
  const id = createHash('sha256')
    .update(join(directory, 'data', 'data-plane'))
    .digest('hex')
    .slice(0, 6);
  const lines = (...args: string[]) => spawnSync('ip', args, { encoding: 'utf8' }).stdout.split('\n');
  const namespaces = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  return [...namespaces, ...lines('-brief', 'link'), ...lines('route', 'show')].filter(
    (line) => line.includes(`lc${id}-`) || line.includes(`lc-${id}`),
  );
}
