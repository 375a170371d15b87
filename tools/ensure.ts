import { toolsDirectory } from './cache';
import { toolNamed, type Tool, type ToolName } from './catalogue';
import { findTool, type FoundTool } from './find';
import { obtainTool, type ObtainContext } from './obtain';

export interface EnsureOptions {
  /** Absent = that of this process. */
  environment?: NodeJS.ProcessEnv;
  /** Gets each line of progress; absent = standard error. */
  report?: (line: string) => void;
  /** Puts other servers in the place of the official hosts, for tests: `{'dl.k8s.io': 'http://127.0.0.1:8080'}`. */
  hosts?: Record<string, string>;
}

/**
 * Makes sure that tools are there, and gives their paths. Quick when they are; else it downloads or builds them (obtain.ts).
 * @throws OperatorError when a tool can be had in no way; its remedy says exactly what to install
 */
export async function ensureTools<N extends ToolName>(names: readonly N[], options: EnsureOptions = {}): Promise<Record<N, string>> {
  const found = await locateTools(names, options);
  return Object.fromEntries(found.map(({ name, path }) => [name, path])) as Record<N, string>;
}

/** As ensureTools, with the version and the source of each. */
export async function locateTools(names: readonly ToolName[], options: EnsureOptions = {}): Promise<FoundTool[]> {
  const environment = options.environment ?? process.env;
  const context: ObtainContext = {
    environment,
    directory: toolsDirectory(environment),
    report: options.report ?? ((line) => process.stderr.write(`${line}\n`)),
    unreachable: new Set(),
    ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
  };
  const tools = names.map(toolNamed);
  const found: FoundTool[] = [];
  for (const tool of tools) found.push(await ensureTool(tool, context)); // one after another: a build uses every core
  return found;
}

async function ensureTool(tool: Tool, context: ObtainContext): Promise<FoundTool> {
  return (await findTool(tool, context)) ?? (await obtainTool(tool, context));
}
