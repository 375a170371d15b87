import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { OperatorError } from '../operator/base/errors';
import { inspectBinary } from './binary';
import { cachedPath, stampsDirectory } from './cache';
import type { Tool, ToolName } from './catalogue';

/** Where a tool came from, in the order in which they are tried. */
export type Source = 'environment' | 'PATH' | 'cache' | 'download' | 'build' | 'pip';

export interface FoundTool {
  name: ToolName;
  version: string;
  source: Source;
  path: string;
}

export interface FindContext {
  environment: NodeJS.ProcessEnv;
  /** The cache folder: toolsDirectory(). */
  directory: string;
  /** Gets each line for the person who waits. */
  report: (line: string) => void;
}

/**
 * Finds a tool that is there already: named by its variable, on PATH, or in the cache.
 * A binary that is passed over is reported with its reason in one line.
 * @throws OperatorError Invalid when the variable names a binary that will not do: what was asked for is not silently replaced
 */
export async function findTool(tool: Tool, context: FindContext): Promise<FoundTool | undefined> {
  return (await fromVariable(tool, context)) ?? (await fromPath(tool, context)) ?? (await fromCache(tool, context));
}

async function fromVariable(tool: Tool, context: FindContext): Promise<FoundTool | undefined> {
  const path = context.environment[tool.variable];
  if (path === undefined || path === '') return undefined;
  const found = isAbsolute(path)
    ? await inspectBinary(tool, path, stampsDirectory(context.directory))
    : { problem: 'it is not an absolute path' };
  if ('version' in found) return { name: tool.name, version: found.version, source: 'environment', path };
  throw new OperatorError('Invalid', `${tool.variable}=${path} can't be used as ${tool.name}: ${found.problem}`, {
    remedy: `point it at a working ${tool.name}, or unset it`,
  });
}

async function fromPath(tool: Tool, context: FindContext): Promise<FoundTool | undefined> {
  for (const folder of (context.environment['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, tool.executable ?? tool.name);
    if (!isAbsolute(folder) || !isExecutable(path)) continue;
    const found = await inspectBinary(tool, path, stampsDirectory(context.directory));
    if ('version' in found) return { name: tool.name, version: found.version, source: 'PATH', path };
    context.report(`${path} is passed over: ${found.problem}`);
  }
  return undefined;
}

async function fromCache(tool: Tool, context: FindContext): Promise<FoundTool | undefined> {
  const path = cachedPath(context.directory, tool);
  if (!isFile(path)) return undefined;
  const found = await inspectBinary(tool, path, stampsDirectory(context.directory));
  if ('problem' in found) {
    context.report(`${path} is broken and will be made again: ${found.problem}`);
    return undefined;
  }
  if (found.version !== tool.version) {
    context.report(`${path} will be made again: it is version ${found.version} instead of ${tool.version}`);
    return undefined;
  }
  return { name: tool.name, version: found.version, source: 'cache', path };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isExecutable(path: string): boolean {
  if (!isFile(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // a shell looking along PATH goes on too
  }
}
