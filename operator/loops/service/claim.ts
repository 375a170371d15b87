import { ANNOTATIONS } from '../../../crds';
import { toOperatorError } from '../../base/errors';
import type { Service } from '../../kube/object';
import type { Clouds, ServiceChoice } from '../clouds';
import type { StoredCloudLoadBalancer } from '../kinds';
import { compile, type WantedSpec } from './compile';
import type { Problem } from './problem';

/** What is to become of a Service of type LoadBalancer. */
export type Claim =
  /** Some other controller's class: leave it alone. */
  | { kind: 'Foreign' }
  /** Ours, but it can't be served as it is. `retry`: the answer may change without an event. */
  | { kind: 'Held'; problem: Problem; retry: boolean }
  | { kind: 'Wanted'; spec: WantedSpec; warnings: Problem[] };

/**
 * Chooses the CloudProvider and compiles. The provider is chosen once: that of an existing CloudLoadBalancer stays, whatever the default
 * is now; another one asked for by class or annotation is reported and not followed (design: Stacks).
 */
export function claimOf(service: Service, existing: StoredCloudLoadBalancer | undefined, clouds: Clouds): Claim {
  const { loadBalancerClass } = service.spec;
  const annotations = service.metadata.annotations ?? {};
  const choice = clouds.forService({ annotations, ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) });
  if (choice.kind === 'Foreign') return choice;
  if (existing !== undefined) {
    const { provider } = existing.spec;
    return movingProblem(service, provider, choice) ?? compileFor(service, provider, clouds);
  }
  if (choice.kind === 'Unavailable') return unavailable(choice);
  if (!clouds.supports(choice.provider, 'loadBalancers')) return { kind: 'Held', problem: unsupported(choice.provider), retry: true };
  return compileFor(service, choice.provider, clouds);
}

/** What is to be said where class or annotation ask for another provider than the one that was chosen. */
function movingProblem(service: Service, current: string, choice: Exclude<ServiceChoice, { kind: 'Foreign' }>): Claim | undefined {
  const named = service.metadata.annotations?.[ANNOTATIONS.provider];
  const explicit = service.spec.loadBalancerClass !== undefined || named !== undefined;
  if (!explicit) return undefined;
  if (choice.kind === 'Unavailable') return named === current ? undefined : unavailable(choice);
  if (choice.provider === current) return undefined;
  return { kind: 'Held', problem: chosenOnce(service, current, choice.provider), retry: false };
}

function compileFor(service: Service, provider: string, clouds: Clouds): Claim {
  try {
    const block = clouds.compile(provider, service.metadata.annotations ?? {});
    const { spec, problems, warnings } = compile(service, provider, block);
    if (spec !== undefined) return { kind: 'Wanted', spec, warnings };
    const message = problems.map((problem) => problem.message).join('; ');
    return { kind: 'Held', problem: { reason: problems[0]?.reason ?? 'Invalid', message }, retry: false };
  } catch (thrown) {
    const { message, remedy } = toOperatorError(thrown);
    const problem = { reason: 'ProviderUnavailable', message: remedy === undefined ? message : `${message}. ${remedy}` };
    return { kind: 'Held', problem, retry: true };
  }
}

function unavailable({ reason, message }: { reason: string; message: string }): Claim {
  return { kind: 'Held', problem: { reason, message }, retry: true };
}

function chosenOnce(service: Service, current: string, asked: string): Problem {
  const where =
    service.spec.loadBalancerClass === undefined
      ? `annotation ${ANNOTATIONS.provider}: "${service.metadata.annotations?.[ANNOTATIONS.provider]}"`
      : `spec.loadBalancerClass: "${service.spec.loadBalancerClass}"`;
  const message = `${where} asks for CloudProvider "${asked}", but the load balancer was made by "${current}"; set it back, or delete the Service and create it anew to move`;
  return { reason: 'ProviderChosenOnce', message };
}

function unsupported(provider: string): Problem {
  const message = `the cloud provider does not support external load balancers (CloudProvider "${provider}"; its conditions say whether it is connected); choose another one with the annotation ${ANNOTATIONS.provider}`;
  return { reason: 'LoadBalancersUnsupported', message };
}
