/** The API group of every kind of this project. */
export const GROUP = 'cloud-operator.dev';
/** The only version served. */
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Annotations that people set, on our kinds and (where policy allows it) on Services. */
export const ANNOTATIONS = {
  /** Names the CloudProvider that a Service or Node belongs to. */
  provider: `${GROUP}/provider`,
  /** Names the cloud load balancer that carries a Service, as `name` or `namespace/name`. */
  placement: `${GROUP}/placement`,
  /** On a Service: `Released`, `Upstream` or `Unowned`, whose load balancer it takes over (CloudLoadBalancer.spec.adopt). */
  adopt: `${GROUP}/adopt`,
  /** On a Service: which one, by its id in the cloud (CloudLoadBalancer.spec.adoptID). */
  adoptID: `${GROUP}/adopt-id`,
  /** `Updates`: only targets are kept. `All`: not even those. Any other value counts as `All`, and the condition says so. */
  pause: `${GROUP}/pause`,
  /** Any token; a new one asks for a pass now and is echoed in `status.lastHandledReconcile`. */
  reconcile: `${GROUP}/reconcile`,
  /** On a CloudStack: UIDs of members that vanished without a deletion, to be taken out of the cloud; or the stack's incarnation for all of it. */
  release: `${GROUP}/release`,
  /** On a CloudProvider: any token; a new one asks for a sweep now and is echoed in `status.sweep.handled`. */
  sweep: `${GROUP}/sweep`,
  /** On a Service, and from there on its CloudLoadBalancer: `Manual`, as `spec.updatePolicy.approval` says it. */
  approval: `${GROUP}/approval`,
  /** On a Service: CloudLoadBalancer.spec.driftInterval. */
  driftInterval: `${GROUP}/drift-interval`,
  /** On a Service: CloudLoadBalancer.spec.maintenanceWindows, each as `<schedule> <duration> <time zone>`, separated by `;`. */
  maintenanceWindows: `${GROUP}/maintenance-windows`,
  /** On a Service: `Observe`, for CloudLoadBalancer.spec.managementPolicy. */
  managementPolicy: `${GROUP}/management-policy`,
  /** On a Service: `Orphan` or `Delete`, for CloudLoadBalancer.spec.deletionPolicy. */
  deletionPolicy: `${GROUP}/deletion-policy`,
  /** Hash of the plan that a person approves, on the object whose change waits. */
  approve: `${GROUP}/approve`,
} as const;

/** On a CloudLoadBalancer: UID of the Service that it was made for; it outlives the owner reference when the Service is deleted with `--cascade=orphan`. */
export const SERVICE_UID_ANNOTATION = `${GROUP}/service-uid`;

/** The ValidatingAdmissionPolicy, and its binding, that lets only those approve plans who have the verb `approve`. */
export const APPROVAL_POLICY = `approval.${GROUP}`;

/** Finalizer on our own kinds. */
export const CLEANUP_FINALIZER = `${GROUP}/cleanup`;

/** Field managers of our server-side applies. */
export const FIELD_MANAGERS = { service: 'cloud-operator-service', route: 'cloud-operator-route', cloud: 'cloud-operator-cloud' } as const;

/** Condition type under which a load balancer's Ready is mirrored to `Service.status.conditions`. */
export const SERVICE_READY_CONDITION = `${GROUP}/Ready`;

/** Condition type of a Service that is True while only a person can help: its author, or who runs the clouds. */
export const SERVICE_STALLED_CONDITION = `${GROUP}/Stalled`;
