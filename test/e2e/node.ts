import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessGuard } from '../../dev/cluster/process-guard';
import { whenReady } from '../../dev/cluster/readiness';
import { Machine } from './machine';
import type { Network } from './network';
import { CONTAINERD_SOCKET, containerdConfig, cniTemplate, kubeletConfig, kubeProxyConfig, type NodeSettings } from './node-files';

export interface NodeOptions extends NodeSettings {
  /** From 1 on. */
  number: number;
  network: Network;
  logs: string;
  tools: Record<'kubelet' | 'kube-proxy', string>;
  /** Of `system:node:<name>`, and of kube-proxy. */
  kubeconfigs: { kubelet: string; proxy: string };
  /** kube-proxy's mode. */
  proxyMode: string;
  /** Archive from makeImages. */
  images: string;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 200;

/** What a kubelet wants of the kernel; it would set it for the whole machine. */
const KERNEL_SETTINGS: Record<string, number> = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/** A Node of the cluster: a machine with containerd, kubelet and kube-proxy. */
export class Node {
  private constructor(
    readonly name: string,
    readonly address: string,
    private readonly machine: Machine,
  ) {}

  /** @throws OperatorError naming the program that isn't ready, with the end of its log */
  static async start(guard: ProcessGuard, options: NodeOptions): Promise<Node> {
    const { name, number, network, logs } = options;
    writeFiles(options);
    const machine = await Machine.start(guard, { name, log: join(logs, `${name}.log`), setUp: ownFolders(options.directory) });
    const node = new Node(name, await network.connect(machine, number), machine);
    await node.startContainerd(options);
    await node.startKubelet(options);
    await node.startKubeProxy(options);
    return node;
  }

  /** Ends it with its Pods. */
  async stop(): Promise<void> {
    await this.machine.stop();
  }

  private async startContainerd({ directory, logs, images }: NodeOptions): Promise<void> {
    const containerd = await this.machine.start({
      name: 'containerd',
      command: 'containerd',
      args: ['--config', join(directory, 'containerd.toml')],
      log: join(logs, `${this.name}-containerd.log`),
    });
    const ctr = `ctr --address ${CONTAINERD_SOCKET} --namespace k8s.io`;
    const probe = (): Promise<true | undefined> => this.answers(`${ctr} version`);
    await whenReady(containerd, { probe, timeoutMs: READY_TIMEOUT_MS, pollMs: POLL_MS });
    await this.machine.sh(`${ctr} images import ${images}`);
  }

  private async startKubelet({ directory, logs, tools, kubeconfigs }: NodeOptions): Promise<void> {
    const kubelet = await this.machine.start({
      name: 'kubelet',
      command: tools.kubelet,
      args: [
        `--config=${join(directory, 'kubelet.json')}`,
        `--kubeconfig=${kubeconfigs.kubelet}`,
        `--hostname-override=${this.name}`,
        `--node-ip=${this.address}`,
        '--cloud-provider=external',
      ],
      log: join(logs, `${this.name}-kubelet.log`),
    });
    const probe = (): Promise<true | undefined> => this.answers('curl --fail --silent http://127.0.0.1:10248/healthz');
    await whenReady(kubelet, { probe, timeoutMs: READY_TIMEOUT_MS, pollMs: POLL_MS });
  }

  private async startKubeProxy({ directory, logs, tools }: NodeOptions): Promise<void> {
    await this.machine.start({
      name: 'kube-proxy',
      command: tools['kube-proxy'],
      args: [`--config=${join(directory, 'kube-proxy.json')}`],
      log: join(logs, `${this.name}-kube-proxy.log`),
    });
  }

  private async answers(script: string): Promise<true | undefined> {
    try {
      await this.machine.sh(script);
      return true;
    } catch {
      return undefined; // it does not listen yet
    }
  }
}

function writeFiles(options: NodeOptions): void {
  const { directory } = options;
  for (const folder of ['lib', 'log']) mkdirSync(join(directory, folder), { recursive: true });
  for (const [name, value] of Object.entries(KERNEL_SETTINGS)) writeFileSync(settingFile(directory, name), `${value}\n`);
  writeFileSync(join(directory, 'containerd.toml'), containerdConfig(options));
  writeFileSync(join(directory, 'cni.json'), cniTemplate());
  writeFileSync(join(directory, 'kubelet.json'), JSON.stringify(kubeletConfig(options)));
  writeFileSync(join(directory, 'kube-proxy.json'), JSON.stringify(kubeProxyConfig(options, options.kubeconfigs.proxy, options.proxyMode)));
  writeFileSync(join(directory, 'resolv.conf'), '');
}

/** Shell that gives a machine folders of its own, and kernel settings that a kubelet finds as it wants them. */
function ownFolders(directory: string): string[] {
  return [
    `mount --bind ${directory}/lib /var/lib`,
    `mount --bind ${directory}/log /var/log`,
    'mount -t tmpfs tmpfs /run',
    ...Object.keys(KERNEL_SETTINGS).map((name) => `mount --bind ${settingFile(directory, name)} /proc/sys/${name}`),
  ];
}

function settingFile(directory: string, name: string): string {
  return join(directory, name.replaceAll('/', '.'));
}
