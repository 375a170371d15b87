import type { AWS_SERVICES } from '../../../crds';
import type { IniSection } from './ini';

type AwsService = (typeof AWS_SERVICES)[number];

export interface EndpointOverride {
  service: AwsService;
  url: string;
  signingRegion: string;
  signingName?: string;
}

/** Names of services in overrides, in lower case; the short ones are those of upstream's releases before the SDK's version 2. */
const SERVICES: Readonly<Record<string, AwsService[]>> = {
  ec2: ['EC2'],
  'elastic load balancing': ['ElasticLoadBalancing'],
  'elastic load balancing v2': ['ElasticLoadBalancingV2'],
  elasticloadbalancing: ['ElasticLoadBalancing', 'ElasticLoadBalancingV2'],
  sts: ['STS'],
};
const VARIABLES = ['Service', 'Region', 'URL', 'SigningRegion', 'SigningMethod', 'SigningName'] as const;
type Variable = (typeof VARIABLES)[number];
type Override = Partial<Record<Variable, string>> & { id: string };

/**
 * The sections [ServiceOverride "n"] as endpoints. Pure.
 * @param region of the cloud; overrides of another region have no effect, as upstream has it
 * @throws Error in upstream's words
 */
export function overridesOf(sections: IniSection[], region: string | undefined): { endpoints: EndpointOverride[]; warnings: string[] } {
  const overrides = sections.filter(({ name }) => name === 'serviceoverride').map(read);
  const seen = new Set<string>();
  for (const override of overrides) check(override, seen);
  const warnings: string[] = [];
  const endpoints: EndpointOverride[] = [];
  for (const override of overrides) {
    const services = Object.hasOwn(SERVICES, override.Service?.toLowerCase() ?? '')
      ? SERVICES[override.Service?.toLowerCase() ?? '']
      : undefined;
    if (services === undefined) warnings.push(`ServiceOverride "${override.id}" has no effect: ${override.Service} is not called`);
    else if (region !== undefined && override.Region !== region) {
      warnings.push(`ServiceOverride "${override.id}" has no effect: it is for ${override.Region}, and the region is ${region}`);
    } else endpoints.push(...services.map((service) => endpointOf(service, override)));
  }
  const twice = endpoints.find(({ service }, index) => endpoints.findIndex((other) => other.service === service) !== index);
  if (twice !== undefined)
    throw new Error(`there are two overrides of ${twice.service} for several regions; set Region in [Global] to say which one holds`);
  return { endpoints, warnings };
}

function read({ subsection = '', entries, line }: IniSection): Override {
  if (subsection === '') throw new Error(`line ${line}: an override needs a name; write [ServiceOverride "1"]`);
  const override: Override = { id: subsection };
  for (const { key, value = '', line: at } of entries) {
    const variable = VARIABLES.find((name) => name.toLowerCase() === key.toLowerCase());
    if (variable === undefined)
      throw new Error(`line ${at}: there is no variable ${key} in [ServiceOverride]; known are ${VARIABLES.join(', ')}`);
    override[variable] = value.trim();
  }
  return override;
}

function check({ id, Service = '', Region = '', URL = '', SigningRegion = '' }: Override, seen: Set<string>): void {
  if (Service === '') throw new Error(`service name is missing [Service is ""] in override ${id}`);
  if (Region === '') throw new Error(`service region is missing [Region is ""] in override ${id}`);
  if (URL === '') throw new Error(`url is missing [URL is ""] in override ${id}`);
  if (SigningRegion === '') throw new Error(`signingRegion is missing [SigningRegion is ""] in override ${id}`);
  const signature = `${Service}_${Region}`;
  if (seen.has(signature)) throw new Error(`duplicate entry found for service override [${id}] (${Service} in ${Region})`);
  seen.add(signature);
}

function endpointOf(
  service: AwsService,
  { URL: url = '', SigningRegion: signingRegion = '', SigningName: signingName }: Override,
): EndpointOverride {
  return { service, url, signingRegion, ...(signingName === undefined || signingName === '' ? {} : { signingName }) };
}
