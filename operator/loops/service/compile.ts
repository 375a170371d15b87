import type { CloudLoadBalancerSpecInput, ServiceLever } from '../../../crds';
import type { Service, ServicePort } from '../../kube/object';
import { parseAddress } from '../cidr';
import type { CompiledBlock } from '../clouds';
import { adoptOf } from './adopt';
import { leversOf } from './levers';
import type { Problem } from './problem';
import { annotationWarnings } from './own-annotations';
import { placementOf } from './placement';
import { refusalsOf } from './refusals';
import { healthCheckOf } from './rules';
import { sourceRangesOf } from './source-ranges';

/** The spec of a CloudLoadBalancer as the service loop wants it: the core, plus the typed block under its name. */
export type WantedSpec = Omit<CloudLoadBalancerSpecInput, 'aws' | 'azure' | 'local' | 'custom'> & Record<string, unknown>;

export interface Compiled {
  /** Absent when a problem makes it impossible. */
  spec?: WantedSpec;
  /** Those of ours that the CloudLoadBalancer gets as well. */
  annotations: Record<string, string>;
  problems: Problem[];
  warnings: Problem[];
}

/**
 * Compiles a Service into the spec of its CloudLoadBalancer. Pure; labels and annotations are never copied wholesale.
 * @param provider the CloudProvider that was chosen
 * @param block what the provider made of the annotations
 * @param allowed levers that the Service may set
 */
export function compile(service: Service, provider: string, block: CompiledBlock, allowed?: readonly ServiceLever[]): Compiled {
  const { fields: levers, annotations, problems: leverProblems } = leversOf(service, provider, allowed);
  const { ranges, problems: rangeProblems } = sourceRangesOf(service);
  const placement = placementOf(service);
  const address = addressOf(service);
  const adoption = adoptOf(service);
  const blockProblems = block.problems.map(({ severity, field, value, message }) => ({
    severity,
    problem: {
      reason: severity === 'Error' ? 'InvalidAnnotation' : 'UnknownAnnotation',
      message: `annotation ${field}: ${message.includes(value) ? message : `"${value}": ${message}`}`,
    },
  }));
  const problems = [
    ...rangeProblems,
    ...placement.problems,
    ...address.problems,
    ...adoption.problems,
    ...leverProblems,
    ...blockProblems.filter(({ severity }) => severity === 'Error').map(({ problem }) => problem),
  ];
  const warnings = [
    ...blockProblems.filter(({ severity }) => severity === 'Warning').map(({ problem }) => problem),
    ...annotationWarnings(service),
  ];
  if (problems.length > 0) return { annotations, problems, warnings };
  const spec: WantedSpec = {
    provider,
    ...(placement.placement === undefined ? {} : { placement: placement.placement }),
    listeners: (service.spec.ports ?? []).map(listenerOf),
    ...healthCheckFields(service),
    ...(ranges === undefined ? {} : { sourceRanges: ranges }),
    ...(address.addresses === undefined ? {} : { addresses: address.addresses }),
    ...((service.spec.ipFamilies ?? []).length === 0 ? {} : { ipFamilies: service.spec.ipFamilies }),
    trafficPolicy: service.spec.externalTrafficPolicy ?? 'Cluster',
    ...affinityFields(service),
    ...adoption.fields,
    ...levers,
    ...block.core,
    // An empty block applied over one that had fields is `null` to the API server (kubernetes-sigs/structured-merge-diff#305), which refuses it.
    ...(Object.keys(block.block).length === 0 ? {} : { [block.blockName]: block.block }),
  };
  const refusals = refusalsOf(service, spec);
  return refusals.length > 0 ? { annotations, problems: refusals, warnings } : { spec, annotations, problems, warnings };
}

function listenerOf(port: ServicePort): WantedSpec['listeners'][number] {
  const protocol = port.protocol ?? 'TCP';
  return {
    name: port.name === undefined || port.name === '' ? `${protocol.toLowerCase()}-${port.port}` : port.name,
    protocol,
    port: port.port,
    ...(port.nodePort === undefined || port.nodePort === 0 ? {} : { nodePort: port.nodePort }),
    ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
  };
}

function healthCheckFields(service: Service): Pick<WantedSpec, 'healthCheck'> {
  const check = healthCheckOf(service);
  return check === undefined ? {} : { healthCheck: { protocol: 'HTTP', ...check } };
}

function affinityFields(service: Service): Pick<WantedSpec, 'sessionAffinity'> {
  if (service.spec.sessionAffinity !== 'ClientIP') return {};
  const timeoutSeconds = service.spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  return { sessionAffinity: { type: 'ClientIP', ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) } };
}

function addressOf(service: Service): { addresses?: string[]; problems: Problem[] } {
  const address = service.spec.loadBalancerIP ?? '';
  if (address === '') return { problems: [] };
  if (parseAddress(address) !== undefined) return { addresses: [address], problems: [] };
  const message = `spec.loadBalancerIP: "${address}" is not an IP address; write one such as 203.0.113.10, or remove the field`;
  return { problems: [{ reason: 'InvalidAddress', message }] };
}
