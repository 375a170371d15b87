import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { KINDS } from '../../crds';
import { toCRD } from '../../crds/crd';

/** The CRDs, apart from everything else: they outlive the operator. */
export class CrdsChart extends Chart {
  constructor(scope: Construct) {
    super(scope, 'crds', { disableResourceNameHashes: true });
    for (const kind of KINDS) new ApiObject(this, kind.plural, { ...toCRD(kind) });
  }
}
