import type { AWSLoadBalancer, CloudLoadBalancerSpec } from '../../crds';
import type { Problem } from '../provider';
import { isClassic } from './load-balancers/classic';
import { portsOf, speaksTLS, type Port } from './load-balancers/listeners';
import { isDualStack, takesSourcePrefixes } from './load-balancers/subnet-mappings';
import type { LoadBalancerScope } from './scope';
import { validateGroupCount, validateListenerCount, validateRuleCount } from './validate-limits';
import { validateDraining, validateFamilies, validateHealthCheck, validateOtherFamily, validateStickiness } from './validate-target-groups';

/** Lists that have one entry for each subnet. */
const PER_SUBNET = ['eipAllocationIDs', 'privateIPv4Addresses', 'ipv6Addresses'] as const;

/** What a Network Load Balancer can't do, in words for its author; what the kind's schema refuses never comes here. Pure; never throws. */
export function validateLoadBalancer(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): Problem[] {
  const ports = portsOf(spec);
  if (isClassic(spec)) {
    return [
      ...validateClassic(spec),
      ...validateClassicCertificates(spec.aws),
      ...validateSubnets(spec, scope),
      ...validateFamilies(spec),
      ...validateHealthCheck(spec, scope),
      ...validateLimits(spec, ports, scope),
      ...validatePlacement(spec),
    ];
  }
  return [
    ...spec.listeners.flatMap(({ name, protocol, nodePort }, index) => validateListener({ name, protocol, nodePort }, index)),
    ...validatePorts(spec),
    ...validateSubnets(spec, scope),
    ...validateSourceRanges(spec),
    ...validateBackend(spec.aws),
    ...validateFamilies(spec),
    ...validateOtherFamily(spec, scope),
    ...validateHealthCheck(spec, scope),
    ...validateStickiness(spec, ports),
    ...validateDraining(spec),
    ...validateLimits(spec, ports, scope),
    ...validateSourceNAT(spec, ports),
    ...validateCapacity(spec.aws, ports),
  ];
}

/** A Classic load balancer has TCP alone. */
function validateClassic({ listeners, sessionAffinity }: CloudLoadBalancerSpec): Problem[] {
  const problems = listeners.flatMap(({ name, protocol, nodePort }, index) => {
    const of = validateListener({ name, protocol, nodePort }, index);
    if (protocol !== 'UDP') return of;
    const message = `listener "${name}": a Classic load balancer has no UDP. Write spec.aws.type: Network (annotation type: nlb), or use TCP.`;
    return [...of, error(`spec.listeners[${index}].protocol`, protocol, message)];
  });
  if (sessionAffinity?.type === 'ClientIP') {
    const message = 'a Classic load balancer keeps no client with one Node. Write None, or spec.aws.type: Network.';
    problems.push(error('spec.sessionAffinity.type', 'ClientIP', message));
  }
  return problems;
}

function validateListener(at: { name: string; protocol: string; nodePort: number | undefined }, index: number): Problem[] {
  const field = `spec.listeners[${index}]`;
  const problems: Problem[] = [];
  if (at.protocol === 'SCTP') {
    const message = `listener "${at.name}": AWS's load balancers have no SCTP. Use TCP or UDP, or remove the port.`;
    problems.push(error(`${field}.protocol`, at.protocol, message));
  }
  if (at.nodePort === undefined) {
    const message = `listener "${at.name}" has no node port, and the targets are Nodes, which are reached by one. Set spec.allocateLoadBalancerNodePorts: true on the Service, or nodePort on the listener.`;
    problems.push(error(`${field}.nodePort`, '', message));
  }
  return problems;
}

function validatePorts({ listeners, aws }: CloudLoadBalancerSpec): Problem[] {
  const problems: Problem[] = [];
  const pairs = listeners.filter(
    (at) => at.protocol === 'TCP' && listeners.some((other) => other.port === at.port && other.protocol === 'UDP'),
  );
  for (const { port, nodePort } of pairs) {
    const udp = listeners.find((other) => other.port === port && other.protocol === 'UDP');
    if (aws?.tcpUDPListeners !== true) {
      const message = `port ${port} is there for TCP and for UDP, and AWS has one listener for each port. Set spec.aws.tcpUDPListeners: true, which makes one listener of both, or remove one.`;
      problems.push(error('spec.listeners', String(port), message));
    } else if (udp?.nodePort !== nodePort) {
      const message = `port ${port} for TCP and UDP is one listener with one target group, but its node ports are ${nodePort ?? 'none'} and ${udp?.nodePort ?? 'none'}. Give both the same node port.`;
      problems.push(error('spec.listeners', String(port), message));
    }
  }
  return problems;
}

function validateSubnets(spec: CloudLoadBalancerSpec, { subnetIDs, vpcID }: LoadBalancerScope): Problem[] {
  const { aws } = spec;
  const problems: Problem[] = validateIPv6Addresses(spec);
  const subnets = aws?.subnets ?? subnetIDs;
  if (vpcID === undefined) {
    const message = 'the VPC of the cluster is not known: the operator runs on no instance of it. Set spec.aws.vpcID of the CloudProvider.';
    problems.push(error('spec.aws', '', message));
  }
  // How many there are is not known before they are looked for.
  if (subnets === undefined) return problems;
  for (const list of PER_SUBNET) {
    const addresses = aws?.[list];
    if (addresses === undefined || addresses.length === subnets.length) continue;
    const message = `there must be one for each subnet: these are ${addresses.length} for ${subnets.length} subnets. Name as many subnets in spec.aws.subnets.`;
    problems.push(error(`spec.aws.${list}`, addresses.join(', '), message));
  }
  return problems;
}

function validateIPv6Addresses(spec: CloudLoadBalancerSpec): Problem[] {
  const addresses = spec.aws?.ipv6Addresses;
  if (addresses === undefined || isDualStack(spec)) return [];
  const message = 'IPv6 addresses are for a dual-stack load balancer. Set spec.aws.ipAddressType: DualStack, or remove them.';
  return [error('spec.aws.ipv6Addresses', addresses.join(', '), message)];
}

/** AWS lets clients in by security groups alone. */
function validateSourceRanges({ sourceRanges = [], aws }: CloudLoadBalancerSpec): Problem[] {
  if (sourceRanges.length === 0 || aws?.securityGroups?.groups === undefined) return [];
  const message = 'has no effect beside spec.aws.securityGroups.groups, whose rules say who may connect. Remove one of the two.';
  return [warning('spec.sourceRanges', sourceRanges.join(', '), message)];
}

function validateLimits(spec: CloudLoadBalancerSpec, ports: readonly Port[], scope: LoadBalancerScope): Problem[] {
  return [...validateListenerCount(spec, ports, scope), ...validateGroupCount(spec, scope), ...validateRuleCount(spec, ports, scope)];
}

function validatePlacement({ placement }: CloudLoadBalancerSpec): Problem[] {
  if (placement === undefined) return [];
  const message = 'a Classic load balancer is not shared. Write spec.aws.type: Network (annotation type: nlb), or remove spec.placement.';
  return [error('spec.placement', placement.name, message)];
}

/** AWS: prefixes are for load balancers of both families, and there UDP needs them. */
function validateSourceNAT(spec: CloudLoadBalancerSpec, ports: readonly Port[]): Problem[] {
  const { aws } = spec;
  const udp = ports.find(({ protocol }) => protocol !== 'TCP');
  if (!takesSourcePrefixes(aws)) {
    if (udp === undefined || !isDualStack(spec)) return [];
    const message = `listener "${udp.name}": on a dual-stack load balancer UDP needs IPv6 prefixes for source addresses. Set spec.aws.ipv6SourceNAT.enabled: true, or ipAddressType: IPv4.`;
    return [error('spec.aws.ipv6SourceNAT', '', message)];
  }
  if (!isDualStack(spec)) {
    const message = 'IPv6 prefixes are for a dual-stack load balancer. Set spec.aws.ipAddressType: DualStack, or remove them.';
    return [error('spec.aws.ipv6SourceNAT.enabled', 'true', message)];
  }
  const chosen = aws?.ipv6SourceNAT?.prefixes?.filter((prefix) => prefix !== 'auto_assigned') ?? [];
  if (chosen.length === 0) return [];
  const message = 'has no effect: AWS chooses the prefix of each subnet. Write auto_assigned, or remove it.';
  return [warning('spec.aws.ipv6SourceNAT.prefixes', chosen.join(', '), message)];
}

/** AWS: no capacity is reserved where a listener speaks TLS. */
function validateCapacity(aws: AWSLoadBalancer | undefined, ports: readonly Port[]): Problem[] {
  const { minimumCapacityUnits: units = 0 } = aws ?? {};
  const tls = aws === undefined ? undefined : ports.find((port) => speaksTLS(port, aws));
  if (units === 0 || tls === undefined) return [];
  const message = `AWS reserves no capacity for a load balancer with TLS, and listener "${tls.name}" has it. Remove one of the two.`;
  return [error('spec.aws.minimumCapacityUnits', String(units), message)];
}

/** What a listener has decrypted can be encrypted anew; what passes through encrypted stays so. */
function validateBackend(aws: AWSLoadBalancer | undefined): Problem[] {
  if (aws?.backendProtocol !== 'SSL' || aws.tls !== undefined) return [];
  const message = 'has no effect: without a certificate the load balancer passes on what comes. Name one in spec.aws.tls, or remove it.';
  return [warning('spec.aws.backendProtocol', 'SSL', message)];
}

function validateClassicCertificates(aws: AWSLoadBalancer | undefined): Problem[] {
  const more = aws?.tls?.certificateARNs.slice(1) ?? [];
  if (more.length === 0) return [];
  const message =
    'only the first certificate is used: a listener of a Classic load balancer has one. Remove the others, or write type: Network.';
  return [warning('spec.aws.tls.certificateARNs', more.join(', '), message)];
}

function error(field: string, value: string, message: string): Problem {
  return { severity: 'Error', field, value, message };
}

function warning(field: string, value: string, message: string): Problem {
  return { severity: 'Warning', field, value, message };
}
