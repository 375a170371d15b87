import type { Json } from '../../../operator/base/json';
import { type Annotation, ON_OR_OFF, seconds, TRUE_OR_FALSE } from './annotation';
import { targetGroupAttributes } from './annotation-attributes';
import * as read from './annotation-values';

const THRESHOLD = { expects: 'a whole number from 2 to 10', parse: read.whole(2, 10) };

/** Annotations that speak of listeners and target groups. */
export const OF_TRAFFIC: readonly Annotation[] = [
  {
    name: 'target-group-attributes',
    field: 'targetGroup',
    default: 'none',
    mutable: true,
    only: 'Network',
    expects: 'attributes of target groups as key=value, separated by commas',
    parse: targetGroupAttributes,
  },
  {
    name: 'proxy-protocol',
    field: 'classic.proxyProtocol',
    default: 'none',
    mutable: true,
    expects: '*: a PROXY protocol header on all ports',
    parse: read.word({ '*': true }),
  },
  {
    name: 'proxy-protocol-per-target-group',
    field: 'listeners[].proxyProtocolV2',
    default: 'none',
    mutable: true,
    only: 'Network',
    expects: 'numbers of ports of the Service, separated by commas: those that begin with a PROXY protocol header',
    parse: (text) =>
      read
        .list(
          read.whole(1, 65535),
          100,
        )(text)
        .map((port) => ({ port, proxyProtocolV2: true })),
  },
  {
    name: 'ssl-cert',
    field: 'tls.certificateARNs',
    default: 'no TLS',
    mutable: true,
    expects:
      'ARNs of certificates in ACM or IAM, separated by commas: the first is the default, the others are for clients that ask for their names (Network)',
    parse: read.list(read.matching(/^arn:aws[a-z0-9-]*:(acm|iam):\S+$/, 'the ARN of a certificate'), 25),
  },
  {
    name: 'ssl-ports',
    field: 'tls.ports',
    default: '*',
    mutable: true,
    expects: 'names or numbers of ports of the Service, separated by commas, or * for all of TCP',
    parse: read.list(read.matching(/^[a-z0-9-]{1,63}$|^\*$/, 'a name or number of a port'), 100),
  },
  {
    name: 'ssl-negotiation-policy',
    field: 'tls.policy',
    default: 'ELBSecurityPolicy-TLS13-1-2-2021-06; with Classic AWS’s own',
    mutable: true,
    expects: 'the name of a security policy such as ELBSecurityPolicy-TLS13-1-2-2021-06',
    parse: read.matching(/^[A-Za-z0-9-]{1,128}$/, 'a name of a policy'),
  },
  {
    name: 'alpn-policy',
    field: 'tls.alpnPolicy',
    default: 'None',
    mutable: true,
    only: 'Network',
    expects: 'HTTP1Only, HTTP2Only, HTTP2Optional, HTTP2Preferred or None',
    parse: read.word(same(['HTTP1Only', 'HTTP2Only', 'HTTP2Optional', 'HTTP2Preferred', 'None'])),
  },
  {
    name: 'backend-protocol',
    field: 'backendProtocol',
    default: 'tcp',
    mutable: 'TargetGroups',
    expects: 'tcp, ssl, http or https',
    parse: read.wordOfAnyCase({ tcp: 'TCP', ssl: 'SSL', http: 'HTTP', https: 'HTTPS' }),
  },
  {
    name: 'enable-tcp-udp-listener',
    field: 'tcpUDPListeners',
    default: 'false',
    mutable: 'TargetGroups',
    only: 'Network',
    ...TRUE_OR_FALSE,
  },
  {
    name: 'target-node-labels',
    field: 'targetNodeLabels',
    default: 'all Nodes',
    mutable: true,
    expects: 'labels of Nodes as key=value, separated by commas',
    parse: read.labels,
  },
];

/** Annotations that speak of the health check. */
export const OF_HEALTH_CHECK: readonly Annotation[] = [
  {
    name: 'healthcheck-protocol',
    field: 'healthCheck.protocol',
    default: 'tcp; http for externalTrafficPolicy: Local',
    mutable: 'TargetGroups',
    only: 'Network',
    expects: 'tcp, http or https',
    parse: read.wordOfAnyCase({ tcp: 'TCP', http: 'HTTP', https: 'HTTPS' }),
  },
  {
    name: 'healthcheck-port',
    field: 'healthCheck.port',
    default: 'traffic-port; spec.healthCheckNodePort for externalTrafficPolicy: Local',
    mutable: true,
    expects: 'traffic-port or, with Network, a port from 1 to 65535',
    parse: (text) => (text === 'traffic-port' ? text : String(read.whole(1, 65535)(text))),
  },
  {
    name: 'healthcheck-path',
    field: 'healthCheck.path',
    default: '/; /healthz for externalTrafficPolicy: Local',
    mutable: true,
    only: 'Network',
    expects: 'a path that begins with a slash',
    parse: read.matching(/^\/[\x21-\x7e]{0,1023}$/, 'a path'),
  },
  {
    name: 'healthcheck-success-codes',
    field: 'healthCheck.successCodes',
    default: '200-399',
    mutable: true,
    only: 'Network',
    expects: 'codes and ranges of codes, such as 200-399 or 200,404',
    parse: read.matching(/^(?!.{65})[2-5]\d\d(-[2-5]\d\d)?(,[2-5]\d\d(-[2-5]\d\d)?)*$/, 'a list of codes'),
  },
  {
    name: 'healthcheck-interval',
    field: 'healthCheck.intervalSeconds',
    default: '30, with Classic or externalTrafficPolicy: Local 10',
    mutable: true,
    ...seconds(5, 300),
  },
  {
    name: 'healthcheck-timeout',
    field: 'healthCheck.timeoutSeconds',
    default: '10, with Classic 5',
    mutable: true,
    ...seconds(2, 120),
  },
  {
    name: 'healthcheck-healthy-threshold',
    field: 'healthCheck.healthyThreshold',
    default: '3, with Classic or externalTrafficPolicy: Local 2',
    mutable: true,
    ...THRESHOLD,
  },
  {
    name: 'healthcheck-unhealthy-threshold',
    field: 'healthCheck.unhealthyThreshold',
    default: '3, with Classic 6, with externalTrafficPolicy: Local 2',
    mutable: true,
    ...THRESHOLD,
  },
];

/** Annotations that speak of security groups. */
export const OF_SECURITY_GROUPS: readonly Annotation[] = [
  {
    name: 'security-groups',
    field: 'securityGroups.groups',
    default: 'one that is made for the load balancer',
    mutable: true,
    expects: 'at most 5 ids or names of security groups, separated by commas',
    parse: read.list(String, 5),
  },
  {
    name: 'extra-security-groups',
    field: 'securityGroups.additionalGroupIDs',
    default: 'none',
    mutable: true,
    only: 'Classic',
    expects: 'at most 5 ids of security groups, separated by commas',
    parse: read.list(read.matching(/^sg-[0-9a-f]+$/, 'an id of a security group'), 5),
  },
  {
    name: 'manage-backend-security-group-rules',
    field: 'securityGroups.backendRules',
    default: 'true',
    mutable: true,
    only: 'Network',
    expects: 'true or false',
    parse: (text) => (read.bool(text) ? 'Managed' : 'None'),
  },
  {
    name: 'security-group-prefix-lists',
    field: 'securityGroups.prefixListIDs',
    default: 'none',
    mutable: true,
    only: 'Network',
    expects: 'ids of prefix lists such as pl-0a1b2c3d, separated by commas',
    parse: read.list(read.matching(/^pl-[0-9a-f]+$/, 'an id of a prefix list'), 50),
  },
  {
    name: 'inbound-sg-rules-on-private-link-traffic',
    field: 'securityGroups.privateLinkRules',
    default: 'on',
    mutable: true,
    only: 'Network',
    expects: 'on or off',
    parse: (text) => (read.onOff(text) ? 'Enforced' : 'Ignored'),
  },
  {
    name: 'enable-icmp-for-path-mtu-discovery',
    field: 'securityGroups.pathMTUDiscovery',
    default: 'on',
    mutable: true,
    only: 'Network',
    ...ON_OR_OFF,
  },
  {
    name: 'disable-nlb-sg',
    field: 'securityGroups.mode',
    default: 'what the CloudProvider says',
    mutable: false,
    only: 'Network',
    expects: 'true: a load balancer without any security group, for ever; or false',
    parse: (text) => (read.bool(text) ? 'None' : 'Managed'),
  },
];

function same<T extends string>(words: readonly T[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(words.map((one) => [one, one]));
}
