interface Observed {
  metadata: { generation?: number; deletionTimestamp?: string };
  status?: { observedGeneration?: number | undefined; conditions?: { type: string; status: string }[] | undefined } | undefined;
}

/** kstatus's verdict on a custom resource, written from its published rules and independent of the code under test. */
export function kstatusOf(object: Observed): 'Current' | 'InProgress' | 'Failed' | 'Terminating' {
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const observed = object.status?.observedGeneration;
  if (observed !== undefined && observed !== object.metadata.generation) return 'InProgress';
  const conditions = object.status?.conditions ?? [];
  for (const { type, status } of conditions) {
    if (type === 'Reconciling' && status === 'True') return 'InProgress';
    if (type === 'Stalled' && status === 'True') return 'Failed';
  }
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
}
