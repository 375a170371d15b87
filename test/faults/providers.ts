import type { ProviderName } from './world';

export const SOCKET = 'cloud.sock';
/** All operators read the same CloudProviders: each finds its own proxy by this, because each runs in a folder of its own. */
export const CLOUD_ENDPOINT = `unix:/proc/self/cwd/${SOCKET}`;
/** Label of Nodes that says whose they are. */
export const OWNER_LABEL = 'faults.test/provider';

/** What a CloudProvider's spec says beside where its cloud is: periodic work helps nobody here, and what was replaced goes within a round. */
export function providerSettings(name: ProviderName): Record<string, unknown> {
  return { driftInterval: '1h', routePeriod: '1h', retireAfter: '1s', nodeSelector: { [OWNER_LABEL]: name } };
}
