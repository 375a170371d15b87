import { FIELD_MANAGERS } from '../../../crds';
import type { Clock } from '../../base/clock';
import type { Logger } from '../../base/log';
import type { KubeApi, Store } from '../../kube/api';
import { keyOf, type Service, SERVICES } from '../../kube/object';
import { mayBeServedElsewhere } from './observed';
import { statusPatch } from './patches';
import type { Problem } from './problem';
import { isLoadBalancer } from './rules';

/**
 * Why nothing happens to Services yet: only what doesn't pass by itself. Pure.
 * @param blocked what waits for kinds of ours, in words
 * @param missingRules rights that the operator lacks, in words
 */
export function waitingProblem(blocked: readonly string[], missingRules: readonly string[]): Problem | undefined {
  if (missingRules.length > 0)
    return { reason: 'PermissionMissing', message: `the operator lacks these rights (RBAC rules): ${missingRules.join('; ')}` };
  return blocked.length === 0 ? undefined : { reason: 'KindsMissing', message: blocked.join('; ') };
}

export interface WaitingDependencies {
  api: Pick<KubeApi, 'patch'>;
  services: Store<Service>;
  clock: Clock;
  logger: Logger;
}

/**
 * Makes the problem the condition of every Service that waits for us, before the loop can begin. Which classes are ours is not known yet, nor whether
 * their CloudProvider is only observed: one that another controller may serve is left alone.
 */
export async function tellWaiting({ api, services, clock, logger }: WaitingDependencies, problem: Problem): Promise<void> {
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const waiting = services.list().filter(mayWait);
  for (const service of waiting) {
    const patch = statusPatch(service, { ready: { status: 'False', ...problem } }, now);
    if (patch === undefined) continue;
    const options = { subresource: 'status', fieldManager: FIELD_MANAGERS.service } as const;
    await api.patch<Service>(SERVICES, keyOf(service.metadata), 'strategic', patch, options).catch((thrown: unknown) => {
      logger.debug({ service: keyOf(service.metadata), err: thrown }, 'a Service could not be told why it waits');
    });
  }
}

function mayWait(service: Service): boolean {
  return isLoadBalancer(service) && service.spec.loadBalancerClass === undefined && !mayBeServedElsewhere(service);
}
