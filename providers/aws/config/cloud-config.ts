import type { CloudProviderSpecInput } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { overridesOf } from './cloud-config-overrides';
import { type IniSection, parseIni } from './ini';

/** What upstream's configuration file says, as far as it has a place in CloudProvider.spec. */
export interface CloudConfig {
  spec: Pick<CloudProviderSpecInput, 'region'> & { aws: NonNullable<CloudProviderSpecInput['aws']> };
  /** What it says without effect, in words. */
  warnings: string[];
}

/** Variables of [Global], as upstream's documentation writes them; they are the same in capitals or not. */
const GLOBAL = [
  'Zone',
  'Region',
  'VPC',
  'SubnetID',
  'RouteTableID',
  'RoleARN',
  'SourceARN',
  'KubernetesClusterTag',
  'KubernetesClusterID',
  'DisableSecurityGroupIngress',
  'ElbSecurityGroup',
  'NodeIPFamilies',
  'ClusterServiceLoadBalancerHealthProbeMode',
  'ClusterServiceSharedLoadBalancerHealthProbePort',
  'ClusterServiceSharedLoadBalancerHealthProbePath',
  'SupportedTopologyInstanceTypePattern',
  'NLBSecurityGroupMode',
] as const;

/** The one that may stand there several times is a list; of the others the last counts. */
type Values = Partial<Record<Exclude<(typeof GLOBAL)[number], 'NodeIPFamilies'>, string>> & { NodeIPFamilies?: string[] };

/** True for a text in the form of upstream's file, and not a CloudProvider.spec in YAML. Pure. */
export function isCloudConfig(text: string): boolean {
  const first = text.split('\n').find((line) => !/^\s*([#;].*)?$/.test(line));
  return first !== undefined && /^\s*\[\s*(global|serviceoverride)\b/i.test(first);
}

/**
 * Reads the configuration file of cloud-provider-aws. Pure.
 * @throws OperatorError Invalid naming the line or variable; what upstream refuses is refused in its words
 */
export function parseCloudConfig(text: string): CloudConfig {
  try {
    const sections = parseIni(text);
    const stranger = sections.find(({ name }) => name !== 'global' && name !== 'serviceoverride');
    if (stranger !== undefined)
      throw new Error(`line ${stranger.line}: there is no section [${stranger.name}]; known are [Global] and [ServiceOverride "n"]`);
    return specOf(globalOf(sections), sections);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError('Invalid', (cause as Error).message, { cause });
  }
}

/** An empty value counts as absent, as upstream has it; a variable that is only named is true. */
function globalOf(sections: IniSection[]): Values {
  const values: Values = {};
  for (const { key, value = 'true', line } of sections.filter(({ name }) => name === 'global').flatMap(({ entries }) => entries)) {
    const known = GLOBAL.find((name) => name.toLowerCase() === key.toLowerCase());
    if (known === undefined) throw new Error(`line ${line}: there is no variable ${key} in [Global]; known are ${GLOBAL.join(', ')}`);
    if (known === 'NodeIPFamilies') values[known] = value === '' ? [] : [...(values[known] ?? []), value];
    else if (value === '') delete values[known];
    else values[known] = value;
  }
  return values;
}

function specOf(global: Values, sections: IniSection[]): CloudConfig {
  const region = global.Region ?? regionOfZone(global.Zone);
  const { endpoints, warnings } = overridesOf(sections, region);
  if (global.SourceARN !== undefined && global.RoleARN === undefined) warnings.push('SourceARN has no effect without RoleARN');
  const disabled = bool('DisableSecurityGroupIngress', global.DisableSecurityGroupIngress);
  const aws: CloudConfig['spec']['aws'] = {
    ...given('vpcID', global.VPC),
    ...clusterOf(global),
    ...given('fallbackSubnetID', global.SubnetID),
    ...given('routeTableIDs', global.RouteTableID === undefined ? undefined : [global.RouteTableID]),
    ...given('nodeIPFamilies', familiesOf(global.NodeIPFamilies)),
    ...given('nodeRules', disabled ? ('None' as const) : undefined),
    ...given('networkSecurityGroups', groupModeOf(global.NLBSecurityGroupMode)),
    ...given('classicSecurityGroupID', global.ElbSecurityGroup),
    ...given('healthProbe', healthProbeOf(global)),
    ...given('topologyInstanceTypes', patternOf(global.SupportedTopologyInstanceTypePattern)),
    ...given('assumeRole', roleOf(global)),
    ...given('endpoints', endpoints.length === 0 ? undefined : endpoints),
  };
  return { spec: { ...given('region', region), aws }, warnings };
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}

/** `eu-west-1a` is in `eu-west-1`; of local and wavelength zones (`us-west-2-lax-1a`) the region is what comes before the place. */
function regionOfZone(zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  const region = /^[a-z]+(-[a-z]+)+-[0-9]+(?=[a-z]$|-)/.exec(zone)?.[0];
  if (region === undefined) throw new Error(`Zone: "${zone}" is no availability zone; write for example eu-west-1a, or Region instead`);
  return region;
}

function clusterOf({
  KubernetesClusterTag: legacy,
  KubernetesClusterID: name,
}: Values): Pick<CloudConfig['spec']['aws'], 'clusterName' | 'legacyClusterTag'> {
  if (legacy !== undefined && name !== undefined && legacy !== name)
    throw new Error(`clusterID tags did not match: "${name}" vs "${legacy}"`);
  if (legacy !== undefined) return { clusterName: legacy, legacyClusterTag: true };
  return given('clusterName', name);
}

function familiesOf(texts: string[] | undefined): ('IPv4' | 'IPv6')[] | undefined {
  if (texts === undefined || texts.length === 0) return undefined;
  return texts.map((text) => {
    if (text === 'ipv4') return 'IPv4';
    if (text === 'ipv6') return 'IPv6';
    throw new Error(`NodeIPFamilies: "${text}" is not known; write ipv4 or ipv6, each on a line of its own`);
  });
}

function groupModeOf(text: string | undefined): 'Managed' | undefined {
  if (text === undefined || text === 'Managed') return text;
  throw new Error(`invalid NLB security group mode: "${text}". Expected: "Managed"`);
}

function healthProbeOf(global: Values): CloudConfig['spec']['aws']['healthProbe'] {
  const mode = probeModeOf(global.ClusterServiceLoadBalancerHealthProbeMode);
  const port = global.ClusterServiceSharedLoadBalancerHealthProbePort;
  const path = global.ClusterServiceSharedLoadBalancerHealthProbePath;
  if (port !== undefined && !/^[0-9]{1,5}$/.test(port)) {
    throw new Error(`ClusterServiceSharedLoadBalancerHealthProbePort: "${port}" is no port; write for example 10256`);
  }
  if (mode === undefined && port === undefined && path === undefined) return undefined;
  return { ...given('mode', mode), ...given('port', port === undefined ? undefined : Number(port)), ...given('path', path) };
}

function probeModeOf(text: string | undefined): 'Shared' | 'ServiceNodePort' | undefined {
  if (text === undefined || text === 'Shared' || text === 'ServiceNodePort') return text;
  throw new Error(`ClusterServiceLoadBalancerHealthProbeMode: "${text}" is not known; write Shared or ServiceNodePort`);
}

function patternOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    new RegExp(text);
    return text;
  } catch (cause) {
    throw new Error(`SupportedTopologyInstanceTypePattern: ${(cause as Error).message}`, { cause });
  }
}

function roleOf({ RoleARN: roleARN, SourceARN: sourceARN }: Values): CloudConfig['spec']['aws']['assumeRole'] {
  return roleARN === undefined ? undefined : { roleARN, ...given('sourceARN', sourceARN) };
}

/** What gcfg takes for a truth value. */
function bool(name: string, text: string | undefined): boolean {
  const lower = text?.toLowerCase() ?? 'false';
  if (['true', 'yes', 'on', '1'].includes(lower)) return true;
  if (['false', 'no', 'off', '0'].includes(lower)) return false;
  throw new Error(`${name}: "${text}" is neither true nor false`);
}
