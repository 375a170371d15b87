import { printLogs } from '../../dev/cluster/logs';
import { devPaths } from '../../dev/cluster/paths';
import { startIt } from './dev-name';

/** `dev logs`. @throws OperatorError when there are no such logs */
export async function devLogs(name: string, processes: string[], { follow, tail }: { follow: boolean; tail: number }): Promise<void> {
  const stop = new AbortController();
  if (follow) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await printLogs({
    directory: devPaths(name).logs,
    startIt: startIt(name),
    names: processes,
    tail,
    ...(follow ? { follow: stop.signal } : {}),
    print: (line) => process.stdout.write(`${line}\n`),
  });
}
