import type { JsonObject } from '../../../operator/base/json';
import type { PluginVariable } from '../../worker-module';
import { parseAwsSettings } from '../client/settings';

/** WorkerModule.pluginVariables: what the official plugin reads, as every AWS SDK does. Pure. */
export function pluginVariables(settings: JsonObject): PluginVariable[] {
  const { region, credentials, endpoints, useFIPSEndpoints, useDualStackEndpoints } = parseAwsSettings(settings);
  const optional = (name: string, value: string | undefined): PluginVariable[] => (value === undefined ? [] : [{ name, value }]);
  const secret = (name: string, value: string | undefined): PluginVariable[] =>
    value === undefined ? [] : [{ name, value, secret: true }];
  return [
    { name: 'AWS_REGION', value: region },
    ...optional('AWS_ACCESS_KEY_ID', credentials?.accessKeyId),
    ...secret('AWS_SECRET_ACCESS_KEY', credentials?.secretAccessKey),
    ...secret('AWS_SESSION_TOKEN', credentials?.sessionToken),
    ...optional('AWS_ENDPOINT_URL_EC2', endpoints?.EC2),
    ...optional('AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING', endpoints?.ElasticLoadBalancing),
    ...optional('AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2', endpoints?.ElasticLoadBalancingV2),
    ...optional('AWS_USE_FIPS_ENDPOINT', useFIPSEndpoints === true ? 'true' : undefined),
    ...optional('AWS_USE_DUALSTACK_ENDPOINT', useDualStackEndpoints === true ? 'true' : undefined),
  ];
}
