import type { AWSHealthCheck, AWSLoadBalancer, CloudLoadBalancerSpec, HealthCheck } from '../../../crds';
import type { LoadBalancerInput, NodeLabels } from '../../provider';
import { keepClassic, keptOf } from './adopted';
import { portsOf, probeOf } from './listeners';
import { classicGroupName, cloudName } from './names';
import {
  DEFAULT_DRAINING_TIMEOUT,
  DEFAULT_IDLE_TIMEOUT,
  DEFAULT_LOG_INTERVAL,
  type ClassicListenerInputs,
  type ClassicLoadBalancerInputs,
} from '../resources/classic-load-balancer';
import type { LoadBalancerScope } from '../scope';
import { renderSubnets, subnetIDsOf, type RenderedSubnets } from './subnet-mappings';
import { nodeAccessOf, renderNodeRules, type BesideOthers, type NodeAccess, type RenderedNodeRules } from './node-access';
import {
  renderBackend,
  renderGroups,
  renderSecurityGroup,
  type RenderedBackend,
  type RenderedGroups,
  type RenderedSecurityGroup,
} from './security-groups';

/** One Classic load balancer, as `render` gives it to the program. */
export interface RenderedClassic extends RenderedGroups {
  /** UID of the CloudLoadBalancer: key of its results in the stack's outputs. */
  uid: string;
  ownerUID: string;
  /** Its name in AWS and in the program; the others' names begin with it. */
  name: string;
  settings: Omit<ClassicLoadBalancerInputs, 'name' | 'subnets' | 'securityGroups' | 'tags'>;
  /** Ids, or the wish for those that are looked for when it is made. */
  subnets: string[] | RenderedSubnets;
  securityGroup?: RenderedSecurityGroup;
  /** Ids of groups beside these. */
  additionalGroupIDs: string[];
  /** Its part in the group that lets it in to the Nodes. */
  backend?: RenderedBackend;
  /** Its own rules in the groups of the Nodes, where it has none. */
  nodeRules?: RenderedNodeRules;
  /** The TLS policy of AWS's that its encrypted ports follow. */
  tlsPolicy?: string;
  /** Whether connections to Nodes begin with a PROXY protocol header. */
  proxyProtocol?: true;
  tags: Record<string, string>;
  vpcID: string;
  nodeLabels?: NodeLabels;
  retiring?: true;
}

/** Upstream's defaults (providers 2.1). */
const PACE = { interval: 10, timeout: 5, healthyThreshold: 2, unhealthyThreshold: 6 };

/** Pure. */
export function isClassic({ aws }: CloudLoadBalancerSpec): boolean {
  return aws?.type === 'Classic';
}

/** Pure. */
export function renderClassic(generation: BesideOthers, tags: Record<string, string>, scope: LoadBalancerScope): RenderedClassic {
  const kept = keptOf(generation.input);
  const rendered = renderOne(generation, tags, scope);
  return kept === undefined ? rendered : keepClassic(rendered, kept, generation.input.spec);
}

function renderOne({ input, retiring, waits }: BesideOthers, tags: Record<string, string>, scope: LoadBalancerScope): RenderedClassic {
  const { uid, ownerUID, spec, generation } = input;
  const { aws } = spec;
  const name = cloudName(ownerUID, generation);
  const securityGroup = renderGroup(name, input, scope);
  const settings = renderSettings(spec, scope);
  return {
    uid,
    ownerUID,
    name,
    settings,
    subnets: renderSubnets(name, input, scope) ?? (subnetIDsOf(spec, scope) ?? []).toSorted(),
    ...(securityGroup !== undefined && { securityGroup }),
    ...renderGroups(name, namedOf(spec, scope), scope),
    additionalGroupIDs: [...(aws?.securityGroups?.additionalGroupIDs ?? [])].sort(),
    ...renderAccess(name, { input, waits, settings, made: securityGroup !== undefined }, scope),
    ...policiesOf(aws),
    tags,
    vpcID: scope.vpcID ?? '',
    ...(aws?.targetNodeLabels !== undefined && { nodeLabels: aws.targetNodeLabels }),
    ...(retiring && { retiring }),
  };
}

function policiesOf(aws: AWSLoadBalancer | undefined): Pick<RenderedClassic, 'tlsPolicy' | 'proxyProtocol'> {
  const policy = aws?.tls?.policy;
  return { ...(policy !== undefined && { tlsPolicy: policy }), ...(aws?.classic?.proxyProtocol === true && { proxyProtocol: true }) };
}

function renderSettings(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): RenderedClassic['settings'] {
  const { aws, scheme } = spec;
  const {
    connectionIdleTimeoutSeconds: idleTimeout = DEFAULT_IDLE_TIMEOUT,
    connectionDraining = false,
    connectionDrainingTimeoutSeconds: connectionDrainingTimeout = DEFAULT_DRAINING_TIMEOUT,
  } = aws?.classic ?? {};
  return {
    internal: scheme === 'Internal',
    listeners: renderListeners(spec),
    healthCheck: renderClassicCheck(spec, scope),
    crossZoneLoadBalancing: aws?.crossZone ?? false,
    idleTimeout,
    connectionDraining,
    connectionDrainingTimeout,
    ...renderAccessLogs(aws?.accessLogs),
  };
}

function renderAccessLogs(logs: AWSLoadBalancer['accessLogs']): Pick<ClassicLoadBalancerInputs, 'accessLogs'> {
  if (logs?.enabled !== true) return {};
  const { bucket = '', prefix, emitIntervalMinutes: interval = DEFAULT_LOG_INTERVAL } = logs;
  return { accessLogs: { bucket, ...(prefix !== undefined && { bucketPrefix: prefix }), interval, enabled: true } };
}

function renderListeners(spec: CloudLoadBalancerSpec): ClassicListenerInputs[] {
  return spec.listeners
    .map(({ name, port, nodePort = 0 }) => ({ instancePort: nodePort, lbPort: port, ...protocolsOf({ name, port }, spec) }))
    .sort((a, b) => a.lbPort - b.lbPort);
}

type Protocols = Pick<ClassicListenerInputs, 'instanceProtocol' | 'lbProtocol' | 'sslCertificateId'>;

/** Upstream's choice: a certificate makes HTTPS of what is HTTP to the Nodes, and SSL of the rest; without one only HTTP is told from TCP. */
function protocolsOf(port: { name: string; port: number }, { aws }: CloudLoadBalancerSpec): Protocols {
  const backend = BACKENDS[aws?.backendProtocol ?? 'TCP'];
  const certificate = certificateFor(port, aws);
  if (certificate === undefined) {
    const plain = backend === 'http' ? 'http' : 'tcp';
    return { instanceProtocol: plain, lbProtocol: plain };
  }
  return { instanceProtocol: backend, lbProtocol: backend.startsWith('http') ? 'https' : 'ssl', sslCertificateId: certificate };
}

/** The certificate is for all ports, or for those that are named. */
function certificateFor({ name, port }: { name: string; port: number }, aws: AWSLoadBalancer | undefined): string | undefined {
  const { ports, certificateARNs = [] } = aws?.tls ?? {};
  return ports === undefined || ports.includes(name) || ports.includes(String(port)) ? certificateARNs[0] : undefined;
}

const BACKENDS = { TCP: 'tcp', SSL: 'ssl', HTTP: 'http', HTTPS: 'https' } as const;

/** One check for all ports: that of externalTrafficPolicy: Local, the CloudProvider's, or the first node port. Pure. */
export function renderClassicCheck(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): ClassicLoadBalancerInputs['healthCheck'] {
  const portable = spec.healthCheck ?? probeOf(spec.trafficPolicy === 'Local', scope);
  const own = spec.aws?.healthCheck ?? {};
  return {
    target: targetOf(own, portable, spec.listeners[0]?.nodePort ?? 0),
    ...paceOf(own, portable),
  };
}

/** A check must take less than the time between two; where nothing is said of that, it does. */
function paceOf(own: AWSHealthCheck, portable: Partial<HealthCheck>): typeof PACE {
  const interval = own.intervalSeconds ?? portable.intervalSeconds ?? PACE.interval;
  return {
    interval,
    timeout: own.timeoutSeconds ?? portable.timeoutSeconds ?? Math.min(PACE.timeout, interval - 1),
    healthyThreshold: own.healthyThreshold ?? portable.healthyThreshold ?? PACE.healthyThreshold,
    unhealthyThreshold: own.unhealthyThreshold ?? portable.unhealthyThreshold ?? PACE.unhealthyThreshold,
  };
}

/** What is asked, in AWS's form: `TCP:30080`, `HTTP:10256/healthz`. */
function targetOf(own: AWSHealthCheck, portable: Partial<HealthCheck>, first: number): string {
  const said = own.port ?? portable.port ?? 'traffic-port';
  const port = said === 'traffic-port' ? first : said;
  const protocol = own.protocol ?? portable.protocol ?? 'TCP';
  return protocol === 'TCP' ? `TCP:${port}` : `${protocol}:${port}${own.path ?? portable.path ?? '/'}`;
}

/** Under upstream's name. None where groups are named in its place, by the load balancer or for all. */
function renderGroup(name: string, input: LoadBalancerInput, scope: LoadBalancerScope): RenderedSecurityGroup | undefined {
  if (scope.classicSecurityGroupID !== undefined) return undefined;
  const group = renderSecurityGroup(name, portsOf(input.spec), input, { ...scope, networkSecurityGroups: 'Managed' });
  return group === undefined ? undefined : { ...group, groupName: classicGroupName(name) };
}

/** Groups in place of the one that is made: those of the load balancer, or the one for all. */
function namedOf({ aws }: CloudLoadBalancerSpec, { classicSecurityGroupID: all }: LoadBalancerScope): string[] {
  return aws?.securityGroups?.groups ?? (all === undefined ? [] : [all]);
}

interface Way extends Pick<BesideOthers, 'input' | 'waits'> {
  settings: RenderedClassic['settings'];
  /** It has a group that is made for it. */
  made: boolean;
}

/** How it is let in to the Nodes. */
function renderAccess(
  name: string,
  { input, waits, settings, made }: Way,
  scope: LoadBalancerScope,
): Pick<RenderedClassic, 'backend' | 'nodeRules'> {
  const usual = accessOf(input.spec, made, namedOf(input.spec, scope), scope);
  // One that was taken over keeps its groups, and upstream's rule for them.
  const access = usual === 'Backend' && keptOf(input) !== undefined ? 'Group' : usual;
  if (access === 'Backend') return { backend: renderBackend(name, portsOfNodes(settings), scope) };
  const nodeRules = renderNodeRules(name, { input, access, waits }, scope);
  return nodeRules === undefined ? {} : { nodeRules };
}

/** Without any group of ours or the author's, it gets the VPC's own one, and nobody knows what that is let in to. */
function accessOf(spec: CloudLoadBalancerSpec, made: boolean, named: readonly string[], scope: LoadBalancerScope): NodeAccess {
  if (!made && named.length === 0) return 'None';
  return nodeAccessOf(spec, made ? 'Made' : 'Named', scope);
}

/** The check's target ends in its port, and a path where it has one. */
function portsOfNodes({ listeners, healthCheck: { target } }: RenderedClassic['settings']): string[] {
  const checked = /^[A-Z]+:([0-9]+)/.exec(target)?.[1] ?? '';
  return [...listeners.map(({ instancePort }) => `tcp/${instancePort}`), `tcp/${checked}`];
}
