import { spawnSync } from 'node:child_process';

let wrapper: string[] | undefined;

/**
 * What to put before a command so that the kernel kills it when this process dies, however it dies; nothing where the system has no
 * such thing (then the closing of standard input must do).
 */
export function parentDeathWrapper(): string[] {
  const candidate = ['setpriv', '--pdeathsig', 'KILL', '--'];
  wrapper ??= spawnSync(candidate[0] ?? '', [...candidate.slice(1), 'true']).status === 0 ? candidate : [];
  return wrapper;
}
