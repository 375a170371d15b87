/** Upstream's in-tree plugins: what stands in a PersistentVolume for a disk that is still being made. */
export const NOT_MADE_YET = 'placeholder-for-provisioning';
