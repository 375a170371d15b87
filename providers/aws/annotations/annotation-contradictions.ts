import type { JsonObject } from '../../../operator/base/json';
import type { Problem, ServiceFacts } from '../../provider';
import { drainsWhatIsCut } from '../validate-target-groups';

/** A Service's annotations while they are read. */
export interface Reading {
  /** Name without prefix → the whole key, and the text trimmed. */
  given: Map<string, { key: string; text: string }>;
  /** `spec.aws` as far as it is known. */
  block: JsonObject;
  /** What annotations or the class say of `spec.scheme`. */
  scheme?: 'Public' | 'Internal';
  network: boolean;
  service: ServiceFacts;
  problems: Problem[];
}

/** What of the block is looked at here; what could not be read is absent. */
interface Read {
  subnets?: string[];
  eipAllocationIDs?: string[];
  privateIPv4Addresses?: string[];
  ipv6Addresses?: string[];
  ipAddressType?: string;
  ipv6SourceNAT?: { enabled?: boolean; prefixes?: string[] };
  accessLogs?: { enabled?: boolean; bucket?: string };
  classic?: { connectionDraining?: boolean; connectionDrainingTimeoutSeconds?: number };
  backendProtocol?: string;
  tls?: { certificateARNs?: string[]; ports?: string[] };
  targetGroup?: { preserveClientIP?: boolean; unhealthyConnectionTermination?: boolean; unhealthyDrainingIntervalSeconds?: number };
  healthCheck?: {
    protocol?: string;
    port?: string;
    timeoutSeconds?: number;
    intervalSeconds?: number;
    path?: string;
    successCodes?: string;
  };
  securityGroups?: { groups?: string[]; prefixListIDs?: string[]; mode?: string };
  listeners?: { port: number }[];
}

/**
 * Finds annotations that contradict each other or the Service's ports: the problems are added to those of the reading, and what can't be so is
 * taken out of its block, which the kind's schema then accepts.
 */
export function contradictionsOf(reading: Reading): void {
  for (const check of CHECKS) check(reading, reading.block);
}

const CHECKS = [
  schemes,
  addresses,
  counts,
  sourceNAT,
  accessLogs,
  draining,
  tls,
  backend,
  clientIP,
  unhealthy,
  healthCheck,
  classicCheck,
  securityGroups,
  listeners,
] as const;

/** Says that an annotation can't be followed. */
function refuse({ given, problems }: Reading, name: string, message: string): void {
  problems.push({ severity: 'Error', field: given.get(name)?.key ?? name, value: given.get(name)?.text ?? '', message });
}

/** Says that an annotation has no effect. */
function warn({ given, problems }: Reading, name: string, message: string): void {
  problems.push({ severity: 'Warning', field: given.get(name)?.key ?? name, value: given.get(name)?.text ?? '', message });
}

/** As the AWS Load Balancer Controller has it, `scheme` stands before `internal`. */
function schemes(reading: Reading): void {
  const internal = reading.given.get('internal');
  const scheme = reading.given.get('scheme');
  if (internal === undefined || scheme === undefined || (internal.text !== 'false') === (scheme.text === 'internal')) return;
  warn(reading, 'internal', `contradicts ${scheme.key}: "${scheme.text}", which is followed. Remove one of the two.`);
}

function addresses(reading: Reading, block: Read): void {
  if (block.eipAllocationIDs !== undefined && reading.scheme === 'Internal') {
    const message =
      'an internal load balancer has no Elastic IP addresses. Remove it and use private-ipv4-addresses, or make the load balancer internet-facing.';
    refuse(reading, 'eip-allocations', message);
    delete block.eipAllocationIDs;
  }
  if (block.privateIPv4Addresses !== undefined && reading.scheme !== 'Internal') {
    const message =
      'only an internal load balancer has private addresses to choose. Remove it and use eip-allocations, or make the load balancer internal.';
    refuse(reading, 'private-ipv4-addresses', message);
    delete block.privateIPv4Addresses;
  }
  if (block.ipv6Addresses !== undefined && block.ipAddressType === 'IPv4') {
    refuse(reading, 'ipv6-addresses', 'the annotation ip-address-type says ipv4. Write dualstack there, or remove the addresses.');
    delete block.ipv6Addresses;
  }
}

const PER_SUBNET = [
  ['eip-allocations', 'eipAllocationIDs'],
  ['private-ipv4-addresses', 'privateIPv4Addresses'],
  ['ipv6-addresses', 'ipv6Addresses'],
] as const;

/** Where subnets are not named, the figures are compared when they have been found. */
function counts(reading: Reading, block: Read): void {
  const { subnets } = block;
  if (subnets === undefined) return;
  for (const [name, field] of PER_SUBNET) {
    const found = block[field]?.length ?? subnets.length;
    if (found === subnets.length) continue;
    refuse(reading, name, `${found} for ${subnets.length} subnets (${subnets.join(', ')}). Write exactly one for each, in their order.`);
    delete block[field];
  }
}

function sourceNAT(reading: Reading, block: Read): void {
  const { ipv6SourceNAT: nat, subnets, ipAddressType } = block;
  if (nat?.enabled === true && ipAddressType === 'IPv4') {
    const message = 'the annotation ip-address-type says ipv4. Write dualstack there, or off here.';
    refuse(reading, 'enable-prefix-for-ipv6-source-nat', message);
    delete block.ipv6SourceNAT;
    return;
  }
  if (nat?.prefixes === undefined) return;
  if (nat.enabled !== true) {
    warn(reading, 'source-nat-ipv6-prefixes', 'without effect. Set the annotation enable-prefix-for-ipv6-source-nat to on, or remove it.');
    delete block.ipv6SourceNAT;
  } else if (subnets !== undefined && nat.prefixes.length !== subnets.length) {
    refuse(reading, 'source-nat-ipv6-prefixes', `${nat.prefixes.length} for ${subnets.length} subnets. Write exactly one for each.`);
    delete nat.prefixes;
  }
}

/** As upstream has it, the time alone turns nothing on. */
function draining(reading: Reading, block: Read): void {
  const { classic } = block;
  if (classic?.connectionDrainingTimeoutSeconds === undefined || classic.connectionDraining === true) return;
  const message = 'without effect while nothing is drained. Set the annotation connection-draining-enabled to true, or remove it.';
  warn(reading, 'connection-draining-timeout', message);
}

/** Who names a protocol of encryption believes that there is some. */
function backend(reading: Reading, block: Read): void {
  const { backendProtocol, tls: certificates } = block;
  if ((backendProtocol !== 'SSL' && backendProtocol !== 'HTTPS') || certificates !== undefined || reading.given.has('ssl-cert')) return;
  const message = 'without a certificate nothing is encrypted here. Name one by the annotation ssl-cert, or remove it.';
  warn(reading, 'backend-protocol', message);
}

/** While logging is off, upstream leaves the bucket alone. */
function accessLogs(reading: Reading, block: Read): void {
  const logs = block.accessLogs;
  if (logs === undefined) return;
  logs.enabled ??= false;
  if (!logs.enabled || logs.bucket !== undefined) return;
  const name = reading.given.has('access-log-enabled') ? 'access-log-enabled' : 'attributes';
  refuse(reading, name, 'access logs need a bucket. Name it by the annotation access-log-s3-bucket-name, or write false.');
  delete block.accessLogs;
}

function tls(reading: Reading, block: Read): void {
  const given = block.tls;
  if (given === undefined) return;
  if (given.certificateARNs === undefined) {
    const names = ['ssl-ports', 'ssl-negotiation-policy', 'alpn-policy'].filter((name) => reading.given.has(name));
    // an ssl-cert that can't be read has a problem of its own
    const unread = reading.given.has('ssl-cert') ? [] : names;
    for (const name of unread)
      warn(reading, name, 'without effect, for there is no certificate. Name one by the annotation ssl-cert, or remove it.');
    delete block.tls;
    return;
  }
  if (given.ports?.includes('*') === true) delete given.ports;
  certificatePorts(reading);
  if (given.ports !== undefined) tlsPorts(reading, given.ports);
}

/** A certificate that no port can use encrypts nothing. */
function certificatePorts(reading: Reading): void {
  const { ports } = reading.service;
  if (ports.length === 0 || ports.some(({ protocol = 'TCP' }) => protocol === 'TCP')) return;
  const message = 'TLS is for TCP, and the Service has no port of TCP. Remove it, or give the Service one.';
  refuse(reading, 'ssl-cert', message);
}

/** Upstream passes over names that no port has: then the traffic that was to be encrypted is not. */
function tlsPorts(reading: Reading, wanted: string[]): void {
  const { ports } = reading.service;
  if (ports.length === 0) return;
  const udp = ports.find(({ name, port, protocol }) => protocol === 'UDP' && wanted.some((text) => text === name || text === String(port)));
  if (udp !== undefined) refuse(reading, 'ssl-ports', `port ${udp.port} is UDP, and TLS is for TCP. Name ports of TCP.`);
  const has = (text: string): boolean => ports.some(({ name, port }) => name === text || String(port) === text);
  const missing = wanted.filter((text) => !has(text));
  if (missing.length === 0) return;
  const there = ports.map(({ name, port }) => (name === undefined ? String(port) : `${name} (${port})`)).join(', ');
  const message = `the Service has no port ${missing.join(', ')}; its ports are ${there}. Name one of them, or write * for all.`;
  refuse(reading, 'ssl-ports', message);
}

function clientIP(reading: Reading, block: Read): void {
  const udp = reading.service.ports.find(({ protocol }) => protocol === 'UDP');
  if (block.targetGroup?.preserveClientIP !== false || udp === undefined) return;
  const message = `the client’s address is always kept for UDP, and port ${udp.port} is UDP. Remove preserve_client_ip.enabled=false, or give the port a Service of its own.`;
  refuse(reading, 'target-group-attributes', message);
  delete block.targetGroup.preserveClientIP;
}

function unhealthy(reading: Reading, block: Read): void {
  if (!drainsWhatIsCut(block.targetGroup)) return;
  const message =
    'connections to unhealthy targets are drained only where they are not cut. Write target_health_state.unhealthy.connection_termination.enabled=false beside target_health_state.unhealthy.draining_interval_seconds, or remove that.';
  refuse(reading, 'target-group-attributes', message);
  delete block.targetGroup?.unhealthyDrainingIntervalSeconds;
}

function healthCheck(reading: Reading, block: Read): void {
  const check = block.healthCheck;
  if (check === undefined) return;
  if (check.protocol === 'TCP') {
    for (const [name, field] of [
      ['healthcheck-path', 'path'],
      ['healthcheck-success-codes', 'successCodes'],
    ] as const) {
      if (check[field] === undefined) continue;
      warn(reading, name, 'without effect on a check by TCP. Set the annotation healthcheck-protocol to http, or remove it.');
      delete check[field];
    }
  }
  const { timeoutSeconds, intervalSeconds } = check;
  if (timeoutSeconds === undefined || intervalSeconds === undefined || timeoutSeconds <= intervalSeconds) return;
  refuse(
    reading,
    'healthcheck-timeout',
    `a check can’t take longer than the ${intervalSeconds} s from one to the next. Write at most ${intervalSeconds}, or raise healthcheck-interval.`,
  );
  delete check.timeoutSeconds;
}

/** Upstream follows one word alone (providers 2.1). */
function classicCheck(reading: Reading, block: Read): void {
  const { port = 'traffic-port', ...rest } = block.healthCheck ?? {};
  if (reading.network || port === 'traffic-port') return;
  const message =
    'only traffic-port has an effect on a Classic load balancer, as in cloud-provider-aws: its check goes to the first node port, and with externalTrafficPolicy: Local to spec.healthCheckNodePort. Remove it, or take a Network load balancer.';
  warn(reading, 'healthcheck-port', message);
  block.healthCheck = rest;
}

function securityGroups(reading: Reading, block: Read): void {
  const groups = block.securityGroups;
  if (groups === undefined) return;
  if (groups.mode === 'None' && (groups.groups ?? groups.prefixListIDs) !== undefined) {
    const other = groups.groups === undefined ? 'security-group-prefix-lists' : 'security-groups';
    refuse(
      reading,
      'disable-nlb-sg',
      `without a security group there is nothing for the annotation ${other} to say. Remove one of the two.`,
    );
    delete groups.mode;
  }
  if (groups.prefixListIDs !== undefined && groups.groups !== undefined) {
    const message =
      'prefix lists are for the group that is made here, and security-groups stand in its place. Write the lists into those groups.';
    refuse(reading, 'security-group-prefix-lists', message);
    delete groups.prefixListIDs;
  }
}

function listeners(reading: Reading, block: Read): void {
  const { ports } = reading.service;
  if (block.listeners === undefined || ports.length === 0) return;
  const there = new Set(ports.map(({ port }) => port));
  for (const { port } of block.listeners.filter((listener) => !there.has(listener.port))) {
    const name = [...reading.given.keys()].find((key) => key.startsWith('listener-attributes.') && key.endsWith(`-${port}`));
    warn(
      reading,
      name ?? 'proxy-protocol-per-target-group',
      `without effect: the Service has no port ${port}. Correct the port, or remove it.`,
    );
  }
}
