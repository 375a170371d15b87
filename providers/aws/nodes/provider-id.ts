import { isIPv4 } from 'node:net';

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
  return fargateNameOf(providerID) !== undefined;
}

/**
 * The private IPv4 address in the providerID of a Fargate Node, which is all that tells its network interface: its last part is `fargate-` and the
 * address, or a name in DNS that begins with `ip-` and the address. Pure.
 */
export function fargateAddressOf(providerID: string): string | undefined {
  const name = fargateNameOf(providerID);
  if (name === undefined) return undefined;
  const address = name.startsWith('ip-') ? name.slice('ip-'.length).split('.')[0]?.replaceAll('-', '.') : name;
  return address !== undefined && isIPv4(address) ? address : undefined;
}

/** Old kubelets give the bare id of their instance. Pure. */
export function isBareInstanceID(providerID: string): boolean {
  return !providerID.includes(':') && instanceIDOf(providerID) !== undefined;
}

/** The zone in a Node's providerID; undefined where it names none. Pure. */
export function zoneOf(providerID: string): string | undefined {
  const zone = /^aws:\/\/\/([^/\s]*)\//.exec(providerID)?.[1];
  return zone === '' ? undefined : zone;
}

/**
 * What tells a machine of this region from others: an instance's id, or a Fargate Node's address. Undefined for what this region's API knows
 * nothing of. Pure.
 */
export function machineOf(providerID: string, region: string): string | undefined {
  const zone = zoneOf(providerID);
  // Zones, local zones and wavelength zones begin with their region.
  if (zone !== undefined && !zone.startsWith(region)) return undefined;
  return instanceIDOf(providerID) ?? fargateAddressOf(providerID);
}

function fargateNameOf(providerID: string): string | undefined {
  return /^aws:\/\/\/(?:[^\s]*\/)?fargate-([^/\s]+)$/.exec(providerID)?.[1];
}
