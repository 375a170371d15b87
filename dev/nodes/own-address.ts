import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { familyOf, widthOf } from '../../providers/local/cloud/data-plane/ip-range';

/** Gives an address to a link of this network namespace; no-op when it has it. */
export async function takeAddress(ip: string, link: string): Promise<void> {
  const family = familyOf(ip);
  const atOnce = family === 'IPv6' ? ['nodad'] : [];
  await promisify(execFile)('ip', ['address', 'replace', `${ip}/${widthOf(family)}`, 'dev', link, ...atOnce]);
}
