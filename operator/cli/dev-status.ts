import { devPaths } from '../../dev/cluster/paths';
import { readState, type DevState } from '../../dev/cluster/state';
import { isRunning } from '../../tools/live-process';
import { formatTable } from './table';

/** `dev status`. Sets exit code 1 when something is down. */
export function devStatus(name: string, json: boolean): void {
  const paths = devPaths(name);
  const state = readState(paths.state);
  const processes =
    state === undefined ? [] : [{ name: 'supervisor', log: `${paths.logs}/supervisor.log`, ...state.supervisor }, ...state.processes];
  const checked = processes.map(({ name: process, pid, start, log }) => ({
    name: process,
    pid,
    up: isRunning({ pid, ...(start === undefined ? {} : { start }) }),
    log,
  }));
  const up = state?.phase === 'Ready' && checked.every((process) => process.up);
  if (!up) process.exitCode = 1;
  if (json) {
    const { kubeconfig, apiServer, cloud, operator, startedAt } = state ?? {};
    const phase = state !== undefined && isRunning(state.supervisor) ? state.phase : 'Down';
    const shown = { name, up, phase, startedAt, kubeconfig, apiServer, cloud, operator, directory: paths.root, processes: checked };
    process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`);
    return;
  }
  if (state === undefined) {
    process.stdout.write(
      `The development cluster "${name}" is not up; start it with: cloud-operator dev up${name === 'default' ? '' : ` --name ${name}`}\n`,
    );
    return;
  }
  const rows = checked.map((process) => [process.name, process.up ? 'up' : 'DOWN', String(process.pid), addressOf(process.name, state)]);
  process.stdout.write(formatTable(['PROCESS', 'STATE', 'PID', 'ADDRESS'], rows));
  process.stdout.write(`\nkubeconfig: ${state.kubeconfig ?? '(not yet)'}\ndata, logs: ${paths.root}\n`);
}

function addressOf(process: string, state: DevState): string {
  const addresses: Record<string, string | undefined> = {
    etcd: 'unix socket',
    'kube-apiserver': state.apiServer,
    'local-cloud': state.cloud === undefined ? undefined : `${state.cloud.endpoint} (${state.cloud.tier})`,
    operator: state.operator,
  };
  return addresses[process] ?? '';
}
