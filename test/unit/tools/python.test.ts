import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { USUAL_TOOL_NAMES } from '../../../tools/catalogue';
import { locateTools, type EnsureOptions } from '../../../tools/ensure';

/** moto, the one tool that is a Python program; `python3` and pip are scripts of ours. */
describe('a Python program', () => {
  let root: string;
  let bin: string;
  let cached: string;
  let lines: string[];
  let options: EnsureOptions;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cloud-operator-python-'));
    bin = join(root, 'bin');
    cached = join(root, 'cloud-operator/tools/moto/v5.2.5/moto');
    lines = [];
    options = { environment: { PATH: bin, XDG_CACHE_HOME: root }, report: (line) => lines.push(line) };
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function program(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** A `python3` that makes virtual environments, in which pip "installs" moto. @param pip replaces what pip does */
  function fakePython({ version = '3.12.1', package: installed = '5.2.5', pip = '' } = {}): void {
    const install = `echo "$@" >> ${root}/pip.calls; printf '#!/bin/sh\\n' > "$(/usr/bin/dirname "$0")/moto_server"; /bin/chmod 755 "$(/usr/bin/dirname "$0")/moto_server"`;
    program(
      join(bin, 'python3'),
      [
        `case "$*" in`,
        `*python_version*) echo ${version} ;;`,
        `*importlib.metadata*) echo ${installed} ;;`,
        `*pip*) ${pip || install} ;;`,
        `*venv*) echo "$3" >> ${root}/venvs; /bin/mkdir -p "$3/bin"; /bin/cp "$0" "$3/bin/python3" ;;`,
        `esac`,
      ].join('\n'),
    );
  }

  it('is installed with the pinned versions, and found in the cache from then on', async () => {
    fakePython();
    expect(await locateTools(['moto'], options)).toEqual([{ name: 'moto', version: 'v5.2.5', source: 'pip', path: cached }]);
    expect(readFileSync(join(root, 'pip.calls'), 'utf8')).toMatch(/-m pip install .*--requirement .*tools\/moto\/requirements\.txt\n$/);
    expect(lines).toEqual(['moto v5.2.5 (a simulated AWS API, for tests): installing it with pip, about 1 min, by Python 3.12.1']);
    expect(await locateTools(['moto'], options)).toMatchObject([{ source: 'cache', path: cached }]);
  });

  it('knows its interpreter by a path that needs no link to the cache', async () => {
    fakePython();
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'cloud-operator'));
    await locateTools(['moto'], options);
    expect(readFileSync(join(root, 'venvs'), 'utf8')).toBe(`${join(root, 'elsewhere/tools/moto/v5.2.5/venv')}\n`);
  });

  it('is taken from its variable or from PATH, where it has another name, when its version will do', async () => {
    fakePython({ package: '5.2.1' });
    const server = program(join(bin, 'moto_server'), '');
    expect(await locateTools(['moto'], options)).toMatchObject([{ source: 'PATH', version: 'v5.2.1', path: server }]);
    const environment = { ...options.environment, CLOUD_OPERATOR_MOTO: server };
    expect(await locateTools(['moto'], { ...options, environment })).toMatchObject([{ source: 'environment' }]);
  });

  it('that is too old on PATH is passed over', async () => {
    fakePython({ package: '4.2.14' });
    program(join(bin, 'moto_server'), '');
    await expect(locateTools(['moto'], options)).rejects.toThrow('it is version v4.2.14; v5.2.0 or newer');
    expect(lines[0]).toMatch(/moto_server is passed over: it is version v4\.2\.14/);
  });

  it.each([
    ['there is no python3', () => undefined, 'there is no python3 (Python 3.11 or newer) on PATH'],
    ['python3 is too old', () => fakePython({ version: '3.9.2' }), 'there is no python3 (Python 3.11 or newer) on PATH'],
    [
      'pip fails',
      () => fakePython({ pip: 'echo no such host >&2; exit 1' }),
      'pip install of moto ended with exit code 1:\n  no such host',
    ],
  ])('where %s, the error says what to install, and nothing stays that could be taken for it', async (_, make, why) => {
    make();
    await expect(locateTools(['moto'], options)).rejects.toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining(why) as string,
      remedy: expect.stringMatching(
        /^install Python 3\.11 or newer .*python3-venv.*pypi\.org.* or name a moto_server in CLOUD_OPERATOR_MOTO$/,
      ) as string,
    });
    expect(existsSync(cached)).toBe(false);
  });

  it('that was left half installed is installed anew', async () => {
    fakePython({ pip: 'exit 1' });
    await expect(locateTools(['moto'], options)).rejects.toThrow();
    writeFileSync(join(dirname(cached), 'venv/leftover'), '');
    fakePython();
    expect(await locateTools(['moto'], options)).toMatchObject([{ source: 'pip' }]);
    expect(readdirSync(join(dirname(cached), 'venv'))).toEqual(['bin']);
  });

  it('is not made unless it is asked for', () => {
    expect(USUAL_TOOL_NAMES).toEqual(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl', 'pulumi']);
  });
});
