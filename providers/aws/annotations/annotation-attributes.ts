import type { JsonObject } from '../../../operator/base/json';
import { setAt } from '../../annotation-block';
import { bool, pairs, type Parse, whole, word } from './annotation-values';

/** An attribute in AWS's words: the field that it sets, below the one that the annotation sets; undefined = it says what is so anyway. */
interface Attribute {
  path: string;
  parse: Parse;
}

/** Of a Network load balancer (`attributes`); paths in `spec.aws`. */
const OF_LOAD_BALANCER: Readonly<Record<string, Attribute>> = {
  'access_logs.s3.enabled': { path: 'accessLogs.enabled', parse: bool },
  'access_logs.s3.bucket': { path: 'accessLogs.bucket', parse: String },
  'access_logs.s3.prefix': { path: 'accessLogs.prefix', parse: String },
  'deletion_protection.enabled': { path: 'deletionProtection', parse: bool },
  'load_balancing.cross_zone.enabled': { path: 'crossZone', parse: bool },
  'dns_record.client_routing_policy': {
    path: 'dnsClientRoutingPolicy',
    parse: word({
      any_availability_zone: 'AnyAvailabilityZone',
      availability_zone_affinity: 'AvailabilityZoneAffinity',
      partial_availability_zone_affinity: 'PartialAvailabilityZoneAffinity',
    }),
  },
  'zonal_shift.config.enabled': { path: 'zonalShift', parse: bool },
  'secondary_ips.auto_assigned.per_subnet': { path: 'secondaryIPsPerSubnet', parse: whole(0, 7) },
};

/** Of target groups (`target-group-attributes`); paths in `spec.aws.targetGroup`. */
const OF_TARGET_GROUP: Readonly<Record<string, Attribute>> = {
  'preserve_client_ip.enabled': { path: 'preserveClientIP', parse: bool },
  'proxy_protocol_v2.enabled': { path: 'proxyProtocolV2', parse: bool },
  'deregistration_delay.timeout_seconds': { path: 'deregistrationDelaySeconds', parse: whole(0, 3600) },
  'deregistration_delay.connection_termination.enabled': { path: 'connectionTermination', parse: bool },
  'target_health_state.unhealthy.connection_termination.enabled': { path: 'unhealthyConnectionTermination', parse: bool },
  'target_health_state.unhealthy.draining_interval_seconds': { path: 'unhealthyDrainingIntervalSeconds', parse: whole(0, 360_000) },
  'stickiness.enabled': { path: 'stickiness', parse: (text) => (bool(text) ? 'SourceIP' : 'None') },
  'load_balancing.cross_zone.enabled': {
    path: 'crossZone',
    parse: word({ true: 'Enabled', false: 'Disabled', use_load_balancer_configuration: 'LoadBalancer' }),
  },
  'target_group_health.dns_failover.minimum_healthy_targets.count': {
    path: 'dnsFailover.count',
    parse: (text) => (text === 'off' ? 0 : whole(1, 1000)(text)),
  },
  'target_group_health.dns_failover.minimum_healthy_targets.percentage': { path: 'dnsFailover.percentage', parse: whole(1, 100) },
  'target_group_health.unhealthy_state_routing.minimum_healthy_targets.count': {
    path: 'unhealthyStateRouting.count',
    parse: whole(1, 1000),
  },
  'target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage': {
    path: 'unhealthyStateRouting.percentage',
    parse: whole(1, 100),
  },
};

/** Attributes that may be written because people do, and that say only what is so anyway. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'stickiness.type': 'source_ip',
  'target_group_health.dns_failover.minimum_healthy_targets.percentage': 'off',
  'target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage': 'off',
};

/** The value of the annotation `attributes`. @throws Error */
export function loadBalancerAttributes(text: string): JsonObject {
  return read(OF_LOAD_BALANCER, pairs(text));
}

/** The value of the annotation `target-group-attributes`. @throws Error */
export function targetGroupAttributes(text: string): JsonObject {
  return read(OF_TARGET_GROUP, pairs(text));
}

/** The value of an annotation `listener-attributes.<protocol>-<port>`. @throws Error */
export function listenerAttributes(text: string): JsonObject {
  return read({ 'tcp.idle_timeout.seconds': { path: 'tcpIdleTimeoutSeconds', parse: whole(60, 6000) } }, pairs(text));
}

function read(known: Readonly<Record<string, Attribute>>, given: Record<string, string>): JsonObject {
  const values: JsonObject = {};
  for (const [key, text] of Object.entries(given)) {
    if (WITHOUT_EFFECT[key] === text) continue;
    const attribute = Object.hasOwn(known, key) ? known[key] : undefined;
    if (attribute === undefined) throw new Error(`the attribute "${key}" is not known; known are ${Object.keys(known).join(', ')}`);
    try {
      setAt(values, attribute.path, attribute.parse(text));
    } catch (cause) {
      throw new Error(`attribute ${key}: ${(cause as Error).message}`, { cause });
    }
  }
  return values;
}
