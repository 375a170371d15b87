import { AZURE_PROBE_SECONDS } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { ANNOTATION_PREFIX, PORT_PREFIX } from './annotation';
import type { Reading } from './annotations';

/** What of the block is looked at here; what could not be read is absent. */
interface Read {
  access?: { ranges?: string[]; denyOthers?: boolean; serviceTags?: string[] };
  publicIP?: { ipv4Name?: string; ipv6Name?: string; ipv4PrefixID?: string; ipv6PrefixID?: string };
  floatingIP?: boolean;
  probe?: Probe;
  ports?: (Probe & { port: number })[];
  privateLink?: JsonObject & { addressCount?: number; addresses?: string[]; visibility?: string[]; autoApproval?: string[] };
}

interface Probe {
  intervalSeconds?: number;
  threshold?: number;
}

const PROBE_DEFAULTS = { intervalSeconds: 5, threshold: 2 };

/**
 * Finds annotations that contradict each other: the problems are added to those of the reading, and what can't be so is taken out of its block,
 * which the kind's schema then accepts.
 */
export function contradictionsOf(reading: Reading): void {
  for (const check of [probes, addresses, privateLink]) check(reading, reading.block);
}

function refuse({ given, problems }: Reading, key: string, message: string): void {
  problems.push({ severity: 'Error', field: key, value: given.get(key) ?? '', message });
}

/** Interval times count is less than two minutes, with what a port takes from all ports, or from Azure's own. */
function probes(reading: Reading, { probe = {}, ports = [] }: Read): void {
  if (isTooLong(probe)) {
    refuse(reading, firstOf(reading, ANNOTATION_PREFIX + 'load-balancer-health-probe-'), tooLong(probe));
    delete probe.intervalSeconds;
    delete probe.threshold;
  }
  for (const port of ports) {
    const whole = { ...probe, ...port };
    if (!isTooLong(whole)) continue;
    refuse(reading, firstOf(reading, `${PORT_PREFIX}${port.port}_health-probe_`), tooLong(whole));
    delete port.intervalSeconds;
    delete port.threshold;
  }
}

/** The annotation at fault: the interval's, else the count's. */
function firstOf({ given }: Reading, prefix: string): string {
  return given.has(`${prefix}interval`) ? `${prefix}interval` : `${prefix}num-of-probe`;
}

function isTooLong(probe: Probe): boolean {
  const { intervalSeconds, threshold } = { ...PROBE_DEFAULTS, ...probe };
  return intervalSeconds * threshold >= AZURE_PROBE_SECONDS;
}

function tooLong(probe: Probe): string {
  const { intervalSeconds, threshold } = { ...PROBE_DEFAULTS, ...probe };
  return `${threshold} checks every ${intervalSeconds} s take ${AZURE_PROBE_SECONDS} s or more. Write a shorter interval or fewer checks.`;
}

/** An address that is there is taken from no prefix. */
function addresses(reading: Reading, { publicIP = {} }: Read): void {
  for (const [name, prefixID, annotation] of [
    ['ipv4Name', 'ipv4PrefixID', 'pip-prefix-id'],
    ['ipv6Name', 'ipv6PrefixID', 'pip-prefix-id-ipv6'],
  ] as const) {
    if (publicIP[name] === undefined || publicIP[prefixID] === undefined) continue;
    const message = `the address ${publicIP[name]} is named, so that none is taken from a prefix. Remove one of the two annotations.`;
    // That of IPv6 alone may have been said without its family.
    const key = [annotation, 'pip-prefix-id'].map((one) => ANNOTATION_PREFIX + one).find((one) => reading.given.has(one));
    refuse(reading, key ?? '', message);
    delete publicIP[prefixID];
  }
}

/** A Private Link Service needs an internal frontend, or one without floating IP; the rest of its annotations needs it. */
function privateLink(reading: Reading, read: Read): void {
  const { privateLink: link } = read;
  if (link === undefined) return;
  const create = `${ANNOTATION_PREFIX}pls-create`;
  const isWanted = reading.given.get(create)?.toLowerCase() === 'true';
  if (!isWanted) {
    for (const key of [...reading.given.keys()].filter((one) => one.startsWith(`${ANNOTATION_PREFIX}pls-`) && one !== create)) {
      const message = `without effect: no Private Link Service is asked for. Set ${create}: "true", or remove it.`;
      reading.problems.push({ severity: 'Warning', field: key, value: reading.given.get(key) ?? '', message });
    }
    delete reading.block.privateLink;
    return;
  }
  if (reading.scheme === 'Public' && read.floatingIP !== false) {
    const remedy = `Set ${ANNOTATION_PREFIX}load-balancer-internal or ${ANNOTATION_PREFIX}disable-load-balancer-floating-ip to "true"`;
    refuse(reading, create, `a Private Link Service needs an internal load balancer, or one without floating IP. ${remedy}.`);
    delete reading.block.privateLink;
    return;
  }
  linkCounts(reading, link);
  linkApproval(reading, link);
}

function linkCounts(reading: Reading, link: NonNullable<Read['privateLink']>): void {
  const { addressCount = 1, addresses = [] } = link;
  if (addresses.length <= addressCount) return;
  const count = `${ANNOTATION_PREFIX}pls-ip-configuration-ip-address-count`;
  const message = `it names ${addresses.length} addresses, and the service has ${addressCount}. Name fewer, or raise ${count}.`;
  refuse(reading, `${ANNOTATION_PREFIX}pls-ip-configuration-ip-address`, message);
  delete link.addresses;
}

/** Whose requests are approved must see the service. */
function linkApproval(reading: Reading, link: NonNullable<Read['privateLink']>): void {
  const { visibility = [], autoApproval = [] } = link;
  const blind = visibility.includes('*') ? [] : autoApproval.filter((one) => !visibility.includes(one));
  if (blind.length === 0) return;
  const field = `${ANNOTATION_PREFIX}pls-auto-approval`;
  const message = `without effect for ${blind.join(', ')}, by whom the service is not seen. Write the same into ${ANNOTATION_PREFIX}pls-visibility.`;
  reading.problems.push({ severity: 'Warning', field, value: reading.given.get(field) ?? '', message });
  const kept = autoApproval.filter((one) => !blind.includes(one));
  if (kept.length > 0) link.autoApproval = kept;
  else delete link.autoApproval;
}
