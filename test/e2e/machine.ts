import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { GuardedCommand, GuardedProcess, ProcessGuard } from '../../dev/cluster/process-guard';
import { whenReady } from '../../dev/cluster/readiness';

export interface MachineOptions {
  name: string;
  /** Log of its first process. */
  log: string;
  /** More lines of shell for its start, inside: mounts, settings. */
  setUp?: readonly string[];
}

const READY_TIMEOUT_MS = 15_000;
const POLL_MS = 20;
const GRACE_MS = 1_000;
const NAMESPACES = ['--net', '--mount', '--pid', '--uts'];

/**
 * A machine of its own as far as its programs can tell: namespaces of the network, mounts, processes and the host name, held by one process. When
 * that ends, however that comes about, the kernel ends every other process in it and takes its mounts and its network away.
 */
export class Machine {
  private constructor(
    readonly name: string,
    private readonly guard: ProcessGuard,
    private readonly holder: GuardedProcess,
    /** Of its first process, seen from here. */
    private readonly pid: number,
  ) {}

  /** @throws OperatorError with the end of its log */
  static async start(guard: ProcessGuard, { name, log, setUp = [] }: MachineOptions): Promise<Machine> {
    const script = [
      'set -e',
      'read -r pid rest < /proc/self/stat', // /proc is still that of outside
      'mount --make-rshared /', // kubelets ask for it
      'mount -t proc proc /proc',
      `hostname ${name}`,
      'ip link set lo up',
      ...setUp,
      'echo "$pid"',
      'exec sleep infinity',
    ].join('\n');
    let pid: number | undefined;
    const holder = await guard.start({
      name: `machine ${name}`,
      command: 'unshare',
      args: [...NAMESPACES, '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', script],
      cwd: '/',
      log,
      onLine: (line) => (pid = Number(line)),
      graceMs: GRACE_MS,
    });
    return new Machine(name, guard, holder, await whenReady(holder, { probe: () => pid, timeoutMs: READY_TIMEOUT_MS, pollMs: POLL_MS }));
  }

  /** Path of its network namespace. */
  get network(): string {
    return `/proc/${this.pid}/ns/net`;
  }

  /** Puts one end of a new cable into it. @param peer name of the end that stays in the caller's own network */
  async plug(name: string, peer: string, into?: Machine): Promise<void> {
    const other = into === undefined ? [] : ['netns', String(into.pid)];
    await promisify(execFile)('ip', ['link', 'add', name, 'netns', String(this.pid), 'type', 'veth', 'peer', 'name', peer, ...other]);
  }

  /** Runs a shell script inside. @returns its standard output @throws with its standard error */
  async sh(script: string): Promise<string> {
    const { stdout } = await promisify(execFile)('nsenter', [...this.entrance(), 'sh', '-ec', script]);
    return stdout;
  }

  /** Starts a program inside, which ends with the machine at the latest. */
  start(command: Omit<GuardedCommand, 'cwd' | 'graceMs'>): Promise<GuardedProcess> {
    return this.guard.start({
      ...command,
      name: `${command.name} of ${this.name}`,
      command: 'nsenter',
      args: [...this.entrance(), command.command, ...command.args],
      cwd: '/',
      graceMs: GRACE_MS,
    });
  }

  /** Ends it with all that runs in it. */
  async stop(): Promise<void> {
    await this.holder.stop();
  }

  private entrance(): string[] {
    return ['--target', String(this.pid), ...NAMESPACES, '--'];
  }
}
