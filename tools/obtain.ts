import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError, toOperatorError } from '../operator/base/errors';
import { inspectBinary } from './binary';
import { buildTool, goVersion } from './build';
import { cachedPath, stampsDirectory } from './cache';
import type { GoBuild, PythonInstall, Release, Tool } from './catalogue';
import { downloadTool } from './download';
import { findTool, type FindContext, type FoundTool, type Source } from './find';
import { withLock } from './lock';
import { installPythonTool, PYTHON, pythonVersion } from './python';

export interface ObtainContext extends FindContext {
  /** As DownloadOptions.hosts. */
  hosts?: Record<string, string>;
  /** Hosts that could not be reached a moment ago: not asked again in this run. */
  unreachable: Set<string>;
}

/**
 * Downloads a tool, or else builds or installs it, into the cache; only one process at a time does so.
 * @throws OperatorError when neither works; says what failed and what to install
 */
export async function obtainTool(tool: Tool, context: ObtainContext): Promise<FoundTool> {
  const lock = join(context.directory, `${tool.name}-${tool.version}.lock`);
  const onWait = (pid: number): void => context.report(`${tool.name}: waiting for process ${pid}, which is making it already`);
  return withLock(lock, onWait, async () => (await findTool(tool, context)) ?? (await make(tool, context)));
}

async function make(tool: Tool, context: ObtainContext): Promise<FoundTool> {
  const path = cachedPath(context.directory, tool);
  await mkdir(dirname(path), { recursive: true });
  await removeLeftovers(dirname(path), tool);
  const failures: string[] = [];
  const source = (await tryDownload(tool, path, context, failures)) ?? (await tryBuild(tool, path, context, failures));
  if (source === undefined)
    throw new OperatorError('NotFound', `there is no ${tool.name}: ${failures.join('; ')}`, { remedy: remedy(tool) });
  const found = await inspectBinary(tool, path, stampsDirectory(context.directory));
  if ('version' in found && found.version === tool.version) return { name: tool.name, version: found.version, source, path };
  const problem = 'problem' in found ? found.problem : `it says that it is version ${found.version}, not ${tool.version}`;
  await rm(path, { force: true });
  throw new OperatorError('Invalid', `the ${tool.name} from the ${source} can't be used: ${problem}`, { remedy: remedy(tool) });
}

async function tryDownload(tool: Tool, path: string, context: ObtainContext, failures: string[]): Promise<Source | undefined> {
  const release = releaseFor(tool);
  if (release === undefined) {
    if (tool.build.kind === 'Go') failures.push(`there is no official release for ${process.platform}-${process.arch}`);
    return undefined;
  }
  if (context.unreachable.has(release.host)) {
    failures.push(`${release.host} can't be reached`);
    return undefined;
  }
  try {
    await downloadTool(tool, release, path, { hosts: context.hosts ?? {}, report: context.report });
    return 'download';
  } catch (thrown) {
    const error = toOperatorError(thrown);
    if (error.code === 'Transient') context.unreachable.add(release.host);
    failures.push(error.message);
    context.report(`${tool.name}: no download: ${error.message}`);
    return undefined;
  }
}

async function tryBuild(tool: Tool, path: string, context: ObtainContext, failures: string[]): Promise<Source | undefined> {
  const { build } = tool;
  const source = build.kind === 'Go' ? await fromGo(tool, build, path, context) : await fromPython(tool, build, path, context);
  if (typeof source === 'string') return source;
  failures.push(source.failure);
  return undefined;
}

type Built = Source | { failure: string };

async function fromGo(tool: Tool, build: GoBuild, path: string, context: ObtainContext): Promise<Built> {
  const go = await goVersion(context.environment);
  if (go === undefined) return { failure: 'there is no go on PATH to build it with' };
  const duration = `about ${build.minutes} min on two cores the first time; it may be interrupted, and then goes on where it was`;
  context.report(`${tool.name} ${tool.version} (${tool.purpose}): building it from its Go module with ${go}, ${duration}`);
  return tried('build', () => buildTool(tool, build, path, context));
}

async function fromPython(tool: Tool, install: PythonInstall, path: string, context: ObtainContext): Promise<Built> {
  const python = await pythonVersion(context.environment);
  if (python === undefined) return { failure: `there is no python3 (${PYTHON}) on PATH to install it with` };
  const duration = `about ${install.minutes} min`;
  context.report(`${tool.name} ${tool.version} (${tool.purpose}): installing it with pip, ${duration}, by Python ${python}`);
  return tried('pip', () => installPythonTool(tool, install, path, context));
}

async function tried(source: Source, work: () => Promise<void>): Promise<Built> {
  try {
    await work();
    return source;
  } catch (thrown) {
    return { failure: toOperatorError(thrown).message };
  }
}

function releaseFor(tool: Tool): Release | undefined {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  return tool.release(os, arch);
}

/** What an interrupted download or build left; the lock says that nobody works there now. */
async function removeLeftovers(folder: string, tool: Tool): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== tool.name);
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

function remedy(tool: Tool): string {
  if (tool.build.kind === 'Python') {
    const file = tool.executable ?? tool.name;
    return `install ${PYTHON} with its module venv (Debian, Ubuntu: apt-get install python3-venv), and allow access to https://pypi.org or set PIP_INDEX_URL; or name a ${file} in ${tool.variable}`;
  }
  const version = tool.minimum === undefined ? '' : ` ${tool.minimum} or newer`;
  return `install ${tool.name}${version} on PATH (or name it in ${tool.variable}), or install Go 1.25 or newer from https://go.dev/dl, or allow access to https://${releaseFor(tool)?.host ?? 'proxy.golang.org'}`;
}
