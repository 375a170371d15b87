import { homedir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../base/errors';
import { startIt } from './dev-name';

/** Where a local cloud answers, and the file with its token. */
export interface CloudPlace {
  endpoint: string;
  tokenFile: string;
}

export interface PlaceFlags {
  name?: string;
  endpoint?: string;
  tokenFile?: string;
}

/** Where `local-cloud serve` is by default. */
export const SERVE_DIRECTORY = join(homedir(), '.local', 'share', 'cloud-operator', 'local-cloud');
export const SERVE_PORT = 10260;

/**
 * Which local cloud is meant: the one that the flags name, else that of the development cluster that is up, else the one of `local-cloud serve`. Pure.
 * @param up the local clouds of the development clusters that are up, by the clusters' names
 * @throws OperatorError when the cluster that was named is not up, or when several are and none was named
 */
export function cloudPlace({ name, endpoint, tokenFile }: PlaceFlags, up: ReadonlyMap<string, CloudPlace>): CloudPlace {
  const served = {
    endpoint: endpoint ?? `http://127.0.0.1:${SERVE_PORT}`,
    tokenFile: tokenFile ?? join(SERVE_DIRECTORY, 'token'),
  };
  if (endpoint !== undefined || tokenFile !== undefined) return served;
  if (name !== undefined) return named(name, up);
  if (up.size === 0) return served;
  const only = up.get('default') ?? (up.size === 1 ? [...up.values()][0] : undefined);
  if (only !== undefined) return only;
  throw new OperatorError('Invalid', `the development clusters ${[...up.keys()].join(', ')} are up`, { remedy: 'say which with --name' });
}

function named(name: string, up: ReadonlyMap<string, CloudPlace>): CloudPlace {
  const found = up.get(name);
  if (found !== undefined) return found;
  throw new OperatorError('NotFound', `the development cluster "${name}" is not up`, { remedy: startIt(name) });
}
