import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** As upstream's tests and containerd ask for them: no registry is asked. */
const AGNHOST = 'registry.k8s.io/e2e-test-images/agnhost:2.59';
export const PAUSE = 'registry.k8s.io/pause:3.10.1';

/** Programs of this machine that the tests run in agnhost's Pods, and where they are there. busybox's shell would take its own nc. */
const TEST_PROGRAMS = new Map([
  ['sh', 'bin/sh'],
  ['nc.openbsd', 'usr/bin/nc'],
  ['curl', 'usr/bin/curl'],
  ['wget', 'usr/bin/wget'],
]);
/** Whose parts busybox plays. */
const BUSYBOX_PROGRAMS = ['echo', 'cat', 'date', 'sleep', 'timeout', 'hostname', 'seq', 'grep', 'test'];

export interface ImageSources {
  /** Path of the binary. */
  agnhost: string;
  /** An empty folder to work in. */
  directory: string;
}

/**
 * Makes the images of the test's Pods by hand, from programs of this machine.
 * @returns path of an archive of both, as `docker save` writes it
 */
export async function makeImages({ agnhost, directory }: ImageSources): Promise<string> {
  const archive = join(directory, 'archive');
  mkdirSync(archive, { recursive: true });
  const images = [
    await addImage(archive, {
      name: AGNHOST,
      root: await agnhostRoot(join(directory, 'agnhost'), agnhost),
      entrypoint: ['/agnhost'],
      command: ['pause'],
    }),
    await addImage(archive, {
      name: PAUSE,
      root: pauseRoot(join(directory, 'pause'), await which('busybox')),
      entrypoint: ['/sleep', 'infinity'],
    }),
  ];
  writeFileSync(join(archive, 'manifest.json'), JSON.stringify(images));
  await run('tar', ['-C', archive, '-cf', join(directory, 'images.tar'), '.']);
  return join(directory, 'images.tar');
}

async function agnhostRoot(root: string, agnhost: string): Promise<string> {
  for (const folder of ['bin', 'tmp', 'etc', 'uploads', 'usr/bin']) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(agnhost, join(root, 'agnhost'));
  // The image of upstream has busybox's, which does not try again.
  writeFileSync(join(root, 'etc/wgetrc'), 'tries = 1\n');
  copyFileSync(await which('busybox'), join(root, 'bin/busybox'));
  for (const name of BUSYBOX_PROGRAMS) symlinkSync('busybox', join(root, 'bin', name));
  for (const [program, target] of TEST_PROGRAMS) {
    const path = await which(program);
    copyFileSync(path, join(root, target));
    for (const library of await librariesOf(path)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
  }
  return root;
}

function pauseRoot(root: string, busybox: string): string {
  mkdirSync(root, { recursive: true });
  copyFileSync(busybox, join(root, 'sleep')); // busybox acts by the name that it is called by
  return root;
}

async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run('ldd', [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
}

async function which(program: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', `command -v ${program}`]);
  return realpathSync(stdout.trim());
}

interface Image {
  name: string;
  /** Folder with its files. */
  root: string;
  entrypoint: string[];
  command?: string[];
}

/** Writes an image of one layer into the archive. @returns its entry in the manifest */
async function addImage(archive: string, { name, root, entrypoint, command }: Image): Promise<object> {
  const layer = join(archive, 'layer');
  await run('tar', ['-C', root, '--owner=0', '--group=0', '-cf', layer, '.']);
  const digest = sha256(readFileSync(layer));
  renameSync(layer, join(archive, `${digest}.tar`));
  const config = JSON.stringify({
    architecture: arch() === 'x64' ? 'amd64' : arch(),
    os: 'linux',
    config: { Entrypoint: entrypoint, ...(command === undefined ? {} : { Cmd: command }), Env: ['PATH=/usr/bin:/bin'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
  });
  const file = `${sha256(Buffer.from(config))}.json`;
  writeFileSync(join(archive, file), config);
  return { Config: file, RepoTags: [name], Layers: [`${digest}.tar`] };
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
