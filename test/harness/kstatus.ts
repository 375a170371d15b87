interface Observed {
  metadata: { generation?: number; deletionTimestamp?: string };
  status?: { observedGeneration?: number | undefined; conditions?: { type: string; status: string }[] | undefined } | undefined;
}

/** kstatus's verdict on a custom resource, written from its published rules and independent of the code under test. */
export function kstatusOf(object: Observed): 'Current' | 'InProgress' | 'Failed' | 'Terminating' {
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const observed = object.status?.observedGeneration;
  if (observed !== undefined && observed !== object.metadata.generation) return 'InProgress';
  return verdictOf(object.status?.conditions ?? []);
}

function verdictOf(conditions: { type: string; status: string }[]): 'Current' | 'InProgress' | 'Failed' {
  const abnormal = conditions.find(({ type, status }) => (type === 'Reconciling' || type === 'Stalled') && status === 'True');
  if (abnormal !== undefined) return abnormal.type === 'Stalled' ? 'Failed' : 'InProgress';
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
}
