import { realpathSync, mkdirSync } from 'node:fs';
import type { Logger } from '../../../../operator/base/log';
import type { DataPlane } from '../data-plane';
import { claimNumber } from './cloud-number';
import { LoopbackDataPlane } from './loopback';

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
export async function createDataPlane(
  tier: 'auto' | 'vpc-root' | 'vpc-userns' | 'loopback',
  options: DataPlaneOptions,
): Promise<DataPlane> {
  mkdirSync(options.directory, { recursive: true });
  const directory = realpathSync(options.directory);
  const { claim } = claimNumber(directory, options.id, () => true);
  return Promise.resolve(new LoopbackDataPlane(claim, `loopback: ${tier}`, options.logger));
}
