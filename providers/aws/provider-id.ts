export const PROVIDER_ID_SCHEME = 'aws';

/**
 * The EC2 instance in a Node's providerID: `aws:///<zone>/i-…`, `aws:////i-…`, or the bare `i-…` of old kubelets.
 * @returns undefined for another cloud's, for a Fargate Node's, which has no instance, and for what can't be read
 */
export function instanceIDOf(providerID: string): string | undefined {
  return /^(?:aws:\/\/\/[^/\s]*\/)?(i-[0-9a-f]+)$/.exec(providerID)?.[1];
}

/** True for a Node of EKS Fargate: `aws:///<zone>/<id>/fargate-ip-…`. Pure. */
export function isFargate(providerID: string): boolean {
  return /^aws:\/\/\/.*\/fargate-[^/\s]+$/.test(providerID);
}
