import { ANNOTATIONS, type FormerOwner } from '../../../crds';
import { OperatorError } from '../../base/errors';
import type { StoredLoadBalancer } from '../../explain/kinds';
import type { Service } from '../../kube/object';

/** The annotation with which a Service names its load balancer, by the kind of its cloud; the field of a spec is `<kind>.name`. */
const NAME_ANNOTATIONS: Record<string, string> = {
  local: 'local.cloud-operator.dev/name',
  aws: 'service.beta.kubernetes.io/aws-load-balancer-name',
};

export interface AdoptionWish {
  from: FormerOwner;
  /** Its id in the cloud; absent = it is found by its name. */
  id?: string | undefined;
  /** Its name in the cloud; absent = as the object says. */
  name?: string | undefined;
  /** Of the CloudProvider. */
  kind: string;
}

/** Fields of a merge patch; null takes one away. */
type Patch = Record<string, unknown>;

/** What asks for the take-over, and what puts the object back as it was. */
export interface AdoptionRequest {
  ask: Patch;
  back: Patch;
}

/** On the Service, from which the CloudLoadBalancer's spec is made anew. Pure. @throws OperatorError Invalid for a cloud whose load balancers have no name here */
export function requestOnService({ metadata: { annotations = {} } }: Service, { from, id, name, kind }: AdoptionWish): AdoptionRequest {
  const set = {
    [ANNOTATIONS.adopt]: from,
    ...(id !== undefined && { [ANNOTATIONS.adoptID]: id }),
    ...(name !== undefined && { [nameAnnotationOf(kind)]: name }),
  };
  const before = Object.fromEntries(Object.keys(set).map((key) => [key, annotations[key] ?? null]));
  return { ask: { metadata: { annotations: set } }, back: { metadata: { annotations: before } } };
}

/** On a CloudLoadBalancer that a person has made. Pure. @throws OperatorError as requestOnService */
export function requestOnLoadBalancer({ spec }: StoredLoadBalancer, { from, id, name, kind }: AdoptionWish): AdoptionRequest {
  const ask: Patch = { adopt: from, ...(id !== undefined && { adoptID: id }) };
  const back: Patch = { adopt: spec.adopt ?? null, ...(id !== undefined && { adoptID: spec.adoptID ?? null }) };
  if (name !== undefined) {
    nameAnnotationOf(kind); // known, or nothing has a name
    const block = (spec as Record<string, unknown>)[kind] as { name?: string } | undefined;
    ask[kind] = { name };
    back[kind] = block === undefined ? null : { name: block.name ?? null };
  }
  return { ask: { spec: ask }, back: { spec: back } };
}

function nameAnnotationOf(kind: string): string {
  const found = NAME_ANNOTATIONS[kind];
  if (found !== undefined) return found;
  throw new OperatorError('Invalid', `--name: load balancers of the cloud "${kind}" are not found by a name`, {
    remedy: 'name it by --id, or in the spec as the cloud wants it (docs/operate/adopt.md)',
  });
}
