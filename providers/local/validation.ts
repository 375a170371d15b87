import { isIP } from 'node:net';
import type { CloudLoadBalancerSpec, CloudRouteSpec, HealthCheck, Listener } from '../../crds';
import type { Problem } from '../provider';
import { familyOf } from './addresses';
import { engineOf } from './listeners';
import { instanceIDOf } from './provider-id';

/** What the local cloud can't do of a load balancer, in words for its author; what the kind's schema refuses never comes here. Pure; never throws. */
export function validateLoadBalancer(spec: CloudLoadBalancerSpec): Problem[] {
  return [
    ...spec.listeners.flatMap((listener, index) => validateListener(listener, index, engineOf(spec))),
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

function validateListener({ protocol, nodePort, name }: Listener, index: number, engine: 'Node' | 'Passthrough'): Problem[] {
  const field = `spec.listeners[${index}]`;
  const problems: Problem[] = [];
  if (protocol === 'SCTP') {
    problems.push(
      error(`${field}.protocol`, protocol, `listener "${name}": the local cloud has no SCTP. Use TCP or UDP, or remove the port.`),
    );
  }
  if (nodePort === undefined && engine === 'Node') {
    const message = `listener "${name}" has no node port, and the engine Node reaches Nodes only through node ports. Set spec.allocateLoadBalancerNodePorts: true on the Service (or nodePort on the listener), or take the engine Passthrough.`;
    problems.push(error(`${field}.nodePort`, '', message));
  }
  return problems;
}

function validateAddresses({ addresses = [], ipFamilies }: CloudLoadBalancerSpec): Problem[] {
  return addresses.flatMap((text, index) => {
    const field = `spec.addresses[${index}]`;
    if (isIP(text) === 0)
      return [error(field, text, `"${text}" is not an IP address. Ask for one of the local cloud's pool, or leave it out.`)];
    const family = familyOf(text);
    if (!ipFamilies.includes(family)) {
      return [
        error(field, text, `${text} is of ${family}, and spec.ipFamilies has only ${ipFamilies.join(', ')}. Add the family, or remove it.`),
      ];
    }
    const first = addresses.find((other) => isIP(other) !== 0 && familyOf(other) === family);
    if (first === text) return [];
    return [
      error(
        field,
        text,
        `a load balancer of the local cloud has one address of each family, and ${first} is asked for too. Leave only one.`,
      ),
    ];
  });
}

function validateSourceRanges({ sourceRanges = [] }: CloudLoadBalancerSpec): Problem[] {
  return sourceRanges.flatMap((range, index) => {
    if (isRange(range)) return [];
    const message = `"${range}" is not an IP range. Write for example 203.0.113.0/24 or 2001:db8::/32, or remove it.`;
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
  const { proxyProtocol = 'None', engine } = local ?? {};
  if (proxyProtocol === 'None') return [];
  if (engine === 'Passthrough') {
    const why =
      'the engine Passthrough changes nothing in what it hands on, and Nodes see the client’s address anyway: it has no effect. Remove it.';
    return [warning('spec.local.proxyProtocol', proxyProtocol, why)];
  }
  if (listeners.some(({ protocol }) => protocol === 'TCP')) return [];
  const message = 'the PROXY protocol is for TCP, and no listener is: it has no effect. Remove it.';
  return [warning('spec.local.proxyProtocol', proxyProtocol, message)];
}

function validateDestination(destinationCIDR: string): Problem[] {
  if (isRange(destinationCIDR)) return [];
  return [error('spec.destinationCIDR', destinationCIDR, `"${destinationCIDR}" is not an IP range. Use a PodCIDR.`)];
}

function isRange(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  return family !== 0 && more.length === 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
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
