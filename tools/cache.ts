import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from './catalogue';

/** The folder for what can be made again, as the XDG base directory specification has it. */
export function toolsDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  // The specification: a relative path is to be ignored.
  const cache = base !== undefined && base.startsWith('/') ? base : join(homedir(), '.cache');
  return join(cache, 'cloud-operator', 'tools');
}

export function cachedPath(directory: string, tool: Tool): string {
  return join(directory, tool.name, tool.version, tool.name);
}

/** Where what is known of binaries is kept (binary.ts). */
export function stampsDirectory(directory: string): string {
  return join(directory, 'stamps');
}
