import { AZURE_LIMITS, type CloudLoadBalancerSpec } from '../../../crds';
import type { Problem } from '../../provider';
import { sameID } from '../client/resource-id';
import { validatePrivateLink } from '../private-links/validation';
import { overruledKeys, reservedKeys, twinKeys } from '../tags';
import { isOpen } from './eligible';
import { addressOf, publicNameOf } from './entries';
import { forwardsAll, hasFloatingIP } from './rules';
import { checkOf, isNoPort, probedPort, settingsOf } from './probes';
import type { AzureScope } from './scope';

/** What Azure's load balancers can't do, in words for its author; what the kind's schema refuses never comes here. Pure; never throws. */
export function validateLoadBalancer(spec: CloudLoadBalancerSpec, { settings }: Pick<AzureScope, 'settings'>): Problem[] {
  return [
    ...validateProvider(spec, settings),
    ...validatePlacement(spec, settings),
    ...spec.listeners.flatMap((listener, index) => validateListener(spec, listener, `spec.listeners[${index}]`)),
    ...spec.listeners.flatMap((listener, index) => validateProbe(spec, listener, { field: `spec.listeners[${index}]`, settings })),
    ...validateAddresses(spec),
    ...validateTraffic(spec, settings),
    ...validateNamed(spec),
    ...validatePrivateLink(spec, settings),
    ...validateTags(spec),
    ...validateAccess(spec),
    ...validateDenial(spec),
    ...validateCount(spec, settings),
  ];
}

function validateProvider({ provider, scheme }: CloudLoadBalancerSpec, settings: AzureScope['settings']): Problem[] {
  if (settings.vnetName === undefined) {
    return [
      error(
        'spec.provider',
        provider,
        `CloudProvider ${provider} names no virtual network. Set its spec.azure.vnetName (azure.json: vnetName).`,
      ),
    ];
  }
  if (scheme === 'Internal' && settings.subnetName === undefined) {
    return [
      error(
        'spec.provider',
        provider,
        `CloudProvider ${provider} names no subnet. Set its spec.azure.subnetName (azure.json: subnetName).`,
      ),
    ];
  }
  return [];
}

/** Azure lets a Node be behind one public and one internal load balancer, so a placement of one's own has no Nodes. */
function validatePlacement({ placement, azure }: CloudLoadBalancerSpec, { loadBalancers = [] }: AzureScope['settings']): Problem[] {
  const problems: Problem[] = [];
  if (placement !== undefined) {
    const message = 'load balancers of Azure are those of the CloudProvider. Remove it, or name one by spec.azure.configurations.';
    problems.push(error('spec.placement', placement.name, message));
  }
  if (azure?.configurations === undefined && loadBalancers.length > 0 && !loadBalancers.some(isOpen)) {
    const message = `no load balancer of the CloudProvider takes what names none. Name one of ${loadBalancers.map(({ name }) => name).join(', ')}.`;
    problems.push(error('spec.azure.configurations', '', message));
  }
  const known = loadBalancers.map(({ name }) => name);
  for (const name of azure?.configurations ?? []) {
    // The annotation is read in lower case.
    if (known.some((one) => sameID(one, name))) continue;
    const among = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    const message = `"${name}" is no load balancer of the CloudProvider's spec.azure.loadBalancers: ${among}. Correct the name, or remove it.`;
    problems.push(error('spec.azure.configurations', name, message));
  }
  return problems;
}

function validateListener(spec: CloudLoadBalancerSpec, listener: CloudLoadBalancerSpec['listeners'][number], field: string): Problem[] {
  const { name, protocol, nodePort } = listener;
  const problems: Problem[] = [];
  if (protocol === 'SCTP' && spec.scheme === 'Public') {
    const message = `listener "${name}": public load balancers of Azure have no SCTP. Use TCP or UDP, or scheme Internal.`;
    problems.push(error(`${field}.protocol`, protocol, message));
  }
  const isBlind = spec.ipFamilies.some((family) => !hasFloatingIP(spec, family)) && !forwardsAll(spec);
  if (nodePort === undefined && isBlind && settingsOf(spec, listener.port)?.rule !== false) {
    const message = `listener "${name}" has no node port, by which Nodes are reached without floating IP. Set spec.allocateLoadBalancerNodePorts: true on the Service, or nodePort on the listener.`;
    problems.push(error(`${field}.nodePort`, '', message));
  }
  return problems;
}

/** Without a probe Azure leads to Nodes that are down, and with trafficPolicy Local to those without an endpoint. */
function validateProbe(
  spec: CloudLoadBalancerSpec,
  listener: CloudLoadBalancerSpec['listeners'][number],
  { field, settings }: Pick<AzureScope, 'settings'> & { field: string },
): Problem[] {
  const { name, port } = listener;
  const { rule, probePort } = settingsOf(spec, port) ?? {};
  if (rule === false || checkOf(spec, listener, settings.healthProbe) !== 'Own') return [];
  if (probePort !== undefined && isNoPort(spec, probePort)) {
    const index = spec.azure?.ports?.findIndex((one) => one.port === port);
    const message = `listener "${name}" is to be checked at "${probePort}", which is neither the name or port of a listener nor a number from 1 to 65535. Correct it, or remove it.`;
    return [error(`spec.azure.ports[${index}].probePort`, probePort, message)];
  }
  // One rule for all ports has the first probe that there is.
  const checked = forwardsAll(spec) ? spec.listeners : [listener];
  if (checked.some((one) => probedPort(spec, one) !== undefined)) return [];
  const remedy = `Name a port of theirs (the annotation port_${port}_health-probe_port; kube-proxy answers at 10256), or give it a node port.`;
  const message = `listener "${name}" has no node port at which its Nodes could be checked: those that are down get traffic, too. ${remedy}`;
  return [{ severity: 'Warning', field: `${field}.nodePort`, value: '', message }];
}

/** Of several load balancers each has some of the Nodes behind it. */
function validateTraffic({ trafficPolicy }: CloudLoadBalancerSpec, { loadBalancers = [] }: AzureScope['settings']): Problem[] {
  if (trafficPolicy !== 'Local' || loadBalancers.length < 2) return [];
  const message =
    'Pods on Nodes that are behind another load balancer get none of its traffic. Keep them on its own, by nodeSelector of spec.azure.loadBalancers of the CloudProvider and the Pods’ nodeSelector, or use Cluster.';
  return [{ severity: 'Warning', field: 'spec.trafficPolicy', value: trafficPolicy, message }];
}

/** Addresses are asked for by family. */
function validateAddresses(spec: CloudLoadBalancerSpec): Problem[] {
  const used = spec.ipFamilies.flatMap((family) => addressOf({ spec }, family) ?? []);
  const problems = (spec.addresses ?? [])
    .filter((address) => !used.includes(address))
    .map((address) =>
      error('spec.addresses', address, `${address} is not used: a load balancer has one address in each of spec.ipFamilies. Remove it.`),
    );
  const fields = [
    ['ipv4Name', 'IPv4'],
    ['ipv6Name', 'IPv6'],
    ['ipv4PrefixID', 'IPv4'],
    ['ipv6PrefixID', 'IPv6'],
  ] as const;
  for (const [field, family] of fields) {
    const value = spec.azure?.publicIP?.[field];
    if (value === undefined || spec.ipFamilies.includes(family)) continue;
    const message = `without effect: spec.ipFamilies has no ${family}. Remove it, or add ${family}.`;
    problems.push({ severity: 'Warning', field: `spec.azure.publicIP.${field}`, value, message });
  }
  return problems;
}

/** Settings of an address that is made mean nothing where it is there already, and its group only there. */
function validateNamed(spec: CloudLoadBalancerSpec): Problem[] {
  const { publicIP } = spec.azure ?? {};
  if (publicIP === undefined || spec.scheme === 'Internal') return [];
  const made = spec.ipFamilies.filter(
    (family) => publicNameOf({ spec }, family) === undefined && addressOf({ spec }, family) === undefined,
  );
  if (made.length === spec.ipFamilies.length) {
    const { resourceGroup } = publicIP;
    if (resourceGroup === undefined) return [];
    const message =
      'without effect: no public IP address is named, and one that is made is in the resource group of the CloudProvider. Name one, or remove it.';
    return [{ severity: 'Warning', field: 'spec.azure.publicIP.resourceGroup', value: resourceGroup, message }];
  }
  if (made.length > 0) return [];
  const message =
    'without effect: the public IP address that is asked for is there already, and is left as it is. Set it there, or remove this.';
  return (['dnsLabel', 'tags', 'ipTags'] as const).flatMap((field): Problem[] => {
    const value = publicIP[field];
    if (value === undefined) return [];
    return [
      {
        severity: 'Warning',
        field: `spec.azure.publicIP.${field}`,
        value: typeof value === 'string' ? value : JSON.stringify(value),
        message,
      },
    ];
  });
}

function validateTags({ azure }: CloudLoadBalancerSpec): Problem[] {
  const [field, tags] = ['spec.azure.publicIP.tags', azure?.publicIP?.tags];
  return [
    ...reservedKeys(tags).map((key) =>
      error(field, key, `the key ${key} is reserved: by it the operator knows whose an address is. Remove it.`),
    ),
    ...twinKeys(tags).map(({ key, message }) => error(field, key, message)),
    ...overruledKeys(tags).map(({ key, message }): Problem => ({ severity: 'Warning', field, value: key, message })),
  ];
}

/** Without floating IP the destinations of rules are the Nodes' own addresses. */
function validateDenial(spec: CloudLoadBalancerSpec): Problem[] {
  const { denyOthers = false, ranges = spec.sourceRanges ?? [], rules } = spec.azure?.access ?? {};
  const blind = spec.ipFamilies.find((family) => !hasFloatingIP(spec, family));
  if (!denyOthers || rules === 'None' || ranges.length === 0 || blind === undefined) return [];
  const message = `its ${blind} has no floating IP, so the rule that denies others would deny everything to the Nodes themselves. Remove it, or use floating IP, which internal load balancers have in IPv4 only.`;
  return [error('spec.azure.access.denyOthers', 'true', message)];
}

function validateAccess({ azure, sourceRanges = [] }: CloudLoadBalancerSpec): Problem[] {
  const { ranges = [], rules } = azure?.access ?? {};
  if (ranges.length > 0 && sourceRanges.length > 0) {
    const message = 'spec.sourceRanges and spec.azure.access.ranges say both who may connect. Remove one.';
    return [error('spec.azure.access.ranges', ranges.join(','), message)];
  }
  if (rules !== 'None' || (ranges.length === 0 && sourceRanges.length === 0)) return [];
  const message = 'ranges are without effect while spec.azure.access.rules is None. Remove one.';
  return [{ severity: 'Warning', field: 'spec.azure.access.rules', value: 'None', message }];
}

function validateCount({ listeners, ipFamilies }: CloudLoadBalancerSpec, { limits = AZURE_LIMITS }: AzureScope['settings']): Problem[] {
  const rules = listeners.length * ipFamilies.length;
  if (rules <= limits.rulesPerLoadBalancer) return [];
  const message = `it has ${rules} rules, and a load balancer may have ${limits.rulesPerLoadBalancer}. Use fewer ports.`;
  return [error('spec.listeners', String(listeners.length), message)];
}

function error(field: string, value: string, message: string): Problem {
  return { severity: 'Error', field, value, message };
}
