import { OperatorError } from '../../base/errors';
import { type Cidr, parseCidr, touches } from '../cidr';

/**
 * Reads `--cluster-cidr`; an empty list holds every route.
 * @throws OperatorError Invalid on text that is no CIDR, on more than two, or on two of one family (contract 5.1)
 */
export function parseClusterCidrs(texts: readonly string[]): Cidr[] {
  const cidrs = texts.map((text) => {
    const cidr = parseCidr(text.trim());
    if (cidr === undefined) throw new OperatorError('Invalid', `cluster CIDR "${text}" is not a CIDR; write for example 10.244.0.0/16`);
    return cidr;
  });
  if (cidrs.length > 2 || (cidrs.length === 2 && cidrs[0]?.family === cidrs[1]?.family)) {
    throw new OperatorError('Invalid', `cluster CIDRs ${texts.join(',')}: at most one of each family is allowed`);
  }
  return cidrs;
}

/** Contract 5.3: ours only when its first or last address lies in a cluster CIDR. What can't be parsed is not ours. */
export function isResponsible(clusterCidrs: readonly Cidr[], destination: string): boolean {
  const cidr = parseCidr(destination);
  return cidr !== undefined && (clusterCidrs.length === 0 || clusterCidrs.some((cluster) => touches(cluster, cidr)));
}
