import ipaddr from 'ipaddr.js';
import type { CloudLoadBalancerSpec, CloudRouteSpec, HealthCheck, Listener } from '../../crds';
import type { Problem } from '../provider';
import { instanceIDOf } from './provider-id';

/** What the local cloud can't do of a load balancer, in words for its author; what the kind's schema refuses never comes here. Pure; never throws. */
export function validateLoadBalancer(spec: CloudLoadBalancerSpec): Problem[] {
  return [
    ...spec.listeners.flatMap((listener, index) => validateListener(listener, index)),
    ...validateFamilies(spec),
    ...validateAddresses(spec),
    ...validateSourceRanges(spec),
    ...validateHealthCheck(spec),
    ...validateProxyProtocol(spec),
  ];
}

/** What the local cloud can't do of a route. Pure; never throws. */
export function validateRoute(spec: CloudRouteSpec): Problem[] {
  return [...validateDestination(spec.destinationCIDR), ...validateNextHop(spec)];
}

function validateListener({ protocol, nodePort, name }: Listener, index: number): Problem[] {
  const field = `spec.listeners[${index}]`;
  const problems: Problem[] = [];
  if (protocol === 'SCTP') {
    problems.push(
      error(`${field}.protocol`, protocol, `listener "${name}": the local cloud has no SCTP. Use TCP or UDP, or remove the port.`),
    );
  }
  if (nodePort === undefined) {
    const message = `listener "${name}" has no node port, and the local cloud reaches Nodes only through node ports. Set spec.allocateLoadBalancerNodePorts: true on the Service, or nodePort on the listener.`;
    problems.push(error(`${field}.nodePort`, '', message));
  }
  return problems;
}

function validateFamilies({ ipFamilies }: CloudLoadBalancerSpec): Problem[] {
  if (!ipFamilies.includes('IPv6')) return [];
  const value = ipFamilies.join(', ');
  if (ipFamilies.includes('IPv4')) {
    return [warning('spec.ipFamilies', value, 'the local cloud has no IPv6 yet: the load balancer gets an IPv4 address only.')];
  }
  return [error('spec.ipFamilies', value, 'the local cloud has no IPv6 yet. Add IPv4 to the families.')];
}

function validateAddresses({ addresses = [] }: CloudLoadBalancerSpec): Problem[] {
  const problems = addresses.flatMap((text, index) => {
    if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [];
    const message = `"${text}" is not an IPv4 address, and the local cloud has no others yet. Ask for one of its pool, or leave the address out.`;
    return [error(`spec.addresses[${index}]`, text, message)];
  });
  if (addresses.length > 1) {
    const message = 'a load balancer of the local cloud has one IPv4 address. Leave only one in spec.addresses.';
    problems.push(error('spec.addresses', addresses.join(', '), message));
  }
  return problems;
}

function validateSourceRanges({ sourceRanges = [] }: CloudLoadBalancerSpec): Problem[] {
  return sourceRanges.flatMap((range, index) => {
    if (ipaddr.IPv4.isValidCIDRFourPartDecimal(range)) return [];
    const message = `"${range}" is not an IPv4 range, and the local cloud has no others yet. Write for example 203.0.113.0/24, or remove it.`;
    return [error(`spec.sourceRanges[${index}]`, range, message)];
  });
}

function validateHealthCheck({ healthCheck, listeners, local }: CloudLoadBalancerSpec): Problem[] {
  if (healthCheck === undefined) return [];
  const { port, intervalSeconds = Infinity, timeoutSeconds = 0 } = healthCheck;
  const problems = validatePath(healthCheck);
  if (port === undefined && listeners.every(({ protocol }) => protocol === 'UDP')) {
    const message =
      'a UDP listener can only be checked on a TCP port. Set spec.healthCheck.port; until then every target counts as healthy.';
    problems.push(warning('spec.healthCheck.port', '', message));
  }
  const intervalMs = local?.healthCheckIntervalMs ?? intervalSeconds * 1000;
  if (timeoutSeconds * 1000 > intervalMs) {
    const message = `a check can't take longer than the ${intervalMs} ms from one check to the next. Set spec.healthCheck.timeoutSeconds lower, or the interval higher.`;
    problems.push(error('spec.healthCheck.timeoutSeconds', String(timeoutSeconds), message));
  }
  return problems;
}

function validatePath({ path }: HealthCheck): Problem[] {
  if (path === undefined || /^\/[\x21-\x7e]*$/.test(path)) return [];
  const message = `"${path}" can't be requested. Write a path of printable ASCII without spaces, percent-encoded where needed.`;
  return [error('spec.healthCheck.path', path, message)];
}

function validateProxyProtocol({ local, listeners }: CloudLoadBalancerSpec): Problem[] {
  const { proxyProtocol = 'None' } = local ?? {};
  if (proxyProtocol === 'None' || listeners.some(({ protocol }) => protocol === 'TCP')) return [];
  const message = 'the PROXY protocol is for TCP, and no listener is: it has no effect. Remove it.';
  return [warning('spec.local.proxyProtocol', proxyProtocol, message)];
}

function validateDestination(destinationCIDR: string): Problem[] {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(destinationCIDR)) return [];
  const message = `"${destinationCIDR}" is not an IPv4 range, and the local cloud has no other routes yet. Use an IPv4 PodCIDR.`;
  return [error('spec.destinationCIDR', destinationCIDR, message)];
}

/** One that is absent is the Node's, which the operator waits for. */
function validateNextHop({ providerID }: CloudRouteSpec): Problem[] {
  if (providerID === undefined || providerID === '' || instanceIDOf(providerID) !== undefined) return [];
  return [error('spec.providerID', providerID, `"${providerID}" is not an instance of the local cloud. Write local:///<zone>/<id>.`)];
}

function error(field: string, value: string, message: string): Problem {
  return { severity: 'Error', field, value, message };
}

function warning(field: string, value: string, message: string): Problem {
  return { severity: 'Warning', field, value, message };
}
