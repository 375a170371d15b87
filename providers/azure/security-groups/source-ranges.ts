import ipaddr from 'ipaddr.js';
import { maskedCIDR } from '../../../crds';
import { familyOf } from './security-rule';

/**
 * The fewest ranges that mean the same, in the order of their addresses: Azure refuses a rule with ranges that overlap
 * (OverlappingSubnetsNotPermittedInSecurityRule) or have bits beyond their mask (SecurityRuleInvalidAddressPrefix), and upstream names its rules by what
 * is left when those that lie within others or side by side are one (kubernetes-sigs/cloud-provider-azure#6807, #6995). Pure.
 * @param ranges CIDRs of one family
 */
export function fewestRanges(ranges: readonly string[]): string[] {
  const [first] = ranges;
  if (first === undefined) return [];
  const kept: string[] = [];
  // What lies within another one comes right after it.
  for (const bits of ranges.map(bitsOf).sort()) {
    const last = kept.at(-1);
    if (last !== undefined && bits.startsWith(last)) continue;
    kept.push(bits);
    joinHalves(kept);
  }
  const length = familyOf(first) === 'IPv6' ? 128 : 32;
  return kept.map((bits) => rangeOf(bits, length));
}

/** The last two, where they are the halves of one, and so on with that. */
function joinHalves(kept: string[]): void {
  for (;;) {
    const [one, other] = kept.slice(-2);
    if (one === undefined || other === undefined || one.slice(0, -1) !== other.slice(0, -1)) return;
    kept.splice(-2, 2, one.slice(0, -1));
  }
}

/** What all of its addresses begin with, in zeros and ones. */
function bitsOf(range: string): string {
  const [address, length] = ipaddr.parseCIDR(maskedCIDR(range));
  const bits = address.toByteArray().map((byte) => byte.toString(2).padStart(8, '0'));
  return bits.join('').slice(0, length);
}

function rangeOf(bits: string, length: 32 | 128): string {
  const all = bits.padEnd(length, '0');
  const bytes = Array.from({ length: length / 8 }, (_, index) => parseInt(all.slice(index * 8, index * 8 + 8), 2));
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits.length}`;
}
