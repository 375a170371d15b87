/** Domains of AWS's hosts in a partition: the usual one, and that of hosts which IPv6 reaches too. */
interface Domains {
  usual: string;
  dualStack: string;
}

const USUAL: Domains = { usual: 'amazonaws.com', dualStack: 'api.aws' };

/** The partitions beside the usual one, by what the names of their regions begin with. */
const DOMAINS: readonly [string, Domains][] = [
  ['cn-', { usual: 'amazonaws.com.cn', dualStack: 'api.amazonwebservices.com.cn' }],
  ['us-iso-', { usual: 'c2s.ic.gov', dualStack: 'api.aws.ic.gov' }],
  ['us-isob-', { usual: 'sc2s.sgov.gov', dualStack: 'api.aws.scloud' }],
  ['us-isof-', { usual: 'csp.hci.ic.gov', dualStack: 'api.aws.hci.ic.gov' }],
  ['eu-isoe-', { usual: 'cloud.adc-e.uk', dualStack: 'api.cloud-aws.adc-e.uk' }],
  ['eusc-', { usual: 'amazonaws.eu', dualStack: 'api.amazonwebservices.eu' }],
];

/** Which of AWS's hosts are spoken to. */
export interface HostKind {
  /** With FIPS 140 validated cryptography. */
  fips: boolean;
  /** By IPv4 and IPv6. */
  dualStack: boolean;
}

/** Where the region's STS is. docs.aws.amazon.com, "AWS Security Token Service endpoints and quotas"; that of GovCloud is one with FIPS. Pure. */
export function stsURLOf(region: string, { fips, dualStack }: HostKind): string {
  const domains = DOMAINS.find(([prefix]) => region.startsWith(prefix))?.[1] ?? USUAL;
  const isSaid = fips && (dualStack || !region.startsWith('us-gov-'));
  return `https://sts${isSaid ? '-fips' : ''}.${region}.${dualStack ? domains.dualStack : domains.usual}`;
}
