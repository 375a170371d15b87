/**
 * The order that GitOps tools need in a machine-readable form: CRDs and namespaces, then rights and the operator, then what they watch over. They take
 * away in reverse, so that the operator outlives the objects whose finalizers it serves; and they leave what holds people's objects and
 * the stacks' state to people.
 */
export type Stage = 'kept' | 'operator' | 'after';

const ARGO = 'argocd.argoproj.io';

/** Of an object, for Argo CD, Flux and Helm. */
export function gitopsAnnotations(stage: Stage, kind: string): Record<string, string> {
  if (stage === 'after') return {};
  if (stage === 'operator') return { [`${ARGO}/sync-wave`]: '-1' };
  // A CRD is too large for the annotation of a client-side apply.
  const applied = kind === 'CustomResourceDefinition' ? ',ServerSideApply=true' : '';
  return {
    [`${ARGO}/sync-wave`]: '-2',
    [`${ARGO}/sync-options`]: `Prune=false,Delete=false${applied}`,
    'kustomize.toolkit.fluxcd.io/prune': 'disabled',
    'helm.sh/resource-policy': 'keep',
  };
}
