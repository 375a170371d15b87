import { stringify } from 'yaml';
import { GROUP, KINDS } from '../../crds';
import { HEALTH_LUA } from './health-lua';

const HEADER = '# Generated from synth/gitops. Do not edit.\n';

/** Where Argo CD is told of the health of our kinds, in each form that it knows: path in examples/argocd → text. Pure. */
export function argocdFiles(): Map<string, string> {
  return new Map([
    ['argocd-cm.yaml', document(configMap())],
    ['helm-values.yaml', document({ configs: { cm: customizations() } })],
    ['argocd-operator.yaml', document(operatorResource())],
    [`${CONTRIBUTION}/health.lua`, HEALTH_LUA],
  ]);
}

/** In a checkout of Argo CD; `_` stands for every kind. */
export const CONTRIBUTION = `resource_customizations/${GROUP}/_`;

/** Keys of argocd-cm can have no wildcard: one for each kind. */
function customizations(): Record<string, string> {
  return Object.fromEntries(KINDS.map(({ kind }) => [`resource.customizations.health.${GROUP}_${kind}`, HEALTH_LUA]));
}

/** For `kubectl patch configmap argocd-cm --patch-file`: what else is in it stays. */
function configMap(): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'argocd-cm', namespace: 'argocd' }, data: customizations() };
}

/** The ArgoCD resource of the Argo CD operator. */
function operatorResource(): object {
  const resourceHealthChecks = KINDS.map(({ kind }) => ({ group: GROUP, kind, check: HEALTH_LUA }));
  return {
    apiVersion: 'argoproj.io/v1beta1',
    kind: 'ArgoCD',
    metadata: { name: 'argocd', namespace: 'argocd' },
    spec: { resourceHealthChecks },
  };
}

function document(value: object): string {
  return `${HEADER}${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
