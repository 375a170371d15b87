import { SERVICE_READY_CONDITION } from '../../crds';
import { chooseProvider, type Candidate } from '../cloud/providers/service-choice';
import type { KubeCondition, Service } from '../kube/object';
import { FINALIZER_LOAD_BALANCER_CLEANUP } from '../kube/node';
import type { EndpointSlice, StoredLoadBalancer, StoredProvider } from './kinds';
import { finding, remedyOf, type Finding } from './finding';
import { leftByAnnotation } from './left-to';
import { nodesWithEndpoints } from './targets';

export interface ServiceFacts {
  service: Service & { spec: { selector?: Record<string, string> | null } };
  /** Of the same name; absent = none. */
  loadBalancer: StoredLoadBalancer | undefined;
  /** undefined = the one who asks may not look at them. */
  providers: StoredProvider[] | undefined;
  /** undefined = nobody has looked at them. */
  slices: EndpointSlice[] | undefined;
}

/** Why a Service has no address, as far as its CloudLoadBalancer does not say it. Pure. */
export function explainService(facts: ServiceFacts): Finding[] {
  const { service } = facts;
  const name = `${service.metadata.namespace}/${service.metadata.name}`;
  if (service.spec.type !== 'LoadBalancer') return [...otherType(name, service), ...deletion(service)];
  const chosen = choice(facts);
  if (chosen.foreign) return chosen.findings;
  return [...chosen.findings, ...deletion(service), ...own(name, facts), ...ownership(facts), ...endpoints(facts), publication(service)];
}

function otherType(name: string, { spec, metadata }: Service): Finding[] {
  const says = `Service ${name} is of type ${spec.type ?? 'ClusterIP'}: it asks for no load balancer`;
  if (metadata.finalizers?.includes(FINALIZER_LOAD_BALANCER_CLEANUP) !== true)
    return [finding('note', says, 'kubectl patch service with spec.type LoadBalancer, if it should have one')];
  return [finding('waiting', `${says}; the one that it had is being deleted`, 'wait; kubectl cloud tree shows what is left')];
}

function deletion({ metadata }: Service): Finding[] {
  if (metadata.deletionTimestamp === undefined) return [];
  const held = (metadata.finalizers ?? []).join(', ');
  return [
    finding(
      'waiting',
      `it is being deleted since ${metadata.deletionTimestamp}; it waits for ${held === '' ? 'nothing' : held}`,
      'the finalizer goes once the cloud has nothing of it any more',
    ),
  ];
}

interface Choice {
  findings: Finding[];
  /** Others look after it: there is nothing else to say. */
  foreign: boolean;
}

/** Who takes it, by the rule that the operator goes by. */
function choice({ service, loadBalancer, providers }: ServiceFacts): Choice {
  const recorded = loadBalancer?.spec.provider;
  const carried = recorded === undefined ? undefined : finding('good', `CloudProvider ${recorded} carries it`);
  if (providers === undefined) return { findings: carried === undefined ? [] : [carried], foreign: false };
  const { loadBalancerClass } = service.spec;
  const asked = { annotations: service.metadata.annotations ?? {}, ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) };
  const chosen = chooseProvider(candidatesIn(providers, false), asked, candidatesIn(providers, true));
  if (chosen.kind === 'Foreign') {
    const says = `its loadBalancerClass ${loadBalancerClass} is another controller's: no CloudProvider claims it, and cloud-operator leaves it alone`;
    return { findings: [finding('note', says, 'spec.loadBalancerClasses of a CloudProvider claims a class')], foreign: true };
  }
  if (carried !== undefined) return { findings: [carried], foreign: false };
  if (chosen.kind === 'Chosen') return takenBy(chosen.provider, service, providers);
  return { findings: [finding('bad', chosen.message, remedyOf(chosen.reason, 'service'))], foreign: false };
}

/** @param leaving those that are being deleted, or the others */
function candidatesIn(providers: readonly StoredProvider[], leaving: boolean): Candidate[] {
  const some = providers.filter(({ metadata }) => (metadata.deletionTimestamp !== undefined) === leaving);
  return some.map(({ metadata, spec }) => ({ name: metadata.name, spec }));
}

/** The service loop has said something of a Service that was ours before it was left to another controller. */
function takenBy(name: string, service: Service, providers: readonly StoredProvider[]): Choice {
  const provider = providers.find(({ metadata }) => metadata.name === name);
  const annotation = provider === undefined || readyOf(service) !== undefined ? undefined : leftByAnnotation(service, provider.spec);
  if (annotation === undefined) return { findings: [finding('good', `CloudProvider ${name} takes it`)], foreign: false };
  const says = `it is left to the AWS Load Balancer Controller by its annotation ${annotation}; cloud-operator leaves it alone`;
  return {
    findings: [finding('note', says, 'take the annotation off if cloud-operator should serve it (docs/clouds/aws.md)')],
    foreign: true,
  };
}

function readyOf({ status }: Service): KubeCondition | undefined {
  return status?.conditions?.find(({ type }) => type === SERVICE_READY_CONDITION);
}

/** What the service loop itself says. */
function own(name: string, { service, loadBalancer }: ServiceFacts): Finding[] {
  const condition = readyOf(service);
  if (condition === undefined) {
    const next = 'see whether the operator runs, and whether --controllers switches service-lb-controller off';
    return [finding('waiting', `the operator has not said anything of Service ${name} yet`, next)];
  }
  if (loadBalancer !== undefined || condition.status === 'True') return [];
  return [
    finding(waits(condition) ? 'waiting' : 'bad', `${condition.reason}: ${condition.message}`, remedyOf(condition.reason ?? '', 'service')),
  ];
}

function waits({ reason }: KubeCondition): boolean {
  return reason === 'Updating' || reason === 'Ready';
}

function ownership({ service, loadBalancer }: ServiceFacts): Finding[] {
  if (loadBalancer === undefined) return [finding('waiting', 'it has no CloudLoadBalancer')];
  if (loadBalancer.metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) === true) return [];
  return [finding('bad', 'the CloudLoadBalancer of its name was not made for it', remedyOf('NameTaken', 'service'))];
}

/** Whether anything stands behind it. A Service without a selector gets its endpoints from whoever likes, or none. */
function endpoints({ service, slices }: ServiceFacts): Finding[] {
  if (slices === undefined) return [];
  const ready = slices.flatMap(({ endpoints: all }) => all ?? []).filter(({ conditions }) => conditions?.ready !== false).length;
  const local = service.spec.externalTrafficPolicy === 'Local';
  if (ready > 0) {
    const nodes = nodesWithEndpoints(slices).size;
    return [
      finding(
        'good',
        `${ready} endpoints are ready${local ? `, on ${nodes} Nodes: only these get traffic (externalTrafficPolicy Local)` : ''}`,
      ),
    ];
  }
  if (Object.keys(service.spec.selector ?? {}).length === 0 && slices.length === 0) return [];
  const next = `kubectl get pods -n ${service.metadata.namespace} with the Service's selector: is one of them Ready?`;
  return [finding('bad', 'no Pod behind it is ready: whoever connects gets no answer', next)];
}

function publication({ status }: Service): Finding {
  const [first] = status?.loadBalancer?.ingress ?? [];
  return first === undefined
    ? finding('waiting', 'status.loadBalancer.ingress is empty: nobody is told of an address yet')
    : finding('good', `status.loadBalancer.ingress has ${first.hostname ?? first.ip}`);
}
