import type { KubeObject } from '../kube/object';

/** An object of one of our kinds, as it comes from the API server. */
export type Stored<Spec, Status> = KubeObject & { spec: Spec; status?: Status };
