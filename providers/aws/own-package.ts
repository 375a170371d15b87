/** Pulumi package of the types that AWS's official plugin doesn't have: it is ours with either plugin. */
export const OWN_PACKAGE = 'cloudoperator';
