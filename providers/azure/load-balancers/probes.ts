import type { AzureLoadBalancer, AzureProviderSettings, CloudLoadBalancerSpec, IPFamily, Listener } from '../../../crds';
import { ruleNameOf, type Named } from './names';

/** A probe as programs write it (azure-native:network:Probe). */
export interface Probe {
  name: string;
  protocol: 'Tcp' | 'Http' | 'Https';
  port: number;
  intervalInSeconds: number;
  /** Good or bad checks in a row that change what is held of a Node. */
  probeThreshold: number;
  requestPath?: string;
}

/** Upstream's name of the probe that all Services of trafficPolicy Cluster share. */
export const SHARED_PROBE = 'cluster-service-shared-health-probe';
const DEFAULTS = { intervalInSeconds: 5, probeThreshold: 2 };

type Spec = Pick<CloudLoadBalancerSpec, 'ipFamilies' | 'azure' | 'listeners' | 'trafficPolicy' | 'healthCheck'>;
export type Probed = Named & { spec: Spec };
type PortSettings = NonNullable<AzureLoadBalancer['ports']>[number];
type HealthProbe = AzureProviderSettings['healthProbe'];
type Check = 'Local' | 'Shared' | 'Own';

/** The probe of one listener; undefined = its Nodes are not checked. Pure. */
export function probeOf(input: Probed, listener: Listener, family: IPFamily, healthProbe: HealthProbe): Probe | undefined {
  switch (checkOf(input.spec, listener, healthProbe)) {
    case 'Local':
      return localProbe(input, family);
    case 'Shared':
      return healthProbe && sharedProbe(healthProbe);
    case 'Own':
      return ownProbe(input, listener, family);
    case undefined:
      return undefined;
  }
}

/**
 * How the Nodes of a listener are checked; undefined = they are not to be. In upstream's order (providers 2.2): a port's own switch; kube-proxy's answer
 * for trafficPolicy Local, but where the port names another port, or a PROXY protocol header stands in the way; one probe for all, where the CloudProvider
 * says so; the port's own. Pure.
 */
export function checkOf(spec: Spec, listener: Listener, healthProbe: HealthProbe): Check | undefined {
  const settings = settingsOf(spec, listener.port);
  if (settings?.probe === false) return undefined;
  if (tellsEndpoints(spec) && settings?.probePort === undefined) return 'Local';
  if (spec.trafficPolicy === 'Cluster' && healthProbe?.mode === 'Shared') return 'Shared';
  return listener.protocol === 'TCP' ? 'Own' : undefined;
}

function tellsEndpoints({ trafficPolicy, healthCheck, azure }: Spec): boolean {
  return trafficPolicy === 'Local' && healthCheck?.port !== undefined && azure?.privateLink?.proxyProtocol !== true;
}

/** What says of one port what is otherwise than of all. Pure. */
export function settingsOf({ azure }: Pick<Spec, 'azure'>, port: number): PortSettings | undefined {
  return azure?.ports?.find((one) => one.port === port);
}

/** A Node answers whether it has an endpoint of the Service: one probe for all its ports. */
function localProbe(input: Probed, family: IPFamily): Probe | undefined {
  const { port, path = '/healthz' } = input.spec.healthCheck ?? {};
  if (port === undefined) return undefined;
  return { name: ruleNameOf(input, { protocol: 'TCP', port }, family), protocol: 'Http', port, ...DEFAULTS, requestPath: path };
}

function sharedProbe({ port, path }: NonNullable<AzureProviderSettings['healthProbe']>): Probe {
  return { name: SHARED_PROBE, protocol: 'Http', port, ...DEFAULTS, requestPath: path };
}

/** The port's own settings go before appProtocol, and that before those of all ports. */
function ownProbe(input: Probed, listener: Listener, family: IPFamily): Probe | undefined {
  const own: Partial<PortSettings> = settingsOf(input.spec, listener.port) ?? {};
  const port = probedPort(input.spec, listener);
  if (port === undefined) return undefined;
  const ofAll = input.spec.azure?.probe ?? {};
  const protocol = own.protocol ?? protocolOf(listener.appProtocol) ?? ofAll.protocol ?? 'TCP';
  const asked = { name: ruleNameOf(input, listener, family), protocol: WORDS[protocol], port, ...timesOf(own, ofAll) };
  return protocol === 'TCP' ? asked : { ...asked, requestPath: own.path ?? ofAll.path ?? '/' };
}

type Times = Pick<PortSettings, 'intervalSeconds' | 'threshold'>;

function timesOf(own: Partial<Times>, ofAll: Partial<Times>): typeof DEFAULTS {
  return {
    intervalInSeconds: own.intervalSeconds ?? ofAll.intervalSeconds ?? DEFAULTS.intervalInSeconds,
    probeThreshold: own.threshold ?? ofAll.threshold ?? DEFAULTS.probeThreshold,
  };
}

const WORDS = { TCP: 'Tcp', HTTP: 'Http', HTTPS: 'Https' } as const;

/** Undefined where nothing is said; a protocol that no probe speaks is asked by TCP, as upstream has it. */
function protocolOf(appProtocol: string | undefined): keyof typeof WORDS | undefined {
  if (appProtocol === undefined) return undefined;
  const word = appProtocol.trim().toUpperCase();
  return word === 'HTTP' || word === 'HTTPS' ? word : 'TCP';
}

/**
 * Where a listener's own probe asks: the node port of the listener that its settings name, by its name or its number; else that port of the Nodes.
 * Undefined = there is none. Pure.
 */
export function probedPort(spec: Spec, listener: Listener): number | undefined {
  const named = settingsOf(spec, listener.port)?.probePort;
  if (named === undefined) return listener.nodePort;
  const found = listenerNamed(spec, named);
  return found === undefined ? numberIn(named) : found.nodePort;
}

/** True for a word that is neither a listener nor a port that Nodes may have. Pure. */
export function isNoPort(spec: Spec, named: string): boolean {
  return listenerNamed(spec, named) === undefined && numberIn(named) === undefined;
}

function listenerNamed({ listeners }: Pick<Spec, 'listeners'>, named: string): Listener | undefined {
  return listeners.find(({ name, port }) => name.toLowerCase() === named.toLowerCase() || String(port) === named);
}

function numberIn(named: string): number | undefined {
  const port = Number(named);
  return Number.isInteger(port) && port >= 1 && port <= 65535 ? port : undefined;
}
