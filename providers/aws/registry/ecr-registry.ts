/** A registry of ECR by its host, and where its credentials are asked for. */
export interface EcrRegistry {
  service: 'ecr' | 'ecr-public';
  region: string;
  /** Of the API. */
  url: string;
  /** Of the region's STS. */
  stsURL: string;
}

/**
 * Domains of AWS's partitions, by what stands behind the region in the names of registries: the APIs' own (`legacy`) and those that are reached by
 * IPv6 too (`dualStack`). docs.aws.amazon.com, "Amazon ECR endpoints and quotas".
 */
const DOMAINS: Readonly<Record<string, { legacy: string; dualStack?: string }>> = {
  'amazonaws.com': { legacy: 'amazonaws.com' },
  'amazonaws.com.cn': { legacy: 'amazonaws.com.cn' },
  'amazonaws.eu': { legacy: 'amazonaws.eu' },
  'c2s.ic.gov': { legacy: 'c2s.ic.gov' },
  'sc2s.sgov.gov': { legacy: 'sc2s.sgov.gov' },
  'cloud.adc-e.uk': { legacy: 'cloud.adc-e.uk' },
  'csp.hci.ic.gov': { legacy: 'csp.hci.ic.gov' },
  'on.aws': { legacy: 'amazonaws.com', dualStack: 'api.aws' },
  'on.amazonwebservices.com.cn': { legacy: 'amazonaws.com.cn', dualStack: 'api.amazonwebservices.com.cn' },
};

const PRIVATE = /^\d{12}\.dkr[.-]ecr(-fips)?\.([a-z0-9][a-z0-9-]*)\.([a-z0-9.-]+)$/;

/** All public registries share one, which is in one region. */
const PUBLIC: Readonly<Record<string, string>> = {
  'public.ecr.aws': 'https://api.ecr-public.us-east-1.amazonaws.com',
  'ecr-public.aws.com': 'https://ecr-public.us-east-1.api.aws',
};

/** What a host is of ECR; undefined = nothing. Requests go to AWS only, whatever a Pod writes. Pure. */
export function ecrRegistryOf(host: string): EcrRegistry | undefined {
  if (Object.hasOwn(PUBLIC, host)) {
    return { service: 'ecr-public', region: 'us-east-1', url: PUBLIC[host] ?? '', stsURL: 'https://sts.us-east-1.amazonaws.com' };
  }
  const [, fips = '', region = '', domain = ''] = PRIVATE.exec(host) ?? [];
  const known = Object.hasOwn(DOMAINS, domain) ? DOMAINS[domain] : undefined;
  if (known === undefined) return undefined;
  const { legacy, dualStack } = known;
  const api = fips === '' && dualStack === undefined ? 'api.ecr' : `ecr${fips}`;
  return { service: 'ecr', region, url: `https://${api}.${region}.${dualStack ?? legacy}`, stsURL: `https://sts.${region}.${legacy}` };
}
