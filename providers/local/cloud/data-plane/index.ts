import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import type { Logger } from '../../../../operator/base/log';
import type { DataPlane } from '../data-plane';
import { overlaps, vpcPlan } from './address-plan';
import { CloudNumbers } from './cloud-number';
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
}

/**
 * Prepares a data plane; nothing runs before `start()`.
 * @param tier `auto` = the best that works here, found by trying
 * @throws OperatorError Invalid when the asked tier does not work here, Conflict when another process runs the cloud of this folder
 */
export async function createDataPlane(tier: 'auto' | Tier, options: DataPlaneOptions): Promise<DataPlane> {
  const { logger, id } = options;
  mkdirSync(options.directory, { recursive: true });
  const directory = realpathSync(options.directory);
  const choice = chooseTier(tier);
  const numbers = new CloudNumbers();
  if (choice.tier === 'vpc-root') for (const claim of numbers.ended()) await removeLeftovers(claim.id);
  const taken = choice.tier === 'vpc-root' ? hostRanges() : [];
  const usable = (number: number): boolean => !taken.some((range) => overlaps(range, vpcPlan(number).loadBalancerCIDR));
  const claim = numbers.claim({ directory, usable, ...(id !== undefined && { id }) });
  const release = (): void => numbers.release(claim);
  if (choice.tier === 'loopback') return new LoopbackDataPlane({ claim, release, reason: choice.reason, logger });
  return new VpcDataPlane(choice.tier, { claim, release, reason: choice.reason, logger });
}

/** IPv4 ranges that this machine has routes for, the default route aside: a cloud must not hide them. */
function hostRanges(): string[] {
  const { stdout } = spawnSync('ip', ['-4', '-json', 'route', 'show'], { encoding: 'utf8' });
  const routes = JSON.parse(stdout) as { dst: string }[];
  return routes.flatMap(({ dst }) => (dst === 'default' ? [] : [dst.includes('/') ? dst : `${dst}/32`]));
}
