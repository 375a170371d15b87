import { OperatorError } from '../operator/base/errors';
import { toolsDirectory } from './cache';
import { toolNamed, type Tool, type ToolName } from './catalogue';
import { findTool, type FindContext, type FoundTool } from './find';

export interface EnsureOptions {
  /** Absent = that of this process. */
  environment?: NodeJS.ProcessEnv;
  /** Gets each line of progress; absent = standard error. */
  report?: (line: string) => void;
}

/**
 * Makes sure that tools are there, and gives their paths. Quick when they are; else it downloads or builds them (see obtain.ts).
 * @throws OperatorError when a tool can be had in no way; its remedy says exactly what to install
 */
export async function ensureTools<N extends ToolName>(names: readonly N[], options: EnsureOptions = {}): Promise<Record<N, string>> {
  const found = await locateTools(names, options);
  return Object.fromEntries(found.map(({ name, path }) => [name, path])) as Record<N, string>;
}

/** As ensureTools, with the version and the source of each. */
export async function locateTools(names: readonly ToolName[], options: EnsureOptions = {}): Promise<FoundTool[]> {
  const environment = options.environment ?? process.env;
  const context: FindContext = {
    environment,
    directory: toolsDirectory(environment),
    report: options.report ?? ((line) => process.stderr.write(`${line}\n`)),
  };
  const found: FoundTool[] = [];
  for (const name of names) found.push(await ensureTool(toolNamed(name), context)); // one after another: a build uses every core
  return found;
}

async function ensureTool(tool: Tool, context: FindContext): Promise<FoundTool> {
  const found = await findTool(tool, context);
  if (found !== undefined) return found;
  throw new OperatorError('NotFound', `${tool.name} is not there`);
}
