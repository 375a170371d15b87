import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import type { Logger } from '../../../../operator/base/log';
import type { DataPlane } from '../data-plane';
import { vpcPlan } from './address-plan';
import { CloudNumbers } from './cloud-number';
import { familyOf, overlaps, widthOf } from './ip-range';
import { LoopbackDataPlane } from './loopback';
import { chooseTier, type Tier } from './tier';
import { removeLeftovers } from './vpc/namespaces';
import { VpcDataPlane } from './vpc/vpc-data-plane';

export type { Tier };

export interface DataPlaneOptions {
  /** The cloud's folder: its number, and with it its addresses, stay with it. Made if absent. */
  directory: string;
  logger: Logger;
  /** Short name for what is made in the kernel, up to 8 letters and digits; absent = derived from the folder. */
  id?: string;
  /** Path of the network namespace that the tier netns works in. */
  namespace?: string;
}

/**
 * Prepares a data plane; nothing runs before `start()`.
 * @param tier `auto` = the best that works here, found by trying
 * @throws OperatorError Invalid when the asked tier does not work here, Conflict when another process runs the cloud of this folder
 */
export async function createDataPlane(tier: 'auto' | Tier, options: DataPlaneOptions): Promise<DataPlane> {
  const { logger, id, namespace } = options;
  mkdirSync(options.directory, { recursive: true });
  const directory = realpathSync(options.directory);
  const choice = chooseTier(tier);
  const numbers = new CloudNumbers();
  if (choice.tier === 'vpc-root') await removeLeftoversOfOthers(numbers);
  const taken = choice.tier === 'vpc-root' ? hostRanges() : [];
  const usable = (number: number): boolean => {
    const { loadBalancerCIDR, ipv6 } = vpcPlan(number);
    return !taken.some((range) => overlaps(range, loadBalancerCIDR) || overlaps(range, ipv6.loadBalancerCIDR));
  };
  const claim = numbers.claim({ directory, usable, ...(id !== undefined && { id }) });
  const release = (): void => numbers.release(claim);
  if (choice.tier === 'loopback') return new LoopbackDataPlane({ claim, release, reason: choice.reason, logger });
  return new VpcDataPlane(choice.tier, { claim, release, reason: choice.reason, logger, ...(namespace !== undefined && { namespace }) });
}

/** Asked anew before each: one that has been started again meanwhile must keep what it makes. */
async function removeLeftoversOfOthers(numbers: CloudNumbers): Promise<void> {
  for (const { id } of numbers.ended()) {
    if (numbers.ended().some((claim) => claim.id === id)) await removeLeftovers(id);
  }
}

/** Ranges that this machine has routes for, the default route aside: a cloud must not hide them. */
function hostRanges(): string[] {
  return ['-4', '-6'].flatMap((family) => {
    const { stdout } = spawnSync('ip', [family, '-json', 'route', 'show'], { encoding: 'utf8' });
    const routes = JSON.parse(stdout.trim() === '' ? '[]' : stdout) as { dst: string }[];
    return routes.flatMap(({ dst }) => (dst === 'default' ? [] : [dst.includes('/') ? dst : `${dst}/${widthOf(familyOf(dst))}`]));
  });
}
