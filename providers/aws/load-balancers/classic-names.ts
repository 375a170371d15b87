/** Upstream's names of policies. */
const OURS = 'k8s-';
export const PROXY_POLICY = `${OURS}proxyprotocol-enabled`;

/** Upstream's name of the policy that follows one of AWS's. Pure. */
export function tlsPolicyName(reference: string): string {
  return `${OURS}SSLNegotiationPolicy-${reference}`;
}

/** Whether a policy is made here; AWS has some of its own on each load balancer. Pure. */
export function isOurPolicy(name: string): boolean {
  return name === PROXY_POLICY || name.startsWith(tlsPolicyName(''));
}

/** Names in the program: the parts of a load balancer have no tags that would tell them. Pure. */
export function policyName(loadBalancer: string, policy: string): string {
  return `${loadBalancer}-policy-${policy}`;
}

export function backendName(loadBalancer: string, instancePort: number): string {
  return `${loadBalancer}-backend-${instancePort}`;
}

export function listenerName(loadBalancer: string, port: number): string {
  return `${loadBalancer}-listener-${port}`;
}
