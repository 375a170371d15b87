import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { OperatorError } from '../../operator/base/errors';

/** Program → Debian's package. */
const PROGRAMS: Record<string, string> = {
  ip: 'iproute2',
  nft: 'nftables',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  busybox: 'busybox-static',
  'nc.openbsd': 'netcat-openbsd',
  curl: 'curl',
  wget: 'wget',
};
/** Where distributions, and containerd's own packages, put them. */
const CNI_FOLDERS = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];
const CNI_PLUGINS = ['ptp', 'host-local', 'loopback'];

/**
 * Looks whether this machine can have nodes.
 * @returns folder of the CNI plugins
 * @throws OperatorError Invalid that names all that is missing
 */
export function checkRequirements(): string {
  if (process.platform !== 'linux') throw new OperatorError('Invalid', `nodes need Linux, and this is ${process.platform}`);
  if (process.getuid?.() !== 0) throw new OperatorError('Invalid', 'nodes need root', { remedy: 'run it with sudo' });
  const missing = Object.entries(PROGRAMS).filter(([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  const plugins = CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((plugin) => existsSync(`${folder}/${plugin}`)));
  if (missing.length === 0 && plugins !== undefined) return plugins;
  const names = [...missing.map(([program]) => program), ...(plugins === undefined ? ['the CNI plugins'] : [])];
  const packages = new Set([...missing.map(([, name]) => name), ...(plugins === undefined ? ['containernetworking-plugins'] : [])]);
  throw new OperatorError('Invalid', `this machine lacks ${names.join(', ')}`, { remedy: `apt-get install ${[...packages].join(' ')}` });
}
