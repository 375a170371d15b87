import type { JsonObject } from '../../base/json';
import type { Cloud } from '../../../providers/provider';

/** A worker's settings with credentials that last as long as an update may take. @throws what the cloud refuses */
export async function freshSettings(cloud: Pick<Cloud, 'prepareUpdate' | 'workerSettings'>): Promise<JsonObject> {
  await cloud.prepareUpdate?.();
  return cloud.workerSettings();
}
