import { devPaths, type DevPaths } from '../../dev/cluster/paths';
import { readState, type DevState } from '../../dev/cluster/state';
import { isRunning } from '../../tools/live-process';
import { nameOption } from './dev-name';
import { invocation } from './invocation';
import { formatTable } from './table';

interface Status extends Omit<Partial<DevState>, 'phase' | 'supervisor' | 'processes'> {
  name: string;
  up: boolean;
  phase: DevState['phase'] | 'Down';
  directory: string;
  processes: { name: string; pid: number; up: boolean; log: string }[];
}

/** `dev status`. Sets exit code 1 when something is down. */
export function devStatus(name: string, json: boolean): void {
  const status = statusOf(name, devPaths(name));
  if (!status.up) process.exitCode = 1;
  process.stdout.write(json ? `${JSON.stringify(status, undefined, 2)}\n` : describe(status));
}

function statusOf(name: string, paths: DevPaths): Status {
  const state = readState(paths.state);
  if (state === undefined) return { name, up: false, phase: 'Down', directory: paths.root, processes: [] };
  const { supervisor, processes, ...shown } = state;
  const all = [{ name: 'supervisor', log: `${paths.logs}/supervisor.log`, ...supervisor }, ...processes];
  const checked = all.map((process) => ({ name: process.name, pid: process.pid, up: isRunning(process), log: process.log }));
  const phase = isRunning(supervisor) || state.phase === 'Failed' ? state.phase : 'Down';
  const up = phase === 'Ready' && checked.every((process) => process.up);
  return { name, up, ...shown, phase, directory: paths.root, processes: checked };
}

function describe(status: Status): string {
  const { name, phase, failure, processes, kubeconfig, cloud, directory } = status;
  if (!processes.some((process) => process.up)) {
    const why = failure === undefined ? '' : `; it ended because ${failure}`;
    return `The development cluster "${name}" is not up${why}\nStart it with: ${invocation()} dev up${nameOption(name)}\n`;
  }
  const rows = processes.map((process) => [process.name, process.up ? 'up' : 'DOWN', String(process.pid), addressOf(process.name, status)]);
  const table = formatTable(['PROCESS', 'STATE', 'PID', 'ADDRESS'], rows);
  const facts = [
    ['phase:', phase],
    ['kubeconfig:', kubeconfig ?? '(not yet)'],
    ['cloud token:', cloud?.tokenFile ?? '(not yet)'],
    ['directory:', directory],
  ];
  return `${table}\n${facts.map(([what = '', value = '']) => `${what.padEnd(14)}${value}\n`).join('')}`;
}

function addressOf(process: string, { apiServer, cloud, operator, nodes = 0 }: Status): string {
  const addresses: Record<string, string | undefined> = {
    etcd: 'unix socket',
    'kube-apiserver': apiServer,
    'local-cloud': cloud === undefined ? undefined : `${cloud.endpoint} (${cloud.tier})`,
    operator,
    nodes: nodes === 1 ? 'node-1' : `node-1 to node-${nodes}`,
  };
  return addresses[process] ?? '';
}
