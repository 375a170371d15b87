import { ANNOTATIONS, GROUP, type CloudProviderSpec } from '../../../crds';

/** A CloudProvider as far as the choice depends on it. */
export interface Candidate {
  name: string;
  spec: Pick<CloudProviderSpec, 'default' | 'loadBalancerClasses'>;
}

export type ServiceChoice =
  | { kind: 'Chosen'; provider: string }
  /** `leaving`: the one that claims it is being deleted, and goes on with what it has. */
  | { kind: 'Foreign'; leaving?: string }
  /** `several`: more than one say that they are the one. */
  | { kind: 'Unavailable'; reason: string; message: string; several?: true; leaving?: string };

/**
 * The CloudProvider that takes a new Service: by its class, else by its annotation, else the default (design: The provider is chosen once). Pure.
 * @param candidates without those that are being deleted
 * @param leaving those: they take nothing new
 */
export function chooseProvider(
  candidates: readonly Candidate[],
  service: { loadBalancerClass?: string; annotations: Record<string, string> },
  leaving: readonly Candidate[] = [],
): ServiceChoice {
  const { loadBalancerClass } = service;
  if (loadBalancerClass !== undefined) return byClass(candidates, loadBalancerClass, leaving);
  const named = service.annotations[ANNOTATIONS.provider];
  if (named === undefined) return byDefault(candidates, leaving);
  if (candidates.some(({ name }) => name === named)) return { kind: 'Chosen', provider: named };
  if (leaving.some(({ name }) => name === named))
    return deleting(named, `or name another one with the annotation ${ANNOTATIONS.provider}; known are ${namesOf(candidates)}`);
  const message = `annotation ${ANNOTATIONS.provider}: there is no CloudProvider "${named}"; known are ${namesOf(candidates)}`;
  return { kind: 'Unavailable', reason: 'ProviderNotFound', message };
}

/** What only one CloudProvider can be for Services, but several say they are; in words. Pure. */
export function rivalriesOf(candidates: readonly Candidate[], name: string): string[] {
  const own = candidates.find((candidate) => candidate.name === name);
  if (own === undefined) return [];
  const choices = [...(own.spec.default ? [byDefault(candidates)] : []), ...classesOf(own).map((one) => byClass(candidates, one))];
  return choices.flatMap((choice) => (choice.kind === 'Unavailable' ? [choice.message] : []));
}

function byClass(candidates: readonly Candidate[], loadBalancerClass: string, leaving: readonly Candidate[] = []): ServiceChoice {
  const claiming = candidates.filter((candidate) => classesOf(candidate).includes(loadBalancerClass));
  const [first, second] = claiming;
  if (first === undefined) {
    const last = leaving.find((candidate) => classesOf(candidate).includes(loadBalancerClass));
    if (!loadBalancerClass.startsWith(`${GROUP}/`)) return { kind: 'Foreign', ...(last !== undefined && { leaving: last.name }) };
    return last === undefined
      ? unclaimed(candidates, loadBalancerClass)
      : deleting(last.name, `or have another one claim its class "${loadBalancerClass}"`);
  }
  if (second === undefined) return { kind: 'Chosen', provider: first.name };
  const message = `more than one CloudProvider claims the class "${loadBalancerClass}" (${namesOf(claiming)}); take it out of spec.loadBalancerClasses of all but one`;
  return { kind: 'Unavailable', reason: 'ClassClaimedTwice', message, several: true };
}

/** A class of our own group is nobody else's. */
function unclaimed(candidates: readonly Candidate[], loadBalancerClass: string): ServiceChoice {
  const known = candidates.flatMap(classesOf).sort().join(', ') || 'none';
  const message = `no CloudProvider claims the class "${loadBalancerClass}"; claimed are ${known}. The class of a Service can't be changed: make it anew, or claim the class in spec.loadBalancerClasses`;
  return { kind: 'Unavailable', reason: 'ClassNotClaimed', message };
}

/** @param otherwise what may be done beside waiting */
function deleting(name: string, otherwise: string): ServiceChoice {
  const message = `CloudProvider "${name}" is being deleted and takes no new Service (kubectl describe cloudprovider ${name} says who still uses it); this one waits until it is made anew: make it again when it has gone, ${otherwise}`;
  return { kind: 'Unavailable', reason: 'ProviderDeleting', message, leaving: name };
}

function byDefault(candidates: readonly Candidate[], leaving: readonly Candidate[] = []): ServiceChoice {
  const defaults = candidates.filter(({ spec }) => spec.default);
  const [first, second] = defaults;
  if (first !== undefined && second === undefined) return { kind: 'Chosen', provider: first.name };
  const last = first === undefined ? leaving.find(({ spec }) => spec.default) : undefined;
  if (last !== undefined) return deleting(last.name, `or set spec.default: true on another one; there are ${namesOf(candidates)}`);
  if (candidates.length === 0)
    return { kind: 'Unavailable', reason: 'NoDefaultProvider', message: 'there is no CloudProvider; create one' };
  if (first === undefined) {
    const message = `no CloudProvider has spec.default: true; set it on one of ${namesOf(candidates)}, or name one with the annotation ${ANNOTATIONS.provider}`;
    return { kind: 'Unavailable', reason: 'NoDefaultProvider', message };
  }
  const message = `more than one CloudProvider has spec.default: true (${namesOf(defaults)}); keep it on one`;
  return { kind: 'Unavailable', reason: 'NoDefaultProvider', message, several: true };
}

function classesOf({ name, spec }: Candidate): string[] {
  return spec.loadBalancerClasses ?? [`${GROUP}/${name}`];
}

function namesOf(candidates: readonly Candidate[]): string {
  return (
    candidates
      .map(({ name }) => name)
      .sort()
      .join(', ') || 'none'
  );
}
