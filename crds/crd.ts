import { GROUP, VERSION } from './group';
import type { KindDefinition, PrinterColumn } from './kind';
import { objectSchema, type OpenAPISchema } from './openapi';

/** Raised by one in every release that changes a schema: the operator never replaces a CRD by one with a lower revision. */
export const CRD_REVISION = 3;
/** Annotation that carries the revision; a CRD without it is not ours to replace. */
export const CRD_REVISION_ANNOTATION = `${GROUP}/version`;

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: {
    group: string;
    names: { kind: string; listKind: string; plural: string; singular: string; shortNames: string[]; categories: string[] };
    scope: 'Namespaced' | 'Cluster';
    conversion: { strategy: 'None' };
    versions: CustomResourceDefinitionVersion[];
  };
}

export interface CustomResourceDefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  subresources: { status: Record<string, never> };
  additionalPrinterColumns: PrinterColumn[];
  schema: { openAPIV3Schema: OpenAPISchema };
}

/** The CRD of a kind, complete: applying it leaves nothing for the API server to fill in. */
export function toCRD(kind: KindDefinition): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${GROUP}`,
      labels: { 'app.kubernetes.io/name': 'cloud-operator', 'app.kubernetes.io/component': 'crds' },
      annotations: { [CRD_REVISION_ANNOTATION]: String(CRD_REVISION) },
    },
    spec: {
      group: GROUP,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: ['cloud'],
      },
      scope: kind.scope,
      conversion: { strategy: 'None' },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns,
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}
