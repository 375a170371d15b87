import { ANNOTATIONS, CLEANUP_FINALIZER, type FormerOwner } from '../../../crds';
import type { Adoption, LoadBalancerInput } from '../../../providers/provider';
import { OperatorError } from '../../base/errors';
import { keyOf } from '../../kube/object';
import type { ConnectedCloud } from '../providers/registry';
import type { StoredLoadBalancer } from './load-balancer-stacks';

/**
 * What a load balancer takes over that its stack is about to make, as its spec and the CloudProvider's policy say; undefined = nothing is in its way.
 * @throws OperatorError that says who has it, who must allow it, or that there is nothing
 */
export async function adoptionOf(
  stack: string,
  { metadata, spec }: StoredLoadBalancer,
  input: LoadBalancerInput,
  cloud: ConnectedCloud,
): Promise<Adoption | undefined> {
  if (spec.placement !== undefined) return undefined;
  const allowed = allowedOf(spec, cloud);
  const id = allowed && spec.adoptID;
  // What was here before needs no permission again. Where state, annotation or policy have gone since, only the cloud knows that it was taken over.
  const wasHere = metadata.finalizers?.includes(CLEANUP_FINALIZER) === true;
  const asked = wasHere ? undefined : spec.adopt;
  if (asked !== undefined && allowed === undefined) throw denied(asked, cloud.name);
  const found = await cloud.cloud.adoptable?.(stack, input, allowed ?? (wasHere ? 'Itself' : undefined), id);
  if (asked !== undefined && found === undefined) throw nothing(keyOf(metadata), cloud.name, id);
  return found;
}

function allowedOf({ adopt }: StoredLoadBalancer['spec'], { spec: { policy } }: ConnectedCloud): FormerOwner | undefined {
  return policy?.adoption?.find((owner) => owner === adopt);
}

function denied(adopt: FormerOwner, provider: string): OperatorError {
  const remedy = `Who may change CloudProvider ${provider} adds ${adopt} to its spec.policy.adoption`;
  const message = `spec.adopt: the policy of CloudProvider ${provider} does not allow to take over what is ${adopt}`;
  return new OperatorError('Invalid', message, { reason: 'AdoptionDenied', remedy });
}

function nothing(object: string, provider: string, id: string | undefined): OperatorError {
  const byID = id !== undefined;
  const remedy = byID
    ? `Correct the id, or look for it in the account and region of CloudProvider ${provider}`
    : `Correct the name or the addresses, or remove the annotation ${ANNOTATIONS.adopt} to have a new one made`;
  const message = byID
    ? `spec.adoptID: the cloud has no load balancer ${id} that could be taken over`
    : `spec.adopt: the cloud has nothing that could be taken over for ${object}`;
  return new OperatorError('Invalid', message, { reason: 'NothingToAdopt', remedy, field: byID ? 'spec.adoptID' : 'spec.adopt' });
}
