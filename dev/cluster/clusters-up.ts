import { readdirSync } from 'node:fs';
import { isRunning } from '../../tools/live-process';
import { devBase, devPaths } from './paths';
import { readState, type DevState } from './state';

/**
 * The development clusters of this user that are up, by name.
 * @throws OperatorError when the description of one can't be understood
 */
export function clustersUp(environment: NodeJS.ProcessEnv = process.env): Map<string, DevState> {
  const up = new Map<string, DevState>();
  for (const name of namesIn(devBase(environment))) {
    const state = readState(devPaths(name, environment).state);
    if (state?.phase === 'Ready' && isRunning(state.supervisor)) up.set(name, state);
  }
  return up;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []; // there never was one
    throw thrown;
  }
}
