import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { freePort } from '../../../dev/cluster/free-port';
import { ensureTools, locateTools, type EnsureOptions } from '../../../tools/ensure';
import { identifyProcess } from '../../../tools/live-process';

/** A program that prints a version, and notes each run in a file beside it. */
function fakeTool(path: string, version: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, script(version));
  chmodSync(path, 0o755);
  return path;
}
const script = (version: string): string => `#!/bin/sh\necho run >> "$0.runs"\necho "version ${version}"\n`;
const runsOf = (path: string): number => (existsSync(`${path}.runs`) ? readFileSync(`${path}.runs`, 'utf8').split('\n').length - 1 : 0);
const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

describe('ensureTools', () => {
  let root: string;
  let bin: string;
  let cached: string;
  let lines: string[];
  let options: EnsureOptions;
  let server: Server | undefined;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'cloud-operator-tools-'));
    bin = join(root, 'bin');
    mkdirSync(bin);
    cached = join(root, 'cloud-operator/tools/kube-apiserver/v1.35.4/kube-apiserver');
    lines = [];
    const nobody = `http://127.0.0.1:${await freePort()}`; // as a host without a way out sees the official servers
    options = {
      environment: { PATH: bin, XDG_CACHE_HOME: root },
      report: (line) => lines.push(line),
      hosts: { 'dl.k8s.io': nobody, 'github.com': nobody, 'get.pulumi.com': nobody },
    };
  });
  afterEach(async () => {
    if (server !== undefined) await new Promise((resolve) => server?.close(resolve));
    server = undefined;
    rmSync(root, { recursive: true, force: true });
  });

  /** Serves files in the place of every official host; gives the paths asked for. */
  async function serve(files: Record<string, string | Buffer>): Promise<string[]> {
    const asked: string[] = [];
    server = createServer((request, response) => {
      const content = files[request.url ?? ''];
      asked.push(request.url ?? '');
      response.writeHead(content === undefined ? 404 : 200).end(content);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    options.hosts = { 'dl.k8s.io': base, 'github.com': base, 'get.pulumi.com': base };
    return asked;
  }

  const APISERVER = `/release/v1.35.4/bin/linux/${process.arch === 'x64' ? 'amd64' : process.arch}/kube-apiserver`;

  /** A `go` that "builds" by writing a program of the right version; `body` runs first. */
  function fakeGo(body = ''): string {
    const path = join(bin, 'go');
    const build = `while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done\n${body}\nprintf '#!/bin/sh\\necho v1.35.4\\n' > "$out"; /bin/chmod 755 "$out"`;
    writeFileSync(
      path,
      `#!/bin/sh\nif [ "$1" = version ]; then echo go version go1.26.0 linux/amd64; exit; fi\necho "$@" "$CGO_ENABLED" "$GOTOOLCHAIN" >> ${root}/go.calls\n${build}\n`,
    );
    chmodSync(path, 0o755);
    return path;
  }

  describe('what is there', () => {
    it('prefers the environment variable, then PATH, then the cache', async () => {
      const named = fakeTool(join(root, 'named'), 'v1.36.0');
      const onPath = fakeTool(join(bin, 'kube-apiserver'), 'v1.35.9');
      fakeTool(cached, 'v1.35.4');
      expect(await ensureTools(['kube-apiserver'], options)).toEqual({ 'kube-apiserver': onPath });
      const environment = { ...options.environment, CLOUD_OPERATOR_KUBE_APISERVER: named };
      expect(await locateTools(['kube-apiserver'], { ...options, environment })).toEqual([
        { name: 'kube-apiserver', version: 'v1.36.0', source: 'environment', path: named },
      ]);
      rmSync(onPath);
      expect(await ensureTools(['kube-apiserver'], options)).toEqual({ 'kube-apiserver': cached });
      expect(lines).toEqual([]);
    });

    it('runs a binary once, and again only after it has changed', async () => {
      fakeTool(cached, 'v1.35.4');
      for (let call = 0; call < 3; call++) await ensureTools(['kube-apiserver'], options);
      expect(runsOf(cached)).toBe(1);
      fakeTool(cached, 'v1.35.4');
      await ensureTools(['kube-apiserver'], options);
      expect(runsOf(cached)).toBe(2);
    });

    it.each([
      ['is not there', (): string => '/does/not/exist', 'there is no such file'],
      ['is too old', (): string => fakeTool(join(root, 'old'), 'v1.34.0'), 'it is version v1.34.0; v1.35.0 or newer'],
      ['prints no version', (): string => fakeTool(join(root, 'mute'), 'unknown'), '`--version` prints no version'],
      ['is a folder', (): string => root, 'it is not a file'],
      ['is a relative path', (): string => 'kube-apiserver', 'it is not an absolute path'],
      [
        'may not be executed',
        (): string => (chmodSync(fakeTool(join(root, 'no-x'), 'v1.35.0'), 0o644), join(root, 'no-x')),
        'it does not run: it may not be executed',
      ],
    ])('refuses a binary named by the environment that %s', async (_, make, problem) => {
      fakeTool(cached, 'v1.35.4');
      const path = make();
      const environment = { ...options.environment, CLOUD_OPERATOR_KUBE_APISERVER: path };
      const failure = ensureTools(['kube-apiserver'], { ...options, environment });
      await expect(failure).rejects.toMatchObject({ code: 'Invalid', remedy: expect.stringContaining('unset') as string });
      await expect(failure).rejects.toThrow(`CLOUD_OPERATOR_KUBE_APISERVER=${path} can't be used as kube-apiserver: ${problem}`);
    });

    it('passes over an old binary on PATH, and says so in one line', async () => {
      const old = fakeTool(join(bin, 'kube-apiserver'), 'v1.30.0');
      fakeTool(cached, 'v1.35.4');
      expect(await ensureTools(['kube-apiserver'], options)).toEqual({ 'kube-apiserver': cached });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`${old} is passed over: it is version v1.30.0`);
    });

    it('refuses an unknown name', async () => {
      await expect(ensureTools(['minikube' as 'kubectl'], options)).rejects.toThrow('there is no tool named "minikube"');
    });
  });

  describe('the download', () => {
    it('is installed when its checksum is right', async () => {
      const asked = await serve({ [APISERVER]: script('v1.35.4'), [`${APISERVER}.sha256`]: sha256(script('v1.35.4')) });
      expect(await locateTools(['kube-apiserver'], options)).toMatchObject([{ source: 'download', path: cached }]);
      expect(asked).toEqual([`${APISERVER}.sha256`, APISERVER]);
      expect(await locateTools(['kube-apiserver'], options)).toMatchObject([{ source: 'cache' }]);
      expect(readdirSync(dirname(cached)).sort()).toEqual(['kube-apiserver', 'kube-apiserver.runs']);
    });

    it('is refused when its checksum is wrong, and nothing of it stays', async () => {
      await serve({ [APISERVER]: 'tampered', [`${APISERVER}.sha256`]: sha256(script('v1.35.4')) });
      const failure = ensureTools(['kube-apiserver'], options);
      await expect(failure).rejects.toThrow(/is refused: its SHA-256 is .* there is no go on PATH/s);
      await expect(failure).rejects.toMatchObject({
        code: 'NotFound',
        remedy: expect.stringContaining('install kube-apiserver v1.35.0 or newer on PATH') as string,
      });
      expect(readdirSync(dirname(cached))).toEqual([]);
    });

    it('is refused when it is another version, even with the right checksum', async () => {
      await serve({ [APISERVER]: script('v1.35.3'), [`${APISERVER}.sha256`]: sha256(script('v1.35.3')) });
      await expect(ensureTools(['kube-apiserver'], options)).rejects.toThrow('it says that it is version v1.35.3, not v1.35.4');
      expect(existsSync(cached)).toBe(false);
    });

    it('is taken out of an archive', async () => {
      const arch = process.arch === 'x64' ? 'amd64' : process.arch;
      const stem = `etcd-v3.6.6-linux-${arch}`;
      fakeTool(join(root, 'pack', stem, 'etcd'), 'v3.6.6');
      execFileSync('tar', ['-czf', join(root, 'etcd.tar.gz'), '-C', join(root, 'pack'), stem]);
      const archive = readFileSync(join(root, 'etcd.tar.gz'));
      const folder = '/etcd-io/etcd/releases/download/v3.6.6';
      await serve({
        [`${folder}/${stem}.tar.gz`]: archive,
        [`${folder}/SHA256SUMS`]: `${'0'.repeat(64)}  etcd-v3.6.6-darwin-arm64.zip\n${sha256(archive)}  ${stem}.tar.gz\n`,
      });
      expect(await locateTools(['etcd'], options)).toMatchObject([{ source: 'download', version: 'v3.6.6' }]);
    });

    it('replaces a truncated binary in the cache, which is noticed in one line', async () => {
      fakeTool(cached, 'v1.35.4');
      await ensureTools(['kube-apiserver'], options);
      writeFileSync(cached, '\u007fELF cut off');
      await serve({ [APISERVER]: script('v1.35.4'), [`${APISERVER}.sha256`]: sha256(script('v1.35.4')) });
      expect(await locateTools(['kube-apiserver'], options)).toMatchObject([{ source: 'download' }]);
      expect(lines.filter((line) => line.includes('is broken and will be made again'))).toHaveLength(2); // before and under the lock
    });

    it('asks an unreachable host once for several tools, and goes on quickly', async () => {
      fakeGo();
      const began = performance.now();
      await ensureTools(['kube-apiserver', 'kube-controller-manager'], options);
      expect(performance.now() - began).toBeLessThan(3_000);
      expect(lines.filter((line) => line.includes("can't be reached: ECONNREFUSED"))).toHaveLength(1);
    });
  });

  describe('the build', () => {
    it('uses the pinned module, and says what is built, why and for how long', async () => {
      fakeGo();
      expect(await locateTools(['kube-apiserver'], options)).toMatchObject([{ source: 'build', version: 'v1.35.4', path: cached }]);
      const calls = readFileSync(join(root, 'go.calls'), 'utf8');
      expect(calls).toContain('k8s.io/kubernetes/cmd/kube-apiserver 0 auto');
      expect(calls).toContain('-X k8s.io/component-base/version.gitVersion=v1.35.4');
      expect(lines.at(-1)).toMatch(
        /kube-apiserver v1\.35\.4 \(the development cluster's API server\): building it .* with go1\.26\.0, about 6 min/,
      );
      expect(readdirSync(dirname(cached))).toEqual(['kube-apiserver']);
    });

    it('that fails shows the end of its output, and what to install', async () => {
      fakeGo('echo "cannot find module" >&2; exit 3');
      const failure = ensureTools(['kube-apiserver'], options);
      await expect(failure).rejects.toThrow(/go build of kube-apiserver ended with exit code 3:\n {2}cannot find module/);
      expect(readdirSync(dirname(cached))).toEqual([]);
    });

    it('is done once when two ask at the same time', async () => {
      fakeGo('/bin/sleep 0.5');
      const both = await Promise.all([locateTools(['kube-apiserver'], options), locateTools(['kube-apiserver'], options)]);
      expect(
        both
          .flat()
          .map(({ source }) => source)
          .sort(),
      ).toEqual(['build', 'cache']);
      expect(readFileSync(join(root, 'go.calls'), 'utf8').trim().split('\n')).toHaveLength(1);
      expect(lines).toContainEqual(`kube-apiserver: waiting for process ${process.pid}, which is making it already`);
    });

    it('takes over the lock of a process that is gone, and clears away what it left', async () => {
      fakeGo();
      const gone = spawn('true');
      await once(gone, 'exit');
      mkdirSync(dirname(cached), { recursive: true });
      writeFileSync(`${cached}.${gone.pid}.partial`, 'half');
      writeFileSync(join(root, 'cloud-operator/tools/kube-apiserver-v1.35.4.lock'), JSON.stringify({ pid: gone.pid }));
      await ensureTools(['kube-apiserver'], options);
      expect(readdirSync(dirname(cached))).toEqual(['kube-apiserver']);
    });

    it('takes over the lock of a process whose id was given to another one, and a damaged lock', async () => {
      fakeGo();
      mkdirSync(dirname(dirname(dirname(cached))), { recursive: true });
      const lock = join(root, 'cloud-operator/tools/kube-apiserver-v1.35.4.lock');
      for (const content of [JSON.stringify({ ...identifyProcess(), start: '1' }), '{"pid":']) {
        writeFileSync(lock, content);
        rmSync(cached, { force: true });
        expect(await locateTools(['kube-apiserver'], options)).toMatchObject([{ source: 'build' }]);
        expect(existsSync(lock)).toBe(false);
      }
    });
  });
});
