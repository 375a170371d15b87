import type { Logger } from '../../../../operator/base/log';
import type { Claim } from './cloud-number';

/** What the data planes of all tiers are made from. */
export interface DataPlaneParts {
  claim: Claim;
  /** Gives the claim back; called when everything is down. */
  release: () => void;
  /** Why this tier, in one line for people. */
  reason: string;
  logger: Logger;
  /** As of DataPlaneOptions. */
  namespace?: string;
}
