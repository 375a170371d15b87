import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { ArmError } from '../../../providers/azure/client/arm-error';
import type { ArmServer } from '../../harness/arm/arm-server';
import { RULES } from '../../harness/arm/rules';
import { clientOf, connect, LOCATION, networkID, startScene } from '../../harness/arm/scene';

/** One write that Azure refuses, and what there must be before it. */
interface Row {
  rule: string;
  /** Where Azure's rule is written down, or was seen. `model` = the rule is, but Azure's code for it is not: the model has one of its own. */
  source: string;
  given?: [id: string, body: object][];
  before?: (server: ArmServer) => void;
  put?: [id: string, body: object];
  remove?: string;
  code: string;
  /** A write that differs in what the rule is about, and is carried out. */
  allowed?: [id: string, body: object];
}

const learn = 'learn.microsoft.com, ';
const pip = (name: string): string => networkID('publicIPAddresses', name);
const lb = (name: string): string => networkID('loadBalancers', name);
const subnet = (name: string): { id: string } => ({ id: networkID('virtualNetworks', 'net', 'subnets', name) });
const address = (properties: object = {}, sku = 'Standard'): object => ({ location: LOCATION, sku: { name: sku }, properties });
const group = (...securityRules: object[]): object => ({ location: LOCATION, properties: { securityRules } });
const table = (...routes: object[]): object => ({ location: LOCATION, properties: { routes } });

const ADDRESSES = {
  loadBalancerBackendAddresses: [
    { name: 'n', properties: { ipAddress: '10.0.0.9', virtualNetwork: { id: networkID('virtualNetworks', 'net') } } },
  ],
};

interface BalancerOptions {
  /** Properties of its pool. */
  pool?: object;
  frontends?: object[];
  rules?: object[];
  probes?: object[];
}

function balancer({
  pool = {},
  frontends = [frontend('a', { subnet: subnet('nodes') })],
  rules = [],
  probes = [],
}: BalancerOptions = {}): object {
  const properties = {
    frontendIPConfigurations: frontends,
    backendAddressPools: [{ name: 'nodes', properties: pool }],
    loadBalancingRules: rules,
    probes,
  };
  return { location: LOCATION, sku: { name: 'Standard' }, properties };
}

function frontend(name: string, properties: object): object {
  return { name, properties };
}

function rule(name: string, properties: object = {}, at = 'a'): object {
  const ports = { protocol: 'Tcp', frontendPort: 80, backendPort: 80, enableFloatingIP: true };
  const frontendIPConfiguration = { id: `${lb('lb')}/frontendIPConfigurations/${at}` };
  const backendAddressPool = { id: `${lb('lb')}/backendAddressPools/nodes` };
  return { name, properties: { ...ports, frontendIPConfiguration, backendAddressPool, ...properties } };
}

function allow(name: string, properties: object = {}): object {
  const form = { access: 'Allow', direction: 'Inbound', protocol: 'Tcp', sourceAddressPrefix: 'Internet', destinationPortRange: '80' };
  return { name, properties: { ...form, sourcePortRange: '*', destinationAddressPrefix: '20.1.0.1', priority: 500, ...properties } };
}

function allowFrom(...sourceAddressPrefixes: string[]): object {
  return allow('r', { sourceAddressPrefix: undefined, sourceAddressPrefixes });
}

function route(name: string, properties: object = {}): object {
  return {
    name,
    properties: { addressPrefix: '10.244.0.0/24', nextHopType: 'VirtualAppliance', nextHopIpAddress: '10.0.0.4', ...properties },
  };
}

const publicFrontends = (...names: string[]): object[] => names.map((name) => frontend(name, { publicIPAddress: { id: pip('web') } }));
const internal = (name: string, at: string, privateIPAddress: string): object =>
  frontend(name, { subnet: subnet(at), privateIPAddress, privateIPAllocationMethod: 'Static' });

const ROWS: Row[] = [
  {
    rule: 'resourceGroup',
    source: `${learn}"Resolve errors for resource not found"`,
    put: [pip('web').replace('/cluster/', '/other/'), address()],
    code: 'ResourceGroupNotFound',
    allowed: [pip('web'), address()],
  },
  {
    rule: 'permission',
    source: `${learn}"Troubleshoot Azure RBAC"`,
    before: ({ cloud }) => cloud.forbidden.set('cluster', 'Microsoft.Network/publicIPAddresses/write'),
    put: [pip('web'), address()],
    code: 'AuthorizationFailed',
    allowed: [networkID('routeTables', 'rt'), table()],
  },
  {
    rule: 'lock',
    source: `${learn}"Lock your resources to protect your infrastructure"`,
    before: ({ cloud }) => cloud.locks.set('cluster', 'ReadOnly'),
    put: [pip('web'), address()],
    code: 'ScopeLocked',
  },
  {
    rule: 'lock',
    source: `${learn}"Lock your resources to protect your infrastructure"`,
    given: [[pip('web'), address()]],
    before: ({ cloud }) => cloud.locks.set('cluster', 'CanNotDelete'),
    remove: pip('web'),
    code: 'ScopeLocked',
    allowed: [pip('other'), address()],
  },
  {
    rule: 'policy',
    source: `${learn}"Resolve errors for request disallowed by policy"`,
    before: ({ cloud }) => cloud.policies.set('microsoft.network/publicipaddresses', 'no-public-addresses'),
    put: [pip('web'), address()],
    code: 'RequestDisallowedByPolicy',
    allowed: [networkID('routeTables', 'rt'), table()],
  },
  {
    rule: 'anotherOperation',
    source: 'pulumi/pulumi-azure-native#903; longer than a call may take',
    before: ({ cloud }) => cloud.busy.set(pip('web').toLowerCase(), { times: 1, retryAfterS: 60 }),
    put: [pip('web'), address()],
    code: 'AnotherOperationInProgress',
    allowed: [pip('other'), address()],
  },
  {
    rule: 'immutable',
    source: `${learn}"Resolve errors for resource provider registration and others": PropertyChangeNotAllowed`,
    given: [[pip('web'), address()]],
    put: [pip('web'), address({}, 'Basic')],
    code: 'PropertyChangeNotAllowed',
    allowed: [pip('web'), address({ idleTimeoutInMinutes: 5 })],
  },
  {
    rule: 'zonesStay',
    source: 'Azure/azure-powershell#14326',
    given: [[lb('lb'), balancer({ frontends: [{ ...frontend('a', { subnet: subnet('nodes') }), zones: ['1', '2', '3'] }] })]],
    put: [lb('lb'), balancer()],
    code: 'ResourceAvailabilityZonesCannotBeModified',
    allowed: [
      lb('lb'),
      balancer({ frontends: [{ ...frontend('a', { subnet: subnet('nodes') }), zones: ['1', '2', '3'] }], rules: [rule('r')] }),
    ],
  },
  {
    rule: 'zonesStay',
    source: `${learn}"Public IP addresses": availability zone`,
    given: [[pip('web'), { ...address(), zones: ['1', '2', '3'] }]],
    put: [pip('web'), address()],
    code: 'ResourceAvailabilityZonesCannotBeModified',
    allowed: [pip('web'), { ...address({ idleTimeoutInMinutes: 5 }), zones: ['1', '2', '3'] }],
  },
  {
    rule: 'tagNames',
    source: `${learn}"Use tags to organize your Azure resources"`,
    put: [pip('web'), { location: LOCATION, tags: { 'a/b': 'c' } }],
    code: 'InvalidTagNameCharacters',
    allowed: [pip('web'), { location: LOCATION, tags: { 'a.b-c': 'd' } }],
  },
  {
    rule: 'tagNames',
    source: `${learn}"Use tags to organize your Azure resources": no letter case`,
    put: [pip('web'), { location: LOCATION, tags: { team: 'net', Team: 'web' } }],
    code: 'InvalidRequestContent',
  },
  {
    rule: 'partNames',
    source: `${learn}"Naming rules and restrictions for Azure resources"`,
    put: [lb('lb'), balancer({ rules: [rule('a'.repeat(81))] })],
    code: 'InvalidResourceName',
    allowed: [lb('lb'), balancer({ rules: [rule('a'.repeat(80))] })],
  },
  {
    rule: 'partNames',
    source: 'model: names are ids, so that two parts can not have one',
    put: [networkID('routeTables', 'rt'), table(route('n'), route('N', { addressPrefix: '10.244.1.0/24' }))],
    code: 'InvalidRequestFormat',
  },
  {
    rule: 'referencesExist',
    source: 'hashicorp/terraform-provider-azurerm and others: InvalidResourceReference',
    put: [lb('lb'), balancer({ frontends: publicFrontends('a') })],
    code: 'InvalidResourceReference',
  },
  {
    rule: 'referencesExist',
    source: 'the same, of a part of the resource itself',
    put: [lb('lb'), balancer({ rules: [rule('r', { probe: { id: `${lb('lb')}/probes/none` } })] })],
    code: 'InvalidResourceReference',
    allowed: [
      lb('lb'),
      balancer({
        rules: [rule('r', { probe: { id: `${lb('lb')}/probes/p` } })],
        probes: [{ name: 'p', properties: { protocol: 'Tcp', port: 80 } }],
      }),
    ],
  },
  {
    rule: 'inUse',
    source: 'hashicorp/terraform-provider-azurerm#2566, #17885',
    given: [
      [pip('web'), address()],
      [lb('lb'), balancer({ frontends: publicFrontends('a') })],
    ],
    remove: pip('web'),
    code: 'PublicIPAddressCannotBeDeleted',
  },
  {
    rule: 'subnetInUse',
    source: `${learn}"Troubleshoot: Failed to delete a virtual network in Azure"`,
    given: [[lb('lb'), balancer()]],
    remove: subnet('nodes').id,
    code: 'InUseSubnetCannotBeDeleted',
  },
  {
    rule: 'publicAddressOnce',
    source: 'hashicorp/terraform-provider-azurerm: PublicIPAddressInUse',
    given: [
      [pip('web'), address()],
      [lb('lb'), balancer({ frontends: publicFrontends('a') })],
    ],
    put: [lb('lb2'), balancer({ frontends: publicFrontends('a') })],
    code: 'PublicIPAddressInUse',
    allowed: [lb('lb'), balancer({ frontends: publicFrontends('b') })],
  },
  {
    rule: 'publicAddressOnce',
    source: 'kubernetes/kubernetes#54961',
    given: [[pip('web'), address()]],
    put: [lb('lb'), balancer({ frontends: publicFrontends('a', 'b') })],
    code: 'PublicIPReferencedByMultipleIPConfigs',
  },
  {
    rule: 'publicAddressLimit',
    source: `${learn}"Azure subscription and service limits": public IP addresses; code of Azure/acs-engine and others`,
    before: ({ cloud }) => (cloud.limits.publicAddresses = 1),
    given: [[pip('web'), address()]],
    put: [pip('other'), address()],
    code: 'PublicIPCountLimitReached',
    allowed: [pip('web'), address({ idleTimeoutInMinutes: 5 })],
  },
  {
    rule: 'matchingSKU',
    source: `model: ${learn}"Public IP addresses": a public address and its load balancer have one SKU`,
    given: [[pip('web'), address({}, 'Basic')]],
    put: [lb('lb'), balancer({ frontends: publicFrontends('a') })],
    code: 'DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed',
  },
  {
    rule: 'dnsLabelOnce',
    source: 'kubernetes-sigs/cloud-provider-azure and others: DnsRecordInUse',
    given: [[pip('web'), address({ dnsSettings: { domainNameLabel: 'shop' } })]],
    put: [pip('other'), address({ dnsSettings: { domainNameLabel: 'shop' } })],
    code: 'DnsRecordInUse',
    allowed: [pip('other'), address({ dnsSettings: { domainNameLabel: 'web' } })],
  },
  {
    rule: 'privateAddress',
    source: `${learn}"Troubleshoot common Azure deployment errors": PrivateIPAddressNotInSubnet`,
    put: [lb('lb'), balancer({ frontends: [internal('a', 'small', '10.0.9.4')] })],
    code: 'PrivateIPAddressNotInSubnet',
    allowed: [lb('lb'), balancer({ frontends: [internal('a', 'small', '10.0.1.4')] })],
  },
  {
    rule: 'privateAddress',
    source: 'seen in a network interface that was refused: PrivateIPAddressIsAllocated',
    given: [[lb('lb'), balancer({ frontends: [internal('a', 'small', '10.0.1.4')] })]],
    put: [lb('lb2'), balancer({ frontends: [internal('a', 'small', '10.0.1.4')] })],
    code: 'PrivateIPAddressIsAllocated',
  },
  {
    rule: 'subnetRoom',
    source: `${learn}"Azure Virtual Network FAQ": five addresses of a subnet are Azure's; SubnetIsFull`,
    put: [lb('lb'), balancer({ frontends: ['a', 'b', 'c', 'd'].map((name) => frontend(name, { subnet: subnet('small') })) })],
    code: 'SubnetIsFull',
    allowed: [lb('lb'), balancer({ frontends: ['a', 'b', 'c'].map((name) => frontend(name, { subnet: subnet('small') })) })],
  },
  {
    rule: 'ruleValues',
    source: `${learn}"Azure Load Balancer TCP Reset and idle timeout"`,
    put: [lb('lb'), balancer({ rules: [rule('r', { idleTimeoutInMinutes: 101 })] })],
    code: 'InvalidRequestFormat',
    allowed: [lb('lb'), balancer({ rules: [rule('r', { idleTimeoutInMinutes: 100 })] })],
  },
  {
    rule: 'allPortsInternally',
    source: `model: ${learn}"High availability ports overview": internal load balancers only`,
    given: [[pip('web'), address()]],
    put: [
      lb('lb'),
      balancer({ frontends: publicFrontends('a'), rules: [rule('r', { protocol: 'All', frontendPort: 0, backendPort: 0 })] }),
    ],
    code: 'HAPortsNotAllowedOnPublicLoadBalancer',
    allowed: [lb('lb'), balancer({ rules: [rule('r', { protocol: 'All', frontendPort: 0, backendPort: 0 })] })],
  },
  {
    rule: 'probeValues',
    source: `${learn}"Load Balancers - Create Or Update": Probe`,
    put: [lb('lb'), balancer({ probes: [{ name: 'p', properties: { protocol: 'Tcp', port: 80, intervalInSeconds: 4 } }] })],
    code: 'InvalidRequestFormat',
    allowed: [lb('lb'), balancer({ probes: [{ name: 'p', properties: { protocol: 'Tcp', port: 80, intervalInSeconds: 5 } }] })],
  },
  {
    rule: 'oneRuleForEachPort',
    source: 'model: a frontend, protocol and port lead to one rule',
    put: [lb('lb'), balancer({ rules: [rule('r'), rule('s', { backendPort: 81 })] })],
    code: 'LoadBalancerRulesWithSameFrontendPortAndProtocol',
    allowed: [lb('lb'), balancer({ rules: [rule('r'), rule('s', { frontendPort: 81, backendPort: 81 })] })],
  },
  {
    rule: 'oneRuleForEachBackendPort',
    source: 'MicrosoftDocs/azure-docs#94673, #117762',
    put: [
      lb('lb'),
      balancer({ rules: [rule('r', { enableFloatingIP: false }), rule('s', { enableFloatingIP: false, frontendPort: 81 })] }),
    ],
    code: 'RulesUseSameBackendPortProtocolAndPool',
    allowed: [
      lb('lb'),
      balancer({
        rules: [rule('r', { enableFloatingIP: false }), rule('s', { enableFloatingIP: false, frontendPort: 81, backendPort: 81 })],
      }),
    ],
  },
  {
    rule: 'oneRuleForEachBackendPort',
    source: 'kubernetes-sigs/cloud-provider-azure#521',
    put: [lb('lb'), balancer({ rules: [rule('r'), rule('s', { frontendPort: 81 })] })],
    code: 'RulesUseSameBackendPortProtocolAndPoolAndFrontendIPWithFloatingIPEnabled',
  },
  {
    rule: 'loadBalancerLimits',
    source: `model: ${learn}"Azure subscription and service limits": load balancer`,
    before: ({ cloud }) => (cloud.limits.rulesPerLoadBalancer = 1),
    put: [lb('lb'), balancer({ rules: [rule('r'), rule('s', { frontendPort: 81, backendPort: 81 })] })],
    code: 'LoadBalancerRuleCountLimitReached',
    allowed: [lb('lb'), balancer({ rules: [rule('r')] })],
  },
  {
    rule: 'priorityRange',
    source: `${learn}"Network security groups"; SecurityRuleInvalidPriority of az network nsg rule create`,
    put: [networkID('networkSecurityGroups', 'sg'), group(allow('r', { priority: 4097 }))],
    code: 'SecurityRuleInvalidPriority',
    allowed: [networkID('networkSecurityGroups', 'sg'), group(allow('r', { priority: 4096 }))],
  },
  {
    rule: 'priorityOnce',
    source: 'egen/bucc#183, Azure/aks-engine#2106',
    put: [networkID('networkSecurityGroups', 'sg'), group(allow('r'), allow('s'))],
    code: 'SecurityRuleConflict',
    allowed: [networkID('networkSecurityGroups', 'sg'), group(allow('r'), allow('s', { direction: 'Outbound' }))],
  },
  {
    rule: 'ruleForm',
    source: `${learn}"Security Rules - Create Or Update": one address, or a list`,
    put: [networkID('networkSecurityGroups', 'sg'), group(allow('r', { sourceAddressPrefixes: ['10.0.0.0/8'] }))],
    code: 'SecurityRuleParameterContainsUnsupportedValue',
  },
  {
    rule: 'ruleForm',
    source: 'model: a rule has addresses of one family',
    put: [
      networkID('networkSecurityGroups', 'sg'),
      group(allow('r', { sourceAddressPrefix: undefined, sourceAddressPrefixes: ['10.0.0.0/8', 'fd00::/8'] })),
    ],
    code: 'SecurityRuleAddressPrefixesMixed',
  },
  {
    rule: 'sourceRanges',
    source: 'kubernetes-sigs/cloud-provider-azure#6775',
    put: [networkID('networkSecurityGroups', 'sg'), group(allowFrom('10.0.0.0/8', '10.0.0.0/16'))],
    code: 'OverlappingSubnetsNotPermittedInSecurityRule',
    allowed: [networkID('networkSecurityGroups', 'sg'), group(allowFrom('10.0.0.0/9', '10.128.0.0/9'))],
  },
  {
    rule: 'sourceRanges',
    source: 'Azure/azure-powershell#4557, hashicorp/terraform-provider-azurerm#16761',
    put: [networkID('networkSecurityGroups', 'sg'), group(allowFrom('203.0.113.0/24', '50.206.209.68/27'))],
    code: 'SecurityRuleInvalidAddressPrefix',
    allowed: [networkID('networkSecurityGroups', 'sg'), group(allowFrom('203.0.113.0/24', '50.206.209.64/27'))],
  },
  {
    rule: 'securityGroupLimits',
    source: `model: ${learn}"Azure subscription and service limits": NSG rules per NSG, address prefixes`,
    before: ({ cloud }) => (cloud.limits.rulesPerSecurityGroup = 1),
    put: [networkID('networkSecurityGroups', 'sg'), group(allow('r'), allow('s', { priority: 501 }))],
    code: 'SecurityRuleCountLimitReached',
    allowed: [networkID('networkSecurityGroups', 'sg'), group(allow('r'))],
  },
  {
    rule: 'nextHop',
    source: `model: ${learn}"Virtual network traffic routing": next hop types`,
    put: [networkID('routeTables', 'rt'), table(route('n', { nextHopIpAddress: undefined }))],
    code: 'InvalidNextHopIpAddress',
    allowed: [networkID('routeTables', 'rt'), table(route('n'))],
  },
  {
    rule: 'destinationOnce',
    source: 'model: a destination leads to one next hop',
    put: [networkID('routeTables', 'rt'), table(route('n'), route('m'))],
    code: 'RouteConflict',
    allowed: [networkID('routeTables', 'rt'), table(route('n'), route('m', { addressPrefix: '10.244.1.0/24' }))],
  },
  {
    rule: 'routeLimit',
    source: `model: ${learn}"Azure subscription and service limits": routes per table (kubernetes/kubernetes#41671)`,
    before: ({ cloud }) => (cloud.limits.routesPerTable = 1),
    put: [networkID('routeTables', 'rt'), table(route('n'), route('m', { addressPrefix: '10.244.1.0/24' }))],
    code: 'RouteCountLimitReached',
    allowed: [networkID('routeTables', 'rt'), table(route('n'))],
  },
  {
    rule: 'networkPolicies',
    source: `${learn}"Disable network policies for Azure Private Link service source IP"`,
    given: [[lb('lb'), balancer()]],
    put: [networkID('privateLinkServices', 'pls'), linkService('nodes')],
    code: 'PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled',
    allowed: [networkID('privateLinkServices', 'pls'), linkService('links')],
  },
  {
    rule: 'frontendOnce',
    source: 'model: a frontend has one Private Link Service',
    given: [
      [lb('lb'), balancer()],
      [networkID('privateLinkServices', 'pls'), linkService('links')],
    ],
    put: [networkID('privateLinkServices', 'pls2'), linkService('links')],
    code: 'PrivateLinkServiceFrontendInUse',
  },
  {
    rule: 'frontendInUse',
    source: 'model: a Private Link Service stands on its frontend',
    given: [
      [lb('lb'), balancer()],
      [networkID('privateLinkServices', 'pls'), linkService('links')],
    ],
    put: [lb('lb'), balancer({ frontends: [frontend('b', { subnet: subnet('nodes') })] })],
    code: 'InUseFrontendIPConfigurationCannotBeDeleted',
  },
  {
    rule: 'inUse',
    source: `${learn}"Can't delete load balancer with a private link service"`,
    given: [
      [lb('lb'), balancer()],
      [link('pls'), linkService('links')],
    ],
    remove: lb('lb'),
    code: 'CannotDeleteLoadBalancerWithPrivateLinkService',
  },
  {
    rule: 'connectionsFirst',
    source: `${learn}"Can't delete load balancer with a private link service"`,
    given: [
      [lb('lb'), balancer()],
      [link('pls'), linkService('links')],
    ],
    before: ({ cloud }) => connect(cloud, link('pls')),
    remove: link('pls'),
    code: 'PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted',
  },
  {
    rule: 'frontendStays',
    source: 'model: hashicorp/terraform-provider-azurerm#12249',
    given: [
      [lb('lb'), balancer({ frontends: [frontend('a', { subnet: subnet('nodes') }), frontend('b', { subnet: subnet('nodes') })] })],
      [link('pls'), linkService('links')],
    ],
    put: [link('pls'), linkService('links', { frontend: 'b' })],
    code: 'PrivateLinkServiceFrontendCannotBeChanged',
    allowed: [link('pls'), linkService('links', { fqdns: ['a.example'] })],
  },
  {
    rule: 'frontendStays',
    source: 'Azure/azure-cli#29305',
    given: [[lb('lb'), balancer()]],
    put: [link('pls'), linkService('links', { loadBalancerFrontendIpConfigurations: [] })],
    code: 'InvalidNumberOfPrivateLinkServiceLoadBalancerFrontendIpConfigurationsSpecified',
    allowed: [link('pls'), linkService('links')],
  },
  {
    rule: 'poolsOfInterfaces',
    source: 'MicrosoftDocs/azure-docs#75134',
    given: [[lb('lb'), balancer({ pool: ADDRESSES })]],
    put: [link('pls'), linkService('links')],
    code: 'PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer',
  },
  {
    rule: 'poolsOfInterfaces',
    source: 'the same, of a load balancer that has a service',
    given: [
      [lb('lb'), balancer()],
      [link('pls'), linkService('links')],
    ],
    put: [lb('lb'), balancer({ pool: ADDRESSES })],
    code: 'PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer',
    allowed: [lb('lb'), balancer({ rules: [rule('r')] })],
  },
  {
    rule: 'approvedSee',
    source: `model: ${learn}"What is Azure Private Link service?"`,
    given: [[lb('lb'), balancer()]],
    put: [link('pls'), linkService('links', { visibility: { subscriptions: ['a'] }, autoApproval: { subscriptions: ['b'] } })],
    code: 'PrivateLinkServiceAutoApprovalNotVisible',
    allowed: [link('pls'), linkService('links', { visibility: { subscriptions: ['*'] }, autoApproval: { subscriptions: ['b'] } })],
  },
];

function link(name: string): string {
  return networkID('privateLinkServices', name);
}

function linkService(at: string, { frontend = 'a', ...properties }: { frontend?: string; [property: string]: unknown } = {}): object {
  const loadBalancerFrontendIpConfigurations = [{ id: `${lb('lb')}/frontendIPConfigurations/${frontend}` }];
  const ipConfigurations = [{ name: 'one', properties: { subnet: subnet(at), primary: true } }];
  return { location: LOCATION, properties: { loadBalancerFrontendIpConfigurations, ipConfigurations, ...properties } };
}

describe('what Azure refuses, the fake refuses', () => {
  let server: ArmServer;
  let client: ArmClient;

  beforeEach(async () => {
    server = await startScene();
    client = clientOf(server);
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  test.each(ROWS)('$rule: $code ($source)', async ({ given = [], before, put, remove, code, allowed }) => {
    for (const [id, body] of given) await client.put(id, body);
    before?.(server);
    const refused = put === undefined ? client.remove(remove ?? '') : client.put(...put);
    const error = await refused.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ArmError);
    expect((error as ArmError).armCode).toBe(code);
    if (allowed !== undefined) await client.put(...allowed);
  });

  test('every rule is in the table, or has a test of its own', () => {
    const elsewhere = ['apiVersion', 'precondition', 'patchSetsTags', 'referencesProvisioned'];
    const tested = new Set([...ROWS.map(({ rule }) => rule), ...elsewhere]);
    expect(RULES.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
  });

  test('apiVersion: a request says in which version it speaks', async () => {
    const authorization = `Bearer ${((await tokenOf(server)) as { access_token: string }).access_token}`;
    const ask = async (query: string) => {
      const answer = await fetch(`${server.url}${pip('web')}${query}`, { method: 'PUT', headers: { authorization }, body: '{}' });
      return ((await answer.json()) as { error: { code: string } }).error.code;
    };
    expect(await ask('')).toBe('MissingApiVersionParameter');
    expect(await ask('?api-version=1999-01-01')).toBe('NoRegisteredProviderFound');
  });

  test('patchSetsTags: PATCH of a network resource sets tags and nothing else', async () => {
    await client.put(pip('web'), address({ idleTimeoutInMinutes: 5 }));
    const patched = await client.patch<{ tags: object; properties: object }>(pip('web'), { tags: { owner: 'me' } });
    expect(patched).toMatchObject({ tags: { owner: 'me' }, properties: { idleTimeoutInMinutes: 5 } });
    await expect(client.patch(pip('web'), { properties: {} })).rejects.toMatchObject({ armCode: 'InvalidRequestContent' });
  });

  test('referencesProvisioned: what is not there yet whole is not referred to, and that is soon over', async () => {
    server.cloud.operations.takesMs = 300;
    const making = client.put(pip('web'), address());
    while (server.cloud.find(pip('web')) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    await client.put(lb('lb'), balancer({ frontends: publicFrontends('a') }));
    await making;
    const statuses = server.calls.filter(({ path, method }) => path === lb('lb') && method === 'PUT').map(({ status }) => status);
    expect(statuses.length).toBeGreaterThan(1);
    expect(statuses.slice(0, -1).every((status) => status === 429)).toBe(true);
  });
});

async function tokenOf(server: ArmServer): Promise<unknown> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'operator',
    client_secret: 'secret',
    scope: 'x/.default',
  });
  return (await fetch(`${server.url}/tenant/oauth2/v2.0/token`, { method: 'POST', body })).json();
}
