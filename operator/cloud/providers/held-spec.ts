import type { CloudProviderSpec } from '../../../crds';
import { canonicalJson } from '../../base/json';

/**
 * What holds of a CloudProvider until it is connected by its newest spec: the levers of that which keep something out of the cloud, or ask a person first, need
 * no connection, and a cloud that does not answer is when people reach for them. What they let go again waits for the connection (design section 4, Levers). Pure.
 * @param spec what it is connected by
 * @param asked what its object says by now
 * @returns `spec` itself where that holds as much already
 */
export function heldSpec(spec: CloudProviderSpec, asked: CloudProviderSpec): CloudProviderSpec {
  const { managementPolicy, updatePolicy, driftPolicy, deletionPolicy, maintenanceWindows } = asked;
  const held: CloudProviderSpec = {
    ...spec,
    freeze: spec.freeze || asked.freeze,
    ...(managementPolicy === 'Observe' && { managementPolicy }),
    ...(updatePolicy?.approval === 'Manual' && { updatePolicy }),
    ...(driftPolicy === 'Report' && { driftPolicy }),
    ...(deletionPolicy === 'Orphan' && { deletionPolicy }),
    ...(maintenanceWindows !== undefined && { maintenanceWindows }),
  };
  return canonicalJson(held) === canonicalJson(spec) ? spec : held;
}
