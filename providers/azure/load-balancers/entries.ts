import type { CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import { hashJson } from '../../../operator/base/json';
import { familyOf } from '../security-groups/security-rule';
import type { AzureInput, BalancerPlace } from './arguments';
import { BASE_LENGTH, frontendNameOf, publicIPNameOf } from './names';

/** The address of a frontend in one family: made for one load balancer, there already, or taken from a subnet. */
export type Entry = { family: IPFamily; /** Of the frontend. */ frontend: string } & (
  | { kind: 'Made'; /** Of the public address. */ name: string }
  | { kind: 'Named'; resourceGroup: string; by: { name: string } | { address: string } }
  | { kind: 'Private'; address?: string }
);

/**
 * The addresses of one load balancer, one in each family. One that is asked for may be asked for by several: they share its frontend, whose name is
 * made of it, so that it stays whoever of them goes. Pure.
 */
export function entriesOf(input: AzureInput, { settings }: BalancerPlace): Entry[] {
  return input.spec.ipFamilies.map((family): Entry => {
    const asked = addressOf(input, family);
    const frontend = frontendNameOf(input, family);
    if (input.spec.scheme === 'Internal') {
      if (asked === undefined) return { kind: 'Private', family, frontend };
      const subnet = input.spec.azure?.subnetName ?? settings.subnetName ?? '';
      return { kind: 'Private', family, frontend: sharedName('subnet', subnet, asked), address: asked };
    }
    const named = publicNameOf(input, family);
    if (named === undefined && asked === undefined) {
      return { kind: 'Made', family, frontend, name: publicIPNameOf(input, settings.clusterName, family) };
    }
    const resourceGroup = input.spec.azure?.publicIP?.resourceGroup ?? settings.resourceGroup;
    const by = named === undefined ? { address: asked ?? '' } : { name: named };
    return { kind: 'Named', family, frontend: sharedName('public', resourceGroup.toLowerCase(), named ?? asked ?? ''), resourceGroup, by };
  });
}

/** The name of the public address that is there, where one is named. Pure. */
export function publicNameOf({ spec }: Pick<AzureInput, 'spec'>, family: IPFamily): string | undefined {
  const { ipv4Name, ipv6Name } = spec.azure?.publicIP ?? {};
  return family === 'IPv6' ? ipv6Name : ipv4Name;
}

/** The address that is asked for in a family; undefined = Azure chooses. Pure. */
export function addressOf({ spec }: Pick<AzureInput, 'spec'>, family: IPFamily): string | undefined {
  const own = family === 'IPv6' ? spec.azure?.ipv6Address : spec.azure?.ipv4Address;
  return own ?? spec.addresses?.find((address) => familyOf(address) === family);
}

/** Addresses that exist only once, and that several may ask for, in words. Pure. */
export function placesOf(spec: CloudLoadBalancerSpec): string[] {
  const places = spec.ipFamilies.map((family) => {
    const name = publicNameOf({ spec }, family);
    return name === undefined ? addressOf({ spec }, family) : `public IP address ${name}`;
  });
  return places.filter((place) => place !== undefined);
}

/** In the form of those of one load balancer, by which parts of ours are known. */
function sharedName(...of: string[]): string {
  return `a${hashJson(of)}`.slice(0, BASE_LENGTH);
}
