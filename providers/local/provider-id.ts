export const PROVIDER_ID_SCHEME = 'local';

/**
 * The instance id in a Node's providerID, `local:///<zone>/<id>`.
 * @returns undefined for another cloud's, or for one that can't be read
 */
export function instanceIDOf(providerID: string): string | undefined {
  return /^local:\/\/\/[^/]+\/([^/\s]+)$/.exec(providerID)?.[1];
}
