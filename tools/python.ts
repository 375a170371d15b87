import { execFile } from 'node:child_process';
import { realpath, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../operator/entry';
import type { BuildOptions } from './build';
import type { PythonInstall, Tool } from './catalogue';
import { runLongCommand } from './long-command';

const run = promisify(execFile);
/** What the pinned packages need. */
const OLDEST = [3, 11] as const;
export const PYTHON = `Python ${OLDEST.join('.')} or newer`;

/** The version of the host's `python3`; undefined when there is none that runs and is new enough. */
export async function pythonVersion(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { stdout } = await run('python3', ['-c', 'import platform; print(platform.python_version())'], { env: environment });
    const [major = 0, minor = 0] = stdout.trim().split('.').map(Number);
    return major === OLDEST[0] && minor >= OLDEST[1] ? stdout.trim() : undefined;
  } catch {
    return undefined; // absent or broken: the caller says what to install
  }
}

/**
 * Installs a Python program, with the versions of its requirements.txt, into a virtual environment beside `target`, which becomes a link to it.
 * @throws OperatorError with the end of the output of venv or pip
 */
export async function installPythonTool({ name }: Tool, install: PythonInstall, target: string, options: BuildOptions): Promise<void> {
  const venv = join(await realpath(dirname(target)), 'venv'); // its programs name their interpreter by this path
  const { environment, report } = options;
  const common = { environment, report, progress: (elapsed: string) => `${name}: installing, ${elapsed} elapsed` };
  await runLongCommand({ ...common, what: 'python3 -m venv', command: 'python3', args: ['-m', 'venv', venv] });
  const requirements = join(PROJECT_ROOT, 'tools', install.folder, 'requirements.txt');
  const args = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--requirement', requirements];
  await runLongCommand({ ...common, what: `pip install of ${name}`, command: join(venv, 'bin', 'python3'), args });
  await symlink(join('venv', 'bin', install.script), target); // last: what is not whole can't be found
}

/** The command that prints the version of a Python program's package: by the interpreter that stands beside it, as in every virtual environment. */
export async function versionCommand(path: string, { package: name }: PythonInstall): Promise<[string, string[]]> {
  const python = join(dirname(await realpath(path)), 'python3');
  return [python, ['-c', `import importlib.metadata; print(importlib.metadata.version("${name}"))`]];
}
