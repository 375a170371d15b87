import type { CloudLoadBalancerSpec, CloudLoadBalancerSpecInput, IPFamily, ServiceLever } from '../../crds';
import type { OperatorError } from '../base/errors';
import type { JsonObject } from '../base/json';
import type { Labels } from '../base/label-selector';

/** What the loops know of the clouds; injected, implemented in operator/cloud/. All answers but that of `leftFor` come from memory, without a cloud call. */
export interface Clouds {
  /** Which CloudProvider takes a Service (design: The provider is chosen once, and recorded). */
  forService(service: ServiceClaim): ServiceChoice;
  /** Which CloudProvider owns a Node by providerID or selector; undefined when only a bulk listing can tell. */
  forNode(node: NodeClaim): string | undefined;
  /** Annotations → the typed block of CloudLoadBalancer.spec, with the name of the block. */
  compile(provider: string, annotations: Record<string, string>, service: ServiceFacts): CompiledBlock;
  /** Nothing is written to the Services and Nodes of this CloudProvider, which is only observed. */
  observes(provider: string): boolean;
  /** Levers that Services of this CloudProvider may set by annotation. */
  serviceLevers(provider: string): readonly ServiceLever[];
  /** Names of all CloudProviders that are known. */
  providers(): string[];
  /** Why a CloudProvider is not connected, so that nobody knows yet what its cloud has; undefined = it is, or it is not known at all. */
  whyNotConnected(provider: string): OperatorError | undefined;
  /** Whether the cloud of one that is connected has it. */
  supports(provider: string, capability: 'loadBalancers' | 'routes' | 'instances'): boolean;
  /**
   * What a controller before us has made in the cloud for a Service, and nobody has taken over; undefined = nothing. Asks the cloud.
   * @throws OperatorError when that can't be asked
   */
  leftFor(service: ServiceClaim & { uid: string }): Promise<LeftBehind | undefined>;
}

/** Something that stands in the cloud, and who made it. */
export interface LeftBehind {
  /** With the cloud's id. */
  what: string;
  /** The controller that would delete it. */
  by: string;
}

export interface ServiceClaim {
  loadBalancerClass?: string;
  annotations: Record<string, string>;
}

/** What of a Service, beside its annotations, decides how they read. */
export interface ServiceFacts {
  loadBalancerClass?: string;
  ports: { name?: string; port: number; protocol?: string }[];
  /** By which a cloud's selectors choose it; they are never copied. */
  labels?: Labels;
  namespace?: string;
  /** Labels of the namespace; absent while it is not known yet. */
  namespaceLabels?: Labels;
  /** Families of its addresses, and the address that its spec asks for. */
  ipFamilies?: IPFamily[];
  addresses?: string[];
  /** What it has been given so far. */
  current?: CloudLoadBalancerSpec;
  /** The others of its CloudProvider. Who asks is asked again when they change. */
  neighbors?: () => readonly Neighbor[];
}

/** Another load balancer of a CloudProvider. */
export interface Neighbor {
  uid: string;
  ownerUID: string;
  /** namespace/name. */
  key: string;
  /** RFC 3339. */
  createdAt: string;
  spec: CloudLoadBalancerSpec;
  /** Where it is served; empty = it is not, as far as is known. */
  addresses: readonly string[];
}

export interface NodeClaim {
  name: string;
  providerID?: string;
  labels: Record<string, string>;
}

/**
 * `Foreign`: some other controller's class, leave it alone. `Unavailable`: ours, but it can't be served now; say why on the Service.
 * `leaving`: the CloudProvider that claims it is being deleted, and goes on with what it has.
 */
export type ServiceChoice =
  | { kind: 'Chosen'; provider: string }
  | { kind: 'Foreign'; leaving?: string }
  /** `several`: more than one say that they are the one. */
  | { kind: 'Unavailable'; reason: string; message: string; several?: true; leaving?: string };

export interface CompiledBlock {
  blockName: string;
  block: JsonObject;
  /** Fields of the portable core that the annotations set. */
  core?: Pick<CloudLoadBalancerSpecInput, 'scheme'>;
  /** The annotations leave the Service to another controller: which, and by what. */
  leftTo?: string;
  problems: { severity: 'Error' | 'Warning'; field: string; value: string; message: string }[];
}
