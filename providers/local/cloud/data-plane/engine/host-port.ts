import { OperatorError } from '../../../../../operator/base/errors';

/** Where an ordinary user may not open a port, or somebody else has it, this is added until one is free. */
const OFFSET = 8000;

/**
 * The ports to try for a listener, in order: its own; with `offset` also 8080 for 80, then 16080, and so on.
 * Pure.
 */
export function portCandidates(port: number, offset: boolean): number[] {
  const candidates = [port];
  if (!offset) return candidates;
  for (let next = port + OFFSET; next <= 65535; next += OFFSET) candidates.push(next);
  return candidates;
}

/**
 * Tries to listen on each candidate until one works.
 * @param listen rejects with the system's error
 * @returns the port that worked
 * @throws OperatorError Conflict when every candidate is taken or forbidden
 */
export async function listenOnFirst(ip: string, candidates: number[], listen: (port: number) => Promise<void>): Promise<number> {
  let last: NodeJS.ErrnoException | undefined;
  for (const port of candidates) {
    try {
      await listen(port);
      return port;
    } catch (error) {
      last = error as NodeJS.ErrnoException;
      if (last.code !== 'EACCES' && last.code !== 'EADDRINUSE') break;
    }
  }
  const tried = candidates.length === 1 ? '' : ` (nor on ${candidates.slice(1).join(', ')})`;
  throw new OperatorError('Conflict', `cannot listen on ${ip}:${candidates[0]}${tried}: ${last?.code ?? 'no port'}`, { cause: last });
}
