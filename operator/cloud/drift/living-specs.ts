import type { CloudLoadBalancerSpec } from '../../../crds';
import type { LoadBalancerInput } from '../../../providers/provider';
import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { Updates } from '../../updates/update';
import type { StoredLoadBalancer } from '../stack/load-balancer-stacks';

/**
 * Specs of load balancers as they are asked for, and as their stacks' states have accepted them, with the generations that retire: what is refused, or waits, goes on by those.
 * @param stacks which may have some of these, or had
 * @returns undefined where a state can't be read
 */
export async function livingSpecs(
  objects: readonly Pick<StoredLoadBalancer, 'metadata' | 'spec'>[],
  stacks: readonly string[],
  { updates, logger }: { updates: Pick<Updates, 'state'>; logger: Logger },
): Promise<CloudLoadBalancerSpec[] | undefined> {
  const specs = objects.map(({ spec }) => spec);
  const living = new Set(objects.map(({ metadata }) => metadata.uid));
  for (const stack of new Set(stacks)) {
    try {
      const accepted = Object.values((await updates.state(stack))?.accepted ?? {}) as unknown as LoadBalancerInput[];
      specs.push(...accepted.filter(({ uid }) => living.has(uid)).flatMap(specsOf));
    } catch (thrown) {
      const error = toOperatorError(thrown).message;
      logger.warn({ stack, error }, 'what load balancers name can not be said: the state of the stack can not be read');
      return undefined;
    }
  }
  return specs;
}

function specsOf({ spec, retiring }: LoadBalancerInput): CloudLoadBalancerSpec[] {
  return retiring === undefined ? [spec] : [spec, ...specsOf(retiring.input)];
}
