import type { LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import type { DiscoveredResource } from '../../provider';
import { backendName, isOurPolicy, listenerName, policyName } from './classic-names';
import { classicBackendPolicy, classicListenerPolicy, classicPolicy, type ClassicPart } from '../resources/classic-policy';
import type { Api, Listed } from '../resources/description';

/** The policies of a Classic load balancer that are made here, and what has them. Costs a call where there are any. */
export async function partsOf({ id, raw }: Listed<LoadBalancerDescription>, { classic, options }: Api): Promise<DiscoveredResource[]> {
  const ours = (raw.Policies?.OtherPolicies ?? []).filter(isOurPolicy);
  if (ours.length === 0) return [];
  const policies = await classic.policies(id, options);
  const has = (names: string[] = []): boolean => names.some(isOurPolicy);
  const backends = (raw.BackendServerDescriptions ?? []).filter(({ PolicyNames }) => has(PolicyNames));
  const listeners = (raw.ListenerDescriptions ?? []).filter(({ PolicyNames }) => has(PolicyNames));
  const found = <Inputs extends { loadBalancerName: string }>(
    part: ClassicPart<Inputs>,
    of: string | number,
    name: string,
  ): DiscoveredResource[] => {
    const partID = `${id}:${of}`;
    const inputs = part.read(partID, raw, policies);
    return inputs === undefined ? [] : [{ type: part.token, name, id: partID, inputs, outputs: inputs }];
  };
  return [
    ...ours.flatMap((policy) => found(classicPolicy, policy, policyName(id, policy))),
    ...backends.flatMap(({ InstancePort: port = 0 }) => found(classicBackendPolicy, port, backendName(id, port))),
    ...listeners.flatMap(({ Listener }) =>
      found(classicListenerPolicy, Listener?.LoadBalancerPort ?? 0, listenerName(id, Listener?.LoadBalancerPort ?? 0)),
    ),
  ];
}
